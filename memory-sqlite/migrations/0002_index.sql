-- Search indexes: ids, terms and vectors, never text. All of it can be thrown away and built again.

-- An owner within one index, such as `text/english-1`. Its number opens every key below. An erasure gives the owner
-- another number: what carries the old one is out of reach at once, and is deleted in steps.
CREATE TABLE index_owner (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    below INTEGER NOT NULL, -- entries of an older epoch are dropped
    next INTEGER NOT NULL, -- the next number for an item, a block or a stamp
    changed INTEGER NOT NULL, -- counts the changes of what it has
    buried INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX index_owner_in_use ON index_owner (scope, name) WHERE buried = 0;
CREATE INDEX index_owner_buried ON index_owner (scope, name) WHERE buried = 1;

-- What is indexed, with the fixed fields that filters see.
CREATE TABLE index_item (
    owner INTEGER NOT NULL,
    id INTEGER NOT NULL,
    item TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    digest BLOB NOT NULL, -- of what is searched: unchanged, it is not written again
    block INTEGER, -- the text_segment or vector_block that holds it; null while it is in text_tail
    unit TEXT NOT NULL,
    session TEXT,
    seq INTEGER,
    role TEXT,
    speaker TEXT,
    kind TEXT,
    trust INTEGER NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_at INTEGER,
    fields BLOB NOT NULL, -- empty in a vector index, which has them in its blocks
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX index_item_by_item ON index_item (owner, item);
CREATE INDEX index_item_by_session ON index_item (owner, session);

-- The elements of lists and metadata that filters see.
CREATE TABLE index_value (
    owner INTEGER NOT NULL,
    item INTEGER NOT NULL,
    field INTEGER NOT NULL, -- 0 metadata, 1 tag, 2 source
    key TEXT NOT NULL, -- the metadata's key; empty for the others
    type INTEGER NOT NULL, -- 0 truth value, 1 whole number, 2 other number, 3 text
    value ANY NOT NULL,
    PRIMARY KEY (owner, item, field, key, type, value)
) STRICT, WITHOUT ROWID;

-- The statistics that scores need, one row per unit.
CREATE TABLE text_statistics (
    owner INTEGER NOT NULL,
    unit TEXT NOT NULL,
    documents INTEGER NOT NULL,
    total_length INTEGER NOT NULL,
    tail_bytes INTEGER NOT NULL,
    PRIMARY KEY (owner, unit)
) STRICT, WITHOUT ROWID;

-- Documents not yet folded into a segment: the newest, which are the ones put again soon.
CREATE TABLE text_tail (
    owner INTEGER NOT NULL,
    unit TEXT NOT NULL,
    item INTEGER NOT NULL,
    stamp INTEGER NOT NULL, -- the order of puts
    length INTEGER NOT NULL,
    at INTEGER NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (owner, unit, item)
) STRICT, WITHOUT ROWID;

-- Up to 1,024 documents whose terms are folded into posting lists.
CREATE TABLE text_segment (
    owner INTEGER NOT NULL,
    unit TEXT NOT NULL,
    segment INTEGER NOT NULL,
    live INTEGER NOT NULL, -- how many documents
    size INTEGER NOT NULL, -- how many postings
    changed INTEGER NOT NULL, -- with which of the owner's changes it was written
    documents BLOB NOT NULL,
    PRIMARY KEY (owner, unit, segment)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_segment_by_change ON text_segment (owner, unit, changed);

-- The documents of a segment that hold a term.
CREATE TABLE text_posting (
    owner INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (owner, segment, term)
) STRICT, WITHOUT ROWID;

-- Several items side by side with their fields and vectors, so that a search reads few rows.
CREATE TABLE vector_block (
    owner INTEGER NOT NULL,
    block INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    changed INTEGER NOT NULL, -- with which of the owner's changes it was written
    vectors BLOB NOT NULL,
    PRIMARY KEY (owner, block)
) STRICT, WITHOUT ROWID;
CREATE INDEX vector_block_by_room ON vector_block (owner, bytes);
CREATE INDEX vector_block_by_change ON vector_block (owner, changed);

PRAGMA user_version = 2;
