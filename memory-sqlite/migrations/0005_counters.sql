-- Who took a count of tokens, and what a window is folded by.
ALTER TABLE message ADD COLUMN counter INTEGER NOT NULL DEFAULT 0; -- CounterId; 0 is unknown
ALTER TABLE session ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;   -- the largest budget of a context

PRAGMA user_version = 5;
