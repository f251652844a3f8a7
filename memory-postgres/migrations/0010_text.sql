-- Search by words: ids, terms and numbers, never text. All of it can be thrown away and built again.
--
-- `scope` (Scope::key) opens every key; `owner` (index_owner.id) follows it. A burial gives the owner another number in
-- that index: what carries the old one is out of reach at once, and is deleted in steps.

-- An owner within one index, such as `text/english-1` or `vector/0123456789abcdef`.
CREATE TABLE index_owner (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    id bigint GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL,
    below bigint NOT NULL DEFAULT 0,       -- entries of an older epoch are dropped
    next bigint NOT NULL DEFAULT 1,        -- the next number for an item, a segment or a stamp
    totals bigint[] NOT NULL DEFAULT '{}', -- texts: documents, length and bytes of tail of messages, records, spans;
                                           -- vectors: rows
    buried boolean NOT NULL DEFAULT false,
    PRIMARY KEY (scope, id)
) WITH (fillfactor = 50);                  -- room for totals to change in place
CREATE UNIQUE INDEX index_owner_in_use ON index_owner (scope, name) WHERE NOT buried;

-- What is indexed by its words, with what filters see.
CREATE TABLE text_item (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    owner bigint NOT NULL,
    id bigint NOT NULL,
    item bytea NOT NULL,                   -- ordered as items are
    epoch bigint NOT NULL,
    revision bigint NOT NULL,
    digest bytea NOT NULL,                 -- of what is searched: unchanged, it is not written again
    segment bigint,                        -- null while it is in the tail
    unit bytea NOT NULL,
    session bytea,                         -- its name
    seq bigint,
    role bytea,
    speaker bytea,
    kind bytea,
    trust bigint NOT NULL,
    at bigint NOT NULL,                    -- microseconds since 1970, as the other times
    expires_at bigint,
    valid_from bigint,
    valid_to bigint,
    superseded_at bigint,
    words bytea[] NOT NULL,                -- a word for each value of tags, sources and metadata
    fields bytea NOT NULL,                 -- Fields::encode
    PRIMARY KEY (scope, owner, id)
);
CREATE UNIQUE INDEX text_item_by_item ON text_item (scope, owner, item);
CREATE INDEX text_item_by_session ON text_item (scope, owner, session);

-- Documents not yet folded into a segment: the newest, which are the ones put again soon.
CREATE TABLE text_tail (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    owner bigint NOT NULL,
    unit bytea NOT NULL,
    item bigint NOT NULL,
    stamp bigint NOT NULL,                 -- the order of puts
    length bigint NOT NULL,
    at bigint NOT NULL,
    terms bytea NOT NULL,
    PRIMARY KEY (scope, owner, unit, item)
);

-- Some hundred documents whose terms are folded into posting lists.
CREATE TABLE text_segment (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    owner bigint NOT NULL,
    unit bytea NOT NULL,
    segment bigint NOT NULL,
    live bigint NOT NULL,                  -- how many documents
    size bigint NOT NULL,                  -- how many postings
    documents bytea NOT NULL,
    PRIMARY KEY (scope, owner, unit, segment)
);

-- The documents of a segment that hold a term.
CREATE TABLE text_posting (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    owner bigint NOT NULL,
    segment bigint NOT NULL,
    term text COLLATE "C" NOT NULL,
    postings bytea NOT NULL,
    PRIMARY KEY (scope, owner, segment, term)
);

-- Bytes that are packed already gain nothing from another packing.
ALTER TABLE text_tail ALTER COLUMN terms SET STORAGE EXTERNAL;
ALTER TABLE text_segment ALTER COLUMN documents SET STORAGE EXTERNAL;
ALTER TABLE text_posting ALTER COLUMN postings SET STORAGE EXTERNAL;

-- The second wall: without the owner's key in `memory.scope`, which a transaction sets for itself, there are no rows.
ALTER TABLE index_owner ENABLE ROW LEVEL SECURITY;
ALTER TABLE index_owner FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON index_owner USING (scope = current_setting('memory.scope', true));
ALTER TABLE text_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE text_item FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON text_item USING (scope = current_setting('memory.scope', true));
ALTER TABLE text_tail ENABLE ROW LEVEL SECURITY;
ALTER TABLE text_tail FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON text_tail USING (scope = current_setting('memory.scope', true));
ALTER TABLE text_segment ENABLE ROW LEVEL SECURITY;
ALTER TABLE text_segment FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON text_segment USING (scope = current_setting('memory.scope', true));
ALTER TABLE text_posting ENABLE ROW LEVEL SECURITY;
ALTER TABLE text_posting FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON text_posting USING (scope = current_setting('memory.scope', true));
