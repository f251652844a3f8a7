-- What a context shows whatever its age (View::Pinned), found without reading the window.
CREATE INDEX message_pinned ON message (scope, epoch, session, seq, layer)
    WHERE archived_by IS NULL AND body IS NOT NULL AND (layer > 0 OR role IN ('system'::bytea, 'developer'::bytea));

-- As before, and with 3 in `p_view` for active instructions and the newest active summary.
CREATE OR REPLACE FUNCTION read_page(
    p_scope text, p_session text, p_edge smallint, p_seq bigint, p_limit bigint, p_tokens numeric, p_view smallint
) RETURNS TABLE (
    state bigint[], id uuid, seq bigint, tokens bigint, first bigint, archived_by uuid, digest bytea, body text
) LANGUAGE plpgsql STABLE ROWS 50 AS $$
#variable_conflict use_column
DECLARE
    v_rows refcursor;
    v_epoch bigint;
    v_head bigint;
    v_below bigint := CASE p_edge WHEN 1 THEN p_seq ELSE 9223372036854775807 END;
    v_count bigint := 0;
    v_tokens numeric := 0;
    v_last bigint;
    v_summary bigint;
    v_layer bigint;
    v_is_full boolean := p_limit = 0;
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    SELECT o.epoch, s.head,
            ARRAY[o.epoch, s.generation, s.revision, s.head, s.active_messages, s.active_tokens, s.last_at]
        INTO v_epoch, v_head, state FROM owner AS o
        LEFT JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch AND s.key = p_session
        WHERE o.scope = p_scope AND o.truth = 0;
    RETURN NEXT;
    IF v_head IS NULL OR p_limit = 0 THEN
        RETURN;
    END IF;
    state := NULL;
    IF p_view = 3 THEN
        SELECT m.seq, m.layer INTO v_summary, v_layer FROM message AS m
            WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.layer > 0 AND m.body IS NOT NULL AND m.archived_by IS NULL ORDER BY m.seq DESC, m.layer DESC LIMIT 1;
    END IF;
    IF p_view = 3 AND p_edge < 2 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND m.archived_by IS NULL AND m.body IS NOT NULL
            AND (m.layer > 0 OR m.role IN ('system'::bytea, 'developer'::bytea))
            AND (m.layer = 0 OR m.seq = v_summary AND m.layer = v_layer) ORDER BY m.seq DESC, m.layer DESC;
    ELSIF p_view = 3 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND m.archived_by IS NULL AND m.body IS NOT NULL
            AND (m.layer > 0 OR m.role IN ('system'::bytea, 'developer'::bytea))
            AND (m.layer = 0 OR m.seq = v_summary AND m.layer = v_layer) ORDER BY m.seq, m.layer;
    ELSIF p_view = 0 AND p_edge < 2 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND m.archived_by IS NULL AND m.body IS NOT NULL ORDER BY m.seq DESC, m.layer DESC;
    ELSIF p_view = 0 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND m.archived_by IS NULL AND m.body IS NOT NULL ORDER BY m.seq, m.layer;
    ELSIF p_edge < 2 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND (m.layer = 0 OR p_view = 2 AND m.body IS NOT NULL)
            ORDER BY m.seq DESC, m.layer DESC;
    ELSE
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND (m.layer = 0 OR p_view = 2 AND m.body IS NOT NULL) ORDER BY m.seq, m.layer;
    END IF;
    LOOP
        FETCH v_rows INTO id, seq, tokens, first, archived_by, digest, body;
        -- Rows at one number are never split.
        EXIT WHEN NOT FOUND OR v_is_full AND seq <> v_last;
        RETURN NEXT;
        v_count := v_count + 1;
        v_tokens := v_tokens + tokens;
        v_last := seq;
        v_is_full := v_is_full OR v_count >= p_limit OR v_tokens > p_tokens;
    END LOOP;
    CLOSE v_rows;
END $$;
