-- A restored mark that named a summary of another session let a redaction destroy that summary.

-- Forgets messages and the summaries that cover them, whose originals come back; returns what was touched. Keeps all
-- other writers of the owner out, because the messages may be in any number of sessions.
CREATE OR REPLACE FUNCTION redact_messages(p_scope text, p_ids uuid[])
RETURNS TABLE (id uuid, session text, seq bigint, summaries uuid[]) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_epoch bigint := enter_owner(0::smallint, p_scope);
    v_session text;
    v_seq bigint;
    v_id uuid;
    v_next uuid;
    v_place integer;
    v_is_summary boolean;
    v_above uuid;
    v_at text;
    v_layer bigint;
    v_sessions text[] := '{}';
    v_counts bigint[] := '{}';
    v_first bigint[] := '{}';
    v_last bigint[] := '{}';
BEGIN
    FOREACH v_id IN ARRAY p_ids LOOP
        SELECT m.id, m.session, m.seq, m.layer, m.archived_by INTO id, v_session, v_seq, v_layer, v_next FROM message AS m
            WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.id = v_id AND m.body IS NOT NULL;
        CONTINUE WHEN NOT FOUND;
        session := v_session;
        seq := v_seq;
        summaries := '{}';
        -- Restored marks may point in a circle.
        WHILE v_next IS NOT NULL AND NOT v_next = ANY (summaries) LOOP
            summaries := summaries || v_next;
            UPDATE message AS m SET archived_by = NULL
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.archived_by = v_next AND m.session = v_session;
            SELECT m.session, m.layer > 0, m.archived_by INTO v_at, v_is_summary, v_above FROM message AS m
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.id = v_next;
            IF NOT FOUND THEN
                -- One that a restore has not brought yet must not come any more, so its id is taken.
                INSERT INTO message (scope, epoch, session, seq, layer, id, digest, tokens)
                    SELECT p_scope, v_epoch, v_session, v_seq, max(m.layer) + 1, v_next, '', 0 FROM message AS m
                    WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = v_session AND m.seq = v_seq;
            ELSIF v_at <> v_session THEN
                -- A restored mark may name a summary of another session, which covers nothing here.
                v_above := NULL;
            ELSIF v_is_summary THEN
                -- It may name a message too, which stands for nothing.
                PERFORM blank_message(p_scope, v_epoch, v_next);
            END IF;
            v_next := v_above;
        END LOOP;
        IF v_layer > 0 THEN
            UPDATE message AS m SET archived_by = NULL
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.archived_by = v_id AND m.session = v_session;
        END IF;
        PERFORM blank_message(p_scope, v_epoch, v_id);
        RETURN NEXT;
        v_place := array_position(v_sessions, v_session);
        IF v_place IS NULL THEN
            v_sessions := v_sessions || v_session;
            v_place := cardinality(v_sessions);
            v_counts[v_place] := 0;
        END IF;
        v_counts[v_place] := v_counts[v_place] + 1;
        IF v_layer = 0 THEN
            -- Its neighbours are searched by its words too.
            v_first[v_place] := least(v_first[v_place], greatest(v_seq - 1, 1));
            v_last[v_place] := greatest(v_last[v_place], v_seq + 1);
        END IF;
    END LOOP;
    FOR v_place IN 1 .. cardinality(v_sessions) LOOP
        UPDATE session AS s SET revision = s.revision + v_counts[v_place],
            (active_messages, active_tokens) = (SELECT count(*), least(coalesce(sum(m.tokens), 0), 9223372036854775807)
                FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = s.key
                AND m.archived_by IS NULL AND m.body IS NOT NULL)
            WHERE s.scope = p_scope AND s.epoch = v_epoch AND s.key = v_sessions[v_place] RETURNING s.head INTO v_layer;
        IF v_first[v_place] IS NOT NULL THEN
            PERFORM note_changed(
                p_scope, v_epoch, v_sessions[v_place], v_first[v_place], least(v_last[v_place], v_layer));
        END IF;
    END LOOP;
END $$;
