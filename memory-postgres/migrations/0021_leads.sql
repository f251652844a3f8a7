-- What leads to records: a row for each session and each source of a record, so that the records of a session, and those
-- derived from an item, are found among any number of others. Triggers keep it, whoever changes a record.

CREATE TABLE record_lead (
    scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
    epoch bigint NOT NULL,
    lead bytea NOT NULL,                   -- a word of `record.words`; for the first session what would be its word
    record uuid NOT NULL
);

-- Returns the leads of a record: its first session, and its words of further sessions and of sources, which are texts.
CREATE FUNCTION leads_of(p_session bytea, p_words bytea[]) RETURNS SETOF bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT '\x6f04'::bytea || p_session WHERE p_session IS NOT NULL
    UNION ALL
    SELECT word FROM unnest(p_words) AS w (word) WHERE substring(word FROM 1 FOR 2) IN ('\x6f04', '\x7304')
$$;

ALTER TABLE record NO FORCE ROW LEVEL SECURITY;
INSERT INTO record_lead (scope, epoch, lead, record)
    SELECT r.scope, r.epoch, l.lead, r.id
    FROM record AS r CROSS JOIN LATERAL (SELECT DISTINCT leads_of(r.session, r.words) AS lead) AS l;
ALTER TABLE record FORCE ROW LEVEL SECURITY;
-- Behind the rows, which takes a fraction of the time.
ALTER TABLE record_lead ADD PRIMARY KEY (scope, epoch, lead, record);

ALTER TABLE record_lead ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_lead FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON record_lead USING (scope = current_setting('memory.scope', true));

-- Who may use records may use what leads to them: the rights were given when there was no such table.
DO $$
DECLARE
    v_right text;
BEGIN
    FOR v_right IN
        SELECT format('GRANT %s ON record_lead TO %s', a.privilege_type,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
        FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a WHERE c.oid = 'record'::regclass
    LOOP
        EXECUTE v_right;
    END LOOP;
END $$;

CREATE FUNCTION lead_to_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO record_lead (scope, epoch, lead, record)
        SELECT f.scope, f.epoch, l.lead, f.id FROM fresh AS f CROSS JOIN LATERAL leads_of(f.session, f.words) AS l (lead)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- By the key, whatever the server knows of a table that grows: a plan that is kept may be from when it was empty.
CREATE FUNCTION lead_to_changed() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM record_lead WHERE scope = OLD.scope AND epoch = OLD.epoch AND record = OLD.id
        AND lead = ANY (ARRAY(SELECT leads_of(OLD.session, OLD.words)));
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO record_lead (scope, epoch, lead, record)
            SELECT NEW.scope, NEW.epoch, lead, NEW.id FROM leads_of(NEW.session, NEW.words) AS l (lead)
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER leads_of_new AFTER INSERT ON record REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION lead_to_new();
CREATE TRIGGER leads_of_changed AFTER UPDATE OF session, words ON record FOR EACH ROW
    WHEN ((OLD.session, OLD.words) IS DISTINCT FROM (NEW.session, NEW.words)) EXECUTE FUNCTION lead_to_changed();
CREATE TRIGGER leads_of_gone AFTER DELETE ON record FOR EACH ROW
    WHEN (OLD.session IS NOT NULL OR OLD.words IS NOT NULL) EXECUTE FUNCTION lead_to_changed();
