-- Owners. Everything else begins with `owner`, the number of the owner here. An owner's burial gives it another number:
-- what carries the old one is out of reach at once, and waits for its erasure. The row in use is the tombstone.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY,
    truth INTEGER NOT NULL,                -- 0 conversations, 1 records
    key TEXT NOT NULL,                     -- Scope::key
    epoch INTEGER NOT NULL,
    buried INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX owner_in_use ON owner (truth, key) WHERE buried = 0;
CREATE INDEX owner_buried ON owner (truth, key) WHERE buried = 1;

-- Sessions with their counters. A deleted session keeps its row for its generation and revision.
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    key TEXT NOT NULL,                     -- SessionId::key, the order of sessions
    name TEXT NOT NULL,                    -- what filters see
    generation INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,
    active_messages INTEGER NOT NULL DEFAULT 0,
    active_tokens INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER,
    UNIQUE (owner, key)
) STRICT;

-- Messages and summaries. What is forgotten is a row without body, so that its number and id stay taken.
CREATE TABLE message (
    item INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    session INTEGER NOT NULL,              -- session.id
    seq INTEGER NOT NULL,
    layer INTEGER NOT NULL,                -- 0 for a message; summaries stand above it, the newest on top
    id BLOB NOT NULL,
    digest BLOB NOT NULL,
    tokens INTEGER NOT NULL,
    first INTEGER,                         -- the first number that a summary covers; its last is `seq`
    archived_by BLOB,
    role TEXT,
    speaker TEXT,
    trust INTEGER,
    at INTEGER,
    body BLOB                              -- Message::encode
) STRICT;
CREATE UNIQUE INDEX message_id ON message (owner, id);
CREATE UNIQUE INDEX message_place ON message (owner, session, seq, layer);
CREATE INDEX message_active ON message (owner, session, seq, layer) WHERE archived_by IS NULL AND body IS NOT NULL;
CREATE INDEX message_summary ON message (owner, session, seq, layer) WHERE layer > 0 AND body IS NOT NULL;
CREATE INDEX message_archived ON message (owner, archived_by) WHERE archived_by IS NOT NULL;

-- Records.
CREATE TABLE record (
    item INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    hold INTEGER NOT NULL,
    accessed_at INTEGER,
    access_count INTEGER NOT NULL DEFAULT 0,
    kind TEXT NOT NULL,
    session TEXT,                          -- the session's name
    trust INTEGER NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER,                    -- NULL for a pinned record
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_at INTEGER,
    body BLOB NOT NULL                     -- Record::encode
) STRICT;
CREATE UNIQUE INDEX record_id ON record (owner, id);
CREATE INDEX record_expiry ON record (expires_at) WHERE expires_at IS NOT NULL AND hold = 0;

-- The last versions of deleted records, so that a version never comes twice.
CREATE TABLE record_grave (
    owner INTEGER NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

-- What filters see of lists: metadata, tags and sources, a row for each value.
CREATE TABLE value (
    owner INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- the table of the item: 0 message, 1 record
    item INTEGER NOT NULL,                 -- the item's row there
    field INTEGER NOT NULL,                -- 0 metadata, 1 tag, 2 source
    key TEXT NOT NULL,                     -- the metadata's key; empty for the others
    type INTEGER NOT NULL,                 -- 0 truth value, 1 whole number, 2 other number, 3 text
    value ANY NOT NULL
) STRICT;
CREATE INDEX value_item ON value (owner, place, item, field, key);

-- The indexes that follow truth.
CREATE TABLE enlisted (
    id INTEGER PRIMARY KEY,
    truth INTEGER NOT NULL,                -- 0 conversations, 1 records
    name TEXT NOT NULL,
    UNIQUE (truth, name)
) STRICT;

-- Numbers notes: a stamp or place is never given twice.
CREATE TABLE sequence (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO sequence (last) VALUES (0);

-- What an index has not seen yet, of a session, of a record, or (with neither) of the whole owner.
CREATE TABLE note (
    owner INTEGER NOT NULL,
    enlisted INTEGER NOT NULL,             -- enlisted.id
    session INTEGER NOT NULL DEFAULT 0,    -- session.id
    record BLOB NOT NULL DEFAULT x'',      -- a record's id
    epoch INTEGER NOT NULL,
    "from" INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL,
    place INTEGER NOT NULL,                -- the order of notes due alike
    dead INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    why TEXT,
    PRIMARY KEY (owner, enlisted, session, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_due ON note (enlisted, dead, due, place);

PRAGMA user_version = 1;
