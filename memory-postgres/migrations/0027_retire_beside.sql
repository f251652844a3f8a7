-- Retiring waits for writers as enlisting does: not for long, because others wait behind it.

DROP FUNCTION retire_index;

-- Lets an index follow no more, as `retire_index` did. Waits for those that note for it now, for at most `p_wait` milliseconds:
-- returns false if they take longer.
CREATE FUNCTION begin_retiring(p_truth smallint, p_name text, p_wait bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', p_wait::text, true);
    BEGIN
        PERFORM pg_advisory_xact_lock('enlisted'::regclass::oid::integer, 0);
    EXCEPTION WHEN lock_not_available THEN
        RETURN false;
    END;
    PERFORM set_config('lock_timeout', '0', true);
    UPDATE enlisted SET truth = -1 - truth, name = name || ' ' || id WHERE truth = p_truth AND name = p_name;
    RETURN true;
END $$;
