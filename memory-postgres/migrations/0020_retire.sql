-- Notes that were given up are found when an index is opened, and retiring holds up nobody for long.
CREATE INDEX note_dead ON note (enlisted) WHERE dead;

-- Lets an index follow no more. It keeps its row under the number of no truth until `drop_retired` has deleted its notes.
CREATE OR REPLACE FUNCTION retire_index(p_truth smallint, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Waits for those that note for it now.
    PERFORM pg_advisory_xact_lock('enlisted'::regclass::oid::integer, 0);
    UPDATE enlisted SET truth = -1 - truth, name = name || ' ' || id WHERE truth = p_truth AND name = p_name;
END $$;

-- Deletes up to `p_limit` notes of what was retired, with the last of them the index itself. Returns whether there is more.
CREATE FUNCTION drop_retired(p_limit bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_id integer;
BEGIN
    SELECT id INTO v_id FROM enlisted WHERE truth < 0 ORDER BY id LIMIT 1 FOR UPDATE;
    IF v_id IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM note WHERE (scope, enlisted, target, session, record) IN
        (SELECT scope, enlisted, target, session, record FROM note WHERE enlisted = v_id LIMIT p_limit);
    IF NOT FOUND THEN
        DELETE FROM enlisted WHERE id = v_id;
    END IF;
    RETURN true;
END $$;
