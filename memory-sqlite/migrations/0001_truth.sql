-- Owners. Everything else begins with `owner`, the number of the owner here; rows are never deleted, so that the
-- epochs of erased owners stay known.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,              -- Scope::key
    chat_epoch INTEGER NOT NULL DEFAULT 0,
    record_epoch INTEGER NOT NULL DEFAULT 0
) STRICT;

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
    last_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, key)
) STRICT;

-- Messages and summaries. A forgotten message is a row without body.
CREATE TABLE message (
    item INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    session INTEGER NOT NULL,              -- session.id
    seq INTEGER NOT NULL,
    layer INTEGER NOT NULL,                -- 0 for a message; a summary stands above what it covers
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
CREATE INDEX message_summary ON message (owner, session, seq, layer) WHERE layer > 0;

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
    place INTEGER NOT NULL,                -- the table of the item: 0 message, 1 record, 2 text index, 3 vector index
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

-- What an index has not seen yet.
CREATE TABLE note (
    owner INTEGER NOT NULL,
    enlisted INTEGER NOT NULL,             -- enlisted.id
    target ANY NOT NULL,                   -- session.id, a record's id, or 0 for the whole owner
    epoch INTEGER NOT NULL,
    "from" INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    stamp INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL,
    dead INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    why TEXT,
    PRIMARY KEY (owner, enlisted, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_due ON note (enlisted, dead, due);

PRAGMA user_version = 1;
