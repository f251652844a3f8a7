-- The search indexes, made anew in fewer bytes: upkeep fills them again from truth. What an item's fields are is told by its
-- columns, a session's name stands once, terms share rows, a block of vectors holds no fields, and vectors of many numbers take
-- 8 bits a number.
DROP TABLE index_item;
DELETE FROM index_value;
DROP TABLE text_posting;
DELETE FROM text_statistics;
DELETE FROM text_tail;
DROP TABLE text_segment;
DELETE FROM vector_block;
DELETE FROM index_owner WHERE buried = 1;
UPDATE index_owner SET changed = 0;
-- Places without an incarnation are new ones, so truth notes for them all that it holds.
DELETE FROM index_place;

-- What is indexed, with the fixed fields that filters see.
CREATE TABLE index_item (
    owner INTEGER NOT NULL,
    id INTEGER NOT NULL,
    item BLOB NOT NULL, -- the bytes of an id behind `m` for a message or `r` for a record; of a span its key
    epoch INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    digest BLOB NOT NULL, -- of what is searched: unchanged, it is not written again
    block INTEGER, -- the text_segment or vector_block that holds it; null while it is in text_tail
    unit INTEGER NOT NULL, -- 0 message, 1 record, 2 span
    session INTEGER, -- index_session.id
    seq INTEGER,
    role INTEGER, -- 0 system, 1 developer, 2 user, 3 assistant, 4 tool, 5 function
    speaker TEXT,
    kind TEXT,
    trust INTEGER NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_at INTEGER,
    fields BLOB, -- all of them, if there are more than the columns tell
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX index_item_by_item ON index_item (owner, item);
CREATE INDEX index_item_by_session ON index_item (owner, session) WHERE session IS NOT NULL;

-- The sessions of what is indexed.
CREATE TABLE index_session (
    id INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (owner, name)
) STRICT;

-- Up to 16,384 documents whose terms are folded into posting lists.
CREATE TABLE text_segment (
    owner INTEGER NOT NULL,
    unit TEXT NOT NULL,
    segment INTEGER NOT NULL,
    live INTEGER NOT NULL, -- how many documents
    size INTEGER NOT NULL, -- how many postings
    changed INTEGER NOT NULL, -- a random number, drawn with the change that wrote it
    documents BLOB NOT NULL,
    shares BLOB NOT NULL, -- of each document, of which its neighbours' counts are sums
    PRIMARY KEY (owner, unit, segment)
) STRICT, WITHOUT ROWID;

-- The posting lists of a segment: its terms, spread over 2,048 buckets by a hash.
CREATE TABLE text_posting (
    owner INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    part INTEGER NOT NULL, -- of a bucket that is cut, because a page holds no longer row beside others
    lists BLOB NOT NULL,
    PRIMARY KEY (owner, segment, bucket, part)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 9;
