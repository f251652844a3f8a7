-- The journal of write-behind, a file of its own: messages that the primary has not confirmed yet, and those it refused.
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,            -- never used again
    scope TEXT NOT NULL,                   -- Scope::key
    session TEXT NOT NULL,                 -- SessionId::key
    epoch INTEGER,                         -- the fence; none if it was not known
    generation INTEGER,
    asked INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    body BLOB NOT NULL,                    -- Message::encode
    why TEXT,                              -- why it was refused; none while it waits
    sum BLOB NOT NULL                      -- over all of the row
) STRICT;

-- What the entries are as a whole, changed in the same transaction: so that a missing one is told.
CREATE TABLE whole (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last INTEGER NOT NULL,                 -- the highest number ever given
    count INTEGER NOT NULL,
    mark BLOB NOT NULL,                    -- the sums of all entries, folded into one
    truth TEXT,                            -- the database that the entries are meant for
    sum BLOB NOT NULL                      -- over this row
) STRICT;
