-- The paths of records. Writers of one owner's records take turns (`enter_owner`).

-- Notes for every index the versions that records have now; `p_gone` if those are their deletions.
CREATE FUNCTION note_records(p_scope text, p_epoch bigint, p_id uuid[], p_version bigint[], p_gone boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note AS n (scope, enlisted, target, record, epoch, "from", upto, stamp, place, gone)
    SELECT p_scope, m.enlisted, 2, m.id, p_epoch, m.version, m.version, m.number, m.number, p_gone
    FROM (SELECT e.id AS enlisted, r.id, r.version, nextval('note_number') AS number
        FROM enlisted AS e, unnest(p_id, p_version) WITH ORDINALITY AS r (id, version, place)
        WHERE e.truth = 1 ORDER BY r.place) AS m
    ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
        epoch = excluded.epoch, "from" = excluded."from", upto = excluded.upto, gone = excluded.gone,
        stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false;
END $$;

-- Stores records in place of what is there. Statistics are those given where `p_is_restored`, else those that are there.
CREATE FUNCTION store_records(
    p_scope text, p_epoch bigint, p_is_restored boolean, p_id uuid[], p_version bigint[], p_digest bytea[],
    p_accessed_at bigint[], p_access_count bigint[], p_hold boolean[], p_kind bytea[], p_session bytea[],
    p_trust smallint[], p_at bigint[], p_expires_at bigint[], p_valid_from bigint[], p_valid_to bigint[],
    p_superseded_at bigint[], p_words text[], p_body text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, 1, p_epoch) ON CONFLICT DO NOTHING;
    INSERT INTO record AS r (scope, epoch, id, version, digest, accessed_at, access_count, hold, kind, session, trust, at,
        expires_at, valid_from, valid_to, superseded_at, words, body)
    SELECT p_scope, p_epoch, n.id, n.version, n.digest, n.accessed_at, n.access_count, n.hold, n.kind, n.session,
        n.trust, n.at, n.expires_at, n.valid_from, n.valid_to, n.superseded_at, n.words::bytea[], n.body::json
    FROM unnest(p_id, p_version, p_digest, p_accessed_at, p_access_count, p_hold, p_kind, p_session, p_trust, p_at,
            p_expires_at, p_valid_from, p_valid_to, p_superseded_at, p_words, p_body)
        AS n (id, version, digest, accessed_at, access_count, hold, kind, session, trust, at, expires_at, valid_from,
            valid_to, superseded_at, words, body)
    ON CONFLICT (scope, epoch, id) DO UPDATE SET version = excluded.version, digest = excluded.digest,
        accessed_at = CASE WHEN p_is_restored THEN excluded.accessed_at ELSE r.accessed_at END,
        access_count = CASE WHEN p_is_restored THEN excluded.access_count ELSE r.access_count END,
        hold = excluded.hold, kind = excluded.kind, session = excluded.session, trust = excluded.trust,
        at = excluded.at, expires_at = excluded.expires_at, valid_from = excluded.valid_from,
        valid_to = excluded.valid_to, superseded_at = excluded.superseded_at, words = excluded.words,
        body = excluded.body;
    DELETE FROM due WHERE scope = p_scope AND epoch = p_epoch AND record = ANY (p_id);
    INSERT INTO due (scope, epoch, record, at)
        SELECT p_scope, p_epoch, n.id, n.expires_at FROM unnest(p_id, p_hold, p_expires_at) AS n (id, hold, expires_at)
        WHERE n.expires_at IS NOT NULL AND NOT n.hold;
    PERFORM note_records(p_scope, p_epoch, p_id, p_version, false);
END $$;

-- Deletes records, those expired at `p_now` alone if it is given, and returns how many there were.
CREATE FUNCTION delete_records(p_scope text, p_ids uuid[], p_now bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint := enter_owner(1::smallint, p_scope);
    v_ids uuid[];
    v_versions bigint[];
BEGIN
    IF v_epoch IS NULL THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        UPDATE record SET version = least(version, 9223372036854775806) + 1, digest = '', accessed_at = NULL,
            access_count = 0, hold = false, kind = NULL, session = NULL, trust = NULL, at = NULL, expires_at = NULL,
            valid_from = NULL, valid_to = NULL, superseded_at = NULL, words = NULL, body = NULL
        WHERE scope = p_scope AND epoch = v_epoch AND id = ANY (p_ids) AND body IS NOT NULL
            AND (p_now IS NULL OR expires_at <= p_now AND NOT hold)
        RETURNING id, version)
    SELECT array_agg(k.id ORDER BY k.place), array_agg(k.version ORDER BY k.place) INTO v_ids, v_versions FROM (
        SELECT u.id, min(u.place) AS place, max(u.version) AS version FROM (
            SELECT i.id, i.place, NULL::bigint AS version FROM unnest(p_ids) WITH ORDINALITY AS i (id, place)
            UNION ALL SELECT g.id, NULL, g.version FROM gone AS g) AS u
        GROUP BY u.id) AS k WHERE k.version IS NOT NULL;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM due WHERE scope = p_scope AND epoch = v_epoch AND record = ANY (v_ids);
    PERFORM note_records(p_scope, v_epoch, v_ids, v_versions, true);
    RETURN cardinality(v_ids);
END $$;

-- Notes that records were returned at `p_at`; once per record and moment, and only forwards in time.
CREATE FUNCTION touch_records(p_scope text, p_ids uuid[], p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint := enter_owner(1::smallint, p_scope);
BEGIN
    UPDATE record SET accessed_at = p_at, access_count = least(access_count, 9223372036854775806) + 1
        WHERE scope = p_scope AND epoch = v_epoch AND id = ANY (p_ids) AND body IS NOT NULL
        AND (accessed_at IS NULL OR accessed_at < p_at);
END $$;

-- Returns the records with these ids, in any order.
CREATE FUNCTION get_records(p_scope text, p_ids uuid[]) RETURNS TABLE (
    id uuid, version bigint, accessed_at bigint, access_count bigint, digest bytea, body text
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    RETURN QUERY SELECT r.id, r.version, r.accessed_at, r.access_count, r.digest, r.body::text
        FROM owner AS o JOIN record AS r ON r.scope = o.scope AND r.epoch = o.epoch
        WHERE o.scope = p_scope AND o.truth = 1 AND r.id = ANY (p_ids) AND r.body IS NOT NULL;
END $$;
