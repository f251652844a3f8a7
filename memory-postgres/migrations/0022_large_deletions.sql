-- `delete_records` compared each record with each version said: a join of two sets whose sizes the planner does not know.
-- A grouping takes the same time whatever the planner believes.
CREATE OR REPLACE FUNCTION delete_records(p_scope text, p_ids uuid[], p_versions bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_owner(1::smallint, p_scope);
    -- One that is not known yet too, for a put of its first record may be under way.
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, 1, 0) ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM (
            SELECT said.id, said.version, NULL::bigint AS held FROM unnest(p_ids, p_versions) AS said (id, version)
            UNION ALL SELECT r.id, NULL, r.version
                FROM owner AS o JOIN record AS r ON r.scope = o.scope AND r.epoch = o.epoch
                WHERE o.scope = p_scope AND o.truth = 1 AND r.id = ANY (p_ids) AND r.body IS NOT NULL) AS u
            GROUP BY u.id HAVING max(u.held) > min(u.version)) THEN
        RETURN NULL;
    END IF;
    UPDATE owner SET generation = generation + 1 WHERE scope = p_scope AND truth = 1;
    RETURN remove_records(p_scope, p_ids, NULL);
END $$;
