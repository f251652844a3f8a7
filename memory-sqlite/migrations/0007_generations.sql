-- A number that rises with each deletion of an owner's records: a put that was begun before is refused.
ALTER TABLE owner ADD COLUMN generation INTEGER NOT NULL DEFAULT 0; -- of conversations always 0

PRAGMA user_version = 7;
