-- Several erasures of one owner at once.

-- Erases up to `p_limit` rows of an owner from before `p_below`; counts those that were items, and says whether there may
-- be more. One at a time: who waited for another to delete the same rows would take none for the end.
CREATE OR REPLACE FUNCTION erase_some(
    p_truth smallint, p_scope text, p_below bigint, p_limit bigint, OUT items bigint, OUT is_more boolean
) LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
    v_rows bigint;
BEGIN
    PERFORM set_config('memory.scope', p_scope, true),
        pg_advisory_xact_lock(hashtextextended(p_scope || '/' || p_truth, 'owner'::regclass::oid::bigint));
    items := 0;
    is_more := true;
    IF p_truth = 0 THEN
        SELECT min(epoch) INTO v_epoch FROM message WHERE scope = p_scope AND epoch < p_below;
        IF v_epoch IS NOT NULL THEN
            DELETE FROM message WHERE scope = p_scope AND epoch = v_epoch AND id = ANY (ARRAY(
                SELECT id FROM message WHERE scope = p_scope AND epoch = v_epoch LIMIT p_limit));
            GET DIAGNOSTICS items = ROW_COUNT;
            RETURN;
        END IF;
        SELECT min(epoch) INTO v_epoch FROM session WHERE scope = p_scope AND epoch < p_below;
        DELETE FROM session WHERE scope = p_scope AND epoch = v_epoch AND key = ANY (ARRAY(
            SELECT key FROM session WHERE scope = p_scope AND epoch = v_epoch LIMIT p_limit));
        is_more := FOUND;
        RETURN;
    END IF;
    SELECT min(epoch) INTO v_epoch FROM record WHERE scope = p_scope AND epoch < p_below;
    WITH gone AS (
        DELETE FROM record WHERE scope = p_scope AND epoch = v_epoch AND id = ANY (ARRAY(
            SELECT id FROM record WHERE scope = p_scope AND epoch = v_epoch LIMIT p_limit))
        RETURNING body IS NOT NULL AS is_item)
    SELECT count(*) FILTER (WHERE is_item), count(*) INTO items, v_rows FROM gone;
    is_more := v_rows > 0;
END $$;

-- Deletes the rows of a search table whose owner's number nobody knows, and returns how many there were. Two erasures at
-- once could forget a number of which there were rows; nothing else reaches them. It goes from one number to the next.
CREATE FUNCTION delete_lost(p_table text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_table text := format('%I.%I', current_schema(), p_table);
    v_rows bigint;
BEGIN
    -- Of all owners, which only the owner of a table may see, and only where it is not bound itself.
    EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format($lost$
        WITH RECURSIVE numbers AS (
            (SELECT scope, owner FROM %1$s ORDER BY scope, owner LIMIT 1)
            UNION ALL
            SELECT following.scope, following.owner FROM numbers CROSS JOIN LATERAL (
                SELECT scope, owner FROM %1$s WHERE (scope, owner) > (numbers.scope, numbers.owner)
                ORDER BY scope, owner LIMIT 1) AS following),
        lost AS MATERIALIZED (
            SELECT scope, owner FROM numbers WHERE NOT EXISTS (
                SELECT FROM index_owner AS known WHERE known.scope = numbers.scope AND known.id = numbers.owner))
        DELETE FROM %1$s AS gone USING lost WHERE gone.scope = lost.scope AND gone.owner = lost.owner$lost$, v_table);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', v_table);
    RETURN v_rows;
END $$;

DO $$
DECLARE
    v_table text;
BEGIN
    ALTER TABLE index_owner NO FORCE ROW LEVEL SECURITY;
    FOREACH v_table IN ARRAY ARRAY['text_item', 'text_tail', 'text_segment', 'text_posting'] || ARRAY(
        SELECT 'vector_' || fingerprint FROM vector_space
        WHERE to_regclass(format('%I.%I', current_schema(), 'vector_' || fingerprint)) IS NOT NULL)
    LOOP
        BEGIN
            PERFORM delete_lost(v_table);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'what two erasures at once left in % stays: the role does not own the table', v_table;
        END;
    END LOOP;
    ALTER TABLE index_owner FORCE ROW LEVEL SECURITY;
END $$;

DROP FUNCTION delete_lost;
