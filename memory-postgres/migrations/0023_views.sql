-- What is stored, for people and reports that read it by SQL: a view for each table of truth, of the present epochs.

-- A body that `->>` can read: in JSON a NUL is an escape, which PostgreSQL's texts cannot hold. It shows as U+FFFD.
CREATE FUNCTION readable(p_body json) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN position('\u0000' IN p_body::text) = 0 THEN p_body::jsonb
        ELSE regexp_replace(p_body::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb END
$$;

-- A number of microseconds since 1970 as a time; what is earlier than the server's times is before all of them.
CREATE FUNCTION moment(p_micros bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_micros <= -210866803200000000 THEN '-infinity'::timestamptz
        ELSE ('epoch'::timestamp + make_interval(days => (p_micros / 86400000000)::int4)
            + p_micros % 86400000000 * interval '1 microsecond') AT TIME ZONE 'UTC' END
$$;

DO $do$
DECLARE
    v_right text;
    -- From version 15 on a view reads with the rights of its reader. Before, it keeps the wall itself.
    v_options text := CASE WHEN current_setting('server_version_num')::int4 >= 150000
        THEN 'WITH (security_invoker = true)' ELSE '' END;
    v_wall text := CASE WHEN current_setting('server_version_num')::int4 >= 150000
        THEN 'true' ELSE $$t.scope = current_setting('memory.scope', true)$$ END;
BEGIN
    EXECUTE format($view$
        CREATE VIEW message_view %s AS
        SELECT t.scope, t.session, t.seq, t.id, t.first IS NOT NULL AS is_summary, t.archived_by, b.body ->> 'role' AS role,
            b.body ->> 'speaker' AS speaker,
            (SELECT string_agg(block ->> 'text', E'\n' ORDER BY place)
                FROM jsonb_array_elements(b.body -> 'blocks') WITH ORDINALITY AS of (block, place)
                WHERE block ->> 'type' = 'text') AS text,
            coalesce(b.body -> 'metadata', '{}') AS metadata, t.trust, t.tokens, moment(t.at) AS at
        FROM message AS t CROSS JOIN LATERAL readable(t.body) AS b (body)
        WHERE t.body IS NOT NULL AND %s AND (t.first IS NULL OR b.body -> 'blocks' <> '[]') AND t.epoch = coalesce(
            (SELECT o.epoch FROM owner AS o WHERE o.scope = t.scope AND o.truth = 0), 0)$view$, v_options, v_wall);
    EXECUTE format($view$
        CREATE VIEW record_view %s AS
        SELECT t.scope, t.id, t.version, b.body ->> 'kind' AS kind, b.body ->> 'text' AS text,
            b.body ->> 'session' AS session, coalesce(b.body -> 'metadata', '{}') AS metadata,
            coalesce(b.body -> 'tags', '[]') AS tags, (b.body ->> 'importance')::float4 AS importance,
            t.trust, moment(t.at) AS created_at, moment(t.accessed_at) AS accessed_at, t.access_count,
            moment(t.expires_at) AS expires_at, moment(t.valid_from) AS valid_from, moment(t.valid_to) AS valid_to,
            moment(t.superseded_at) AS superseded_at
        FROM record AS t CROSS JOIN LATERAL readable(t.body) AS b (body)
        WHERE t.body IS NOT NULL AND %s AND t.epoch = coalesce(
            (SELECT o.epoch FROM owner AS o WHERE o.scope = t.scope AND o.truth = 1), 0)$view$, v_options, v_wall);
    -- Whoever may read the tables may read the views, also where the rights were given before.
    FOR v_right IN
        SELECT format('GRANT SELECT ON %I TO %s', CASE c.relname WHEN 'message' THEN 'message_view' ELSE 'record_view' END,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
        FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
        WHERE c.oid IN ('message'::regclass, 'record'::regclass) AND a.privilege_type = 'SELECT'
    LOOP
        EXECUTE v_right;
    END LOOP;
END $do$;
