-- Records by the time they were told, so that the newest are listed without reading the others.
CREATE INDEX record_at ON record (owner, at, id);

PRAGMA user_version = 10;
