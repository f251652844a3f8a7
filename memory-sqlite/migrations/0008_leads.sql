-- What leads to records: their session, and their sources and further sessions, so that the records of a session, and those
-- derived from an item, are found among any number of others.
CREATE INDEX record_session ON record (owner, session, id) WHERE session IS NOT NULL;
CREATE INDEX value_lead ON value (owner, field, value, item) WHERE place = 1 AND field IN (2, 5);

PRAGMA user_version = 8;
