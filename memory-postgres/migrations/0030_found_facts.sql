-- A redaction had those who find facts read again what they had read, by a model that is paid.

-- Adds to what is noted of a session, so that a settlement under way does not cover it. Nothing of what was changed lies with those
-- who find facts, whose names begin with `facts/`.
CREATE OR REPLACE FUNCTION note_changed(p_scope text, p_epoch bigint, p_session text, p_from bigint, p_upto bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note AS n (scope, enlisted, target, session, epoch, "from", upto, stamp, place)
    SELECT p_scope, e.id, 1, p_session, p_epoch, p_from, p_upto, number, number
    FROM enlisted AS e, LATERAL nextval('note_number') AS number WHERE e.truth = 0 AND e.name NOT LIKE 'facts/%'
    ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
        epoch = excluded.epoch, "from" = least(n."from", excluded."from"), upto = greatest(n.upto, excluded.upto),
        stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false;
END $$;
