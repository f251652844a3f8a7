-- How far an index has come names a session or record of the owner in whose midst it stands: a burial takes it out of there.

-- Takes the walks out, unless what they name is there in this epoch. Of an earlier one nothing is left to note, and what was
-- written since was noted by whoever wrote it.
CREATE FUNCTION leave_midst(p_truth smallint, p_scope text, p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Walks of indexes that are being retired are of the truth's number below zero.
    UPDATE enlisted AS e SET noted_key = ''
        WHERE e.truth IN (p_truth, -1 - p_truth) AND e.noted_scope = p_scope AND e.noted_key <> ''
        AND NOT EXISTS (SELECT FROM session AS s
            WHERE p_truth = 0 AND s.scope = p_scope AND s.epoch = p_epoch AND s.key = e.noted_key)
        AND NOT EXISTS (SELECT FROM record AS r WHERE r.scope = p_scope AND r.epoch = p_epoch
            AND r.id = CASE p_truth WHEN 1 THEN e.noted_key::uuid END);
END $$;

-- Raises an owner's epoch by one, or to `p_below` if it is before, and drops its notes but those of its erasure. Where it
-- was raised by one the erasure is noted. Returns the epoch.
CREATE OR REPLACE FUNCTION bury_owner(p_truth smallint, p_scope text, p_below bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint := coalesce(enter_owner(p_truth, p_scope), 0);
BEGIN
    IF v_epoch >= p_below THEN
        -- Erased by an earlier version, it may be named yet.
        PERFORM leave_midst(p_truth, p_scope, v_epoch);
        RETURN v_epoch;
    END IF;
    v_epoch := coalesce(p_below, v_epoch + 1);
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, p_truth, v_epoch)
        ON CONFLICT (scope, truth) DO UPDATE SET epoch = excluded.epoch;
    -- Before the notes, in the order of those who drop what was retired.
    PERFORM leave_midst(p_truth, p_scope, v_epoch);
    DELETE FROM note USING enlisted AS e
        WHERE note.scope = p_scope AND note.enlisted = e.id AND e.truth = p_truth AND note.target <> 0;
    IF p_truth = 1 THEN
        DELETE FROM due WHERE scope = p_scope;
    END IF;
    IF p_below IS NULL THEN
        PERFORM note_gone(p_truth, p_scope, v_epoch, '');
    END IF;
    RETURN v_epoch;
END $$;

ALTER FUNCTION note_stored(smallint, text, bigint) RENAME TO note_more;

-- Notes what was stored before, as `note_more` does. Walks of one index take turns. They lock the owner in whose midst they
-- stand before the row that says so, as a burial does: in the other order, each of the two could wait for the other.
CREATE FUNCTION note_stored(p_truth smallint, p_name text, p_limit bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_scope text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0),
        pg_advisory_xact_lock(hashtextextended(p_name || '/' || p_truth, 'enlisted'::regclass::oid::bigint));
    SELECT noted_scope INTO v_scope FROM enlisted WHERE truth = p_truth AND name = p_name AND noted_key <> '';
    IF FOUND THEN
        PERFORM enter_owner(p_truth, v_scope);
    END IF;
    RETURN note_more(p_truth, p_name, p_limit);
END $$;
