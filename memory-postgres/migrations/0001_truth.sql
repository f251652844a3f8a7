-- Truth: conversations and records, with the notes that search indexes follow.
--
-- `scope` (Scope::key) opens every key, and `epoch` (how often the owner was erased) follows it: a burial puts all that
-- the owner had out of reach by a new epoch, and the erasure deletes it in steps. Texts that filters compare are bytes,
-- for PostgreSQL's texts cannot hold NUL. Tables that hold what people said have row-level security; the others hold
-- keys, numbers and ids, because upkeep crosses owners.

-- Owners and their epochs: the tombstones of erasures.
CREATE TABLE owner (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    truth smallint NOT NULL,               -- 0 conversations, 1 records
    epoch bigint NOT NULL,
    PRIMARY KEY (scope, truth)
);

-- Sessions with their counters. A deleted session keeps its row for its generation and revision.
CREATE TABLE session (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    epoch bigint NOT NULL,
    key text COLLATE "C" NOT NULL,         -- SessionId::key, the order of sessions
    generation bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 0,
    active_messages bigint NOT NULL DEFAULT 0,
    active_tokens bigint NOT NULL DEFAULT 0,
    last_at bigint,
    PRIMARY KEY (scope, epoch, key)
) WITH (fillfactor = 50);                  -- room for counters to change in place

-- Messages and summaries. What is forgotten is a row without body, so that its number and id stay taken.
CREATE TABLE message (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    epoch bigint NOT NULL,
    session text COLLATE "C" NOT NULL,     -- session.key
    seq bigint NOT NULL,
    layer bigint NOT NULL,                 -- 0 for a message; summaries stand above it, the newest on top
    id uuid NOT NULL,
    digest bytea NOT NULL,
    tokens bigint NOT NULL,
    first bigint,                          -- the first number that a summary covers; its last is `seq`
    archived_by uuid,
    role bytea,
    speaker bytea,
    trust smallint,
    at bigint,                             -- microseconds since 1970
    words bytea[],                         -- what filters see of metadata and sources, a word for each value
    body json                              -- Message::encode; `json` keeps its bytes, `jsonb` would not
);
CREATE UNIQUE INDEX message_place ON message (scope, epoch, session, seq, layer);
CREATE INDEX message_active ON message (scope, epoch, session, seq, layer)
    WHERE archived_by IS NULL AND body IS NOT NULL;
CREATE INDEX message_summary ON message (scope, epoch, session, seq) WHERE layer > 0 AND body IS NOT NULL;
CREATE INDEX message_archived ON message (scope, epoch, archived_by) WHERE archived_by IS NOT NULL;
-- The last one: of indexes that look alike to it, as all do before it has statistics, the server takes the newest.
ALTER TABLE message ADD PRIMARY KEY (scope, epoch, id);

-- Records. A deleted one is a row without body, so that a version never comes twice.
CREATE TABLE record (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    epoch bigint NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    accessed_at bigint,
    access_count bigint NOT NULL DEFAULT 0,
    hold boolean NOT NULL,
    kind bytea,
    session bytea,                         -- the session's name
    trust smallint,
    at bigint,
    expires_at bigint,                     -- NULL for a pinned record
    valid_from bigint,
    valid_to bigint,
    superseded_at bigint,
    words bytea[],
    body json,                             -- Record::encode
    PRIMARY KEY (scope, epoch, id)
);

-- When records expire that a sweep may delete.
CREATE TABLE due (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    epoch bigint NOT NULL,
    record uuid NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (scope, epoch, record)
);
CREATE INDEX due_at ON due (at, scope, record);

-- The indexes that follow truth.
CREATE TABLE enlisted (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    truth smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    UNIQUE (truth, name)
);

-- Numbers notes: a stamp or place is never given twice.
CREATE SEQUENCE note_number;

-- What an index has not seen yet, of a session, of a record or of the whole owner.
CREATE TABLE note (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    enlisted integer NOT NULL,             -- enlisted.id
    target smallint NOT NULL,              -- 0 owner, 1 session, 2 record
    session text COLLATE "C" NOT NULL DEFAULT '',
    record uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    epoch bigint NOT NULL,
    "from" bigint NOT NULL,
    upto bigint NOT NULL,
    stamp bigint NOT NULL,
    attempts bigint NOT NULL DEFAULT 0,
    due bigint NOT NULL DEFAULT -9223372036854775808, -- since ever
    place bigint NOT NULL,                 -- the order of notes due alike
    dead boolean NOT NULL DEFAULT false,
    gone boolean NOT NULL DEFAULT false,
    why text,
    PRIMARY KEY (scope, enlisted, target, session, record)
) WITH (fillfactor = 50);
CREATE INDEX note_due ON note (enlisted, due, place) WHERE NOT dead;

-- The second wall: without the owner's key in `memory.scope`, which a transaction sets for itself, there are no rows.
ALTER TABLE session ENABLE ROW LEVEL SECURITY;
ALTER TABLE session FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON session USING (scope = current_setting('memory.scope', true));
ALTER TABLE message ENABLE ROW LEVEL SECURITY;
ALTER TABLE message FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON message USING (scope = current_setting('memory.scope', true));
ALTER TABLE record ENABLE ROW LEVEL SECURITY;
ALTER TABLE record FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON record USING (scope = current_setting('memory.scope', true));
