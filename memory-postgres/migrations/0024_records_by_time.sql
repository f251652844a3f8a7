-- Records by the time they were told, so that the newest are listed without reading the others.
CREATE INDEX record_at ON record (scope, epoch, at, id) WHERE body IS NOT NULL;
