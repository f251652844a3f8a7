-- Which making of an index truth has filled, and how far what was stored before is noted for it.
ALTER TABLE enlisted ADD COLUMN incarnation BLOB;                     -- null if it is not known
ALTER TABLE enlisted ADD COLUMN is_noted INTEGER NOT NULL DEFAULT 1;  -- whether all that was stored before is noted
ALTER TABLE enlisted ADD COLUMN noted_owner TEXT NOT NULL DEFAULT ''; -- else through which owner,
ALTER TABLE enlisted ADD COLUMN noted_key TEXT NOT NULL DEFAULT '';   -- and through which session, or record in hex; '' for all

-- The incarnations of the search indexes in this file.
CREATE TABLE index_place (
    name TEXT PRIMARY KEY,                 -- such as `text/english-1`
    incarnation BLOB NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 6;
