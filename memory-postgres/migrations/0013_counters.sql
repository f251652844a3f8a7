-- Who took a count of tokens, and what a window is folded by.

ALTER TABLE message ADD COLUMN counter bigint NOT NULL DEFAULT 0; -- CounterId; 0 is unknown
ALTER TABLE session ADD COLUMN asked bigint NOT NULL DEFAULT 0;   -- the largest budget of a context

-- They take or answer more than before.
DROP FUNCTION enter_session, append_messages, read_page, get_messages, list_sessions;

-- Opens a writing transaction on a session: nobody else enlists an index, buries the owner or writes the session meanwhile.
-- Returns the owner's epoch, null for an unknown owner, and the session's counters, null for an unknown session.
CREATE FUNCTION enter_session(
    p_scope text, p_session text,
    OUT epoch bigint, OUT generation bigint, OUT revision bigint, OUT head bigint,
    OUT active_messages bigint, OUT active_tokens bigint, OUT asked bigint, OUT last_at bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('memory.scope', p_scope, true),
        pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0),
        pg_advisory_xact_lock_shared(hashtextextended(p_scope, 'owner'::regclass::oid::bigint)),
        pg_advisory_xact_lock(hashtextextended(p_scope || '/' || p_session, 'session'::regclass::oid::bigint));
    SELECT o.epoch, s.generation, s.revision, s.head, s.active_messages, s.active_tokens, s.asked, s.last_at
        INTO epoch, generation, revision, head, active_messages, active_tokens, asked, last_at
        FROM owner AS o LEFT JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch AND s.key = p_session
        WHERE o.scope = p_scope AND o.truth = 0;
END $$;

-- Appends messages; `p_epoch` and `p_generation` are the fence, or null. `outcome` is 0 if it was done, 1 if the fence is
-- another one, 2 if the id `taken` holds other content. `kinds` has 0 for each message added, 1 for each that was there
-- under its number in `numbers`, 2 for each that is forgotten; it is null if all were added. What was added is the newest.
CREATE FUNCTION append_messages(
    p_scope text, p_session text, p_epoch bigint, p_generation bigint, p_asked bigint,
    p_id uuid[], p_digest bytea[], p_tokens bigint[], p_counter bigint[], p_role bytea[], p_speaker bytea[], p_trust smallint[],
    p_at bigint[], p_words text[], p_body text[],
    OUT outcome smallint, OUT state bigint[], OUT kinds smallint[], OUT numbers bigint[], OUT taken uuid
) LANGUAGE plpgsql AS $$
DECLARE
    s record;
    v_count bigint := cardinality(p_id);
    v_epoch bigint;
    v_head bigint;
    v_new bigint;
    v_added bigint;
    v_tokens numeric;
    v_at bigint;
BEGIN
    SELECT * INTO s FROM enter_session(p_scope, p_session);
    v_epoch := coalesce(s.epoch, 0);
    v_head := coalesce(s.head, 0);
    outcome := 0;
    IF (p_epoch, p_generation) <> (v_epoch, coalesce(s.generation, 0)) THEN
        outcome := 1;
        RETURN;
    END IF;
    state := ARRAY[v_epoch, coalesce(s.generation, 0), coalesce(s.revision, 0), v_head,
        coalesce(s.active_messages, 0), coalesce(s.active_tokens, 0), coalesce(s.asked, 0), s.last_at];
    IF v_count = 0 THEN
        RETURN;
    END IF;
    IF s.epoch IS NULL THEN
        INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, 0, 0) ON CONFLICT DO NOTHING;
    END IF;
    -- Most batches are wholly new: they are numbered and inserted without looking first.
    WITH added AS (
        INSERT INTO message (scope, epoch, session, seq, layer, id, digest, tokens, counter, role, speaker, trust, at, words, body)
        SELECT p_scope, v_epoch, p_session, v_head + n, 0, m.id, m.digest, m.tokens, m.counter, m.role, m.speaker, m.trust, m.at,
            m.words::bytea[], m.body::json
        FROM unnest(p_id, p_digest, p_tokens, p_counter, p_role, p_speaker, p_trust, p_at, p_words, p_body) WITH ORDINALITY
            AS m (id, digest, tokens, counter, role, speaker, trust, at, words, body, n)
        ON CONFLICT (scope, epoch, id) DO NOTHING RETURNING tokens, at)
    SELECT count(*), sum(a.tokens), max(a.at) INTO v_added, v_tokens, v_at FROM added AS a;
    IF v_added < v_count THEN
        -- Some were there: their places are undone, and the others close up.
        IF v_added > 0 THEN
            DELETE FROM message WHERE scope = p_scope AND epoch = v_epoch AND session = p_session AND seq > v_head
                AND layer = 0;
        END IF;
        -- Grouped rather than joined: a server without statistics might compare each with each.
        SELECT array_agg(CASE WHEN k.seq IS NULL THEN 0 WHEN k.is_forgotten THEN 2 WHEN k.digests[1] = k.digests[2] THEN 1
                ELSE 3 END ORDER BY k.n), array_agg(k.seq ORDER BY k.n)
            INTO kinds, numbers FROM (
                SELECT max(u.n) AS n, max(u.seq) AS seq, bool_or(u.is_forgotten) AS is_forgotten,
                    array_agg(u.digest) AS digests
                FROM (SELECT b.id, b.n, b.digest, NULL::bigint AS seq, NULL::boolean AS is_forgotten
                    FROM unnest(p_id, p_digest) WITH ORDINALITY AS b (id, digest, n)
                    UNION ALL SELECT m.id, NULL, m.digest, m.seq, m.body IS NULL FROM message AS m
                    WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.id = ANY (p_id)) AS u
                GROUP BY u.id) AS k;
        IF 3 = ANY (kinds) THEN
            outcome := 2;
            taken := p_id[array_position(kinds, 3::smallint)];
            RETURN;
        END IF;
        v_new := cardinality(array_positions(kinds, 0::smallint));
        WITH added AS (
            INSERT INTO message
                (scope, epoch, session, seq, layer, id, digest, tokens, counter, role, speaker, trust, at, words, body)
            SELECT p_scope, v_epoch, p_session, v_head + row_number() OVER (ORDER BY n), 0, m.id, m.digest, m.tokens,
                m.counter, m.role, m.speaker, m.trust, m.at, m.words::bytea[], m.body::json
            FROM unnest(p_id, p_digest, p_tokens, p_counter, p_role, p_speaker, p_trust, p_at, p_words, p_body, kinds)
                WITH ORDINALITY AS m (id, digest, tokens, counter, role, speaker, trust, at, words, body, kind, n)
            WHERE m.kind = 0
            ON CONFLICT (scope, epoch, id) DO NOTHING RETURNING tokens, at)
        SELECT count(*), sum(a.tokens), max(a.at) INTO v_added, v_tokens, v_at FROM added AS a;
        IF v_added < v_new THEN
            RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = 'an id was taken meanwhile';
        END IF;
        IF v_added = 0 THEN
            RETURN;
        END IF;
    END IF;
    state[4] := v_head + v_added;
    state[5] := state[5] + v_added;
    state[6] := least(state[6] + v_tokens, 9223372036854775807);
    state[7] := greatest(state[7], p_asked);
    state[8] := greatest(s.last_at, v_at);
    IF s.head IS NULL THEN
        INSERT INTO session (scope, epoch, key, head, active_messages, active_tokens, asked, last_at)
            VALUES (p_scope, v_epoch, p_session, state[4], state[5], state[6], state[7], state[8]);
    ELSE
        UPDATE session SET head = state[4], active_messages = state[5], active_tokens = state[6], asked = state[7],
            last_at = state[8] WHERE scope = p_scope AND epoch = v_epoch AND key = p_session;
    END IF;
    PERFORM note_appended(p_scope, v_epoch, p_session, v_head + 1, state[4]);
END $$;

-- Returns a session's counters in the first row, then the rows of a page from its edge on, in that order. `p_edge` is 0
-- for the newest rows, 1 for those before and 2 for those after `p_seq`; `p_view` is 0 for the window, 1 for the log, 2
-- for all, 3 for active instructions and the newest active summary. Stable, so that everything is read from one state; a cursor, so that nothing beyond the page is read.
CREATE FUNCTION read_page(
    p_scope text, p_session text, p_edge smallint, p_seq bigint, p_limit bigint, p_tokens numeric, p_view smallint
) RETURNS TABLE (
    state bigint[], id uuid, seq bigint, tokens bigint, counter bigint, first bigint, archived_by uuid, digest bytea, body text
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
            ARRAY[o.epoch, s.generation, s.revision, s.head, s.active_messages, s.active_tokens, s.asked,
                s.last_at]
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
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND m.archived_by IS NULL AND m.body IS NOT NULL
            AND (m.layer > 0 OR m.role IN ('system'::bytea, 'developer'::bytea))
            AND (m.layer = 0 OR m.seq = v_summary AND m.layer = v_layer) ORDER BY m.seq DESC, m.layer DESC;
    ELSIF p_view = 3 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND m.archived_by IS NULL AND m.body IS NOT NULL
            AND (m.layer > 0 OR m.role IN ('system'::bytea, 'developer'::bytea))
            AND (m.layer = 0 OR m.seq = v_summary AND m.layer = v_layer) ORDER BY m.seq, m.layer;
    ELSIF p_view = 0 AND p_edge < 2 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND m.archived_by IS NULL AND m.body IS NOT NULL ORDER BY m.seq DESC, m.layer DESC;
    ELSIF p_view = 0 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND m.archived_by IS NULL AND m.body IS NOT NULL ORDER BY m.seq, m.layer;
    ELSIF p_edge < 2 THEN
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq < v_below AND (m.layer = 0 OR p_view = 2 AND m.body IS NOT NULL)
            ORDER BY m.seq DESC, m.layer DESC;
    ELSE
        OPEN v_rows NO SCROLL FOR SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text
            FROM message AS m WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = p_session
            AND m.seq > p_seq AND (m.layer = 0 OR p_view = 2 AND m.body IS NOT NULL) ORDER BY m.seq, m.layer;
    END IF;
    LOOP
        FETCH v_rows INTO id, seq, tokens, counter, first, archived_by, digest, body;
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

-- Returns the messages with these ids that have content, in any order.
CREATE FUNCTION get_messages(p_scope text, p_ids uuid[]) RETURNS TABLE (
    id uuid, seq bigint, tokens bigint, counter bigint, first bigint, archived_by uuid, digest bytea, body text, session text
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    RETURN QUERY SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text, m.session
        FROM owner AS o JOIN message AS m ON m.scope = o.scope AND m.epoch = o.epoch
        WHERE o.scope = p_scope AND o.truth = 0 AND m.id = ANY (p_ids) AND m.body IS NOT NULL;
END $$;

-- Returns up to `p_limit` sessions that hold messages, after the session `p_after`, in order.
CREATE FUNCTION list_sessions(p_scope text, p_after text, p_limit bigint) RETURNS TABLE (key text, state bigint[])
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    RETURN QUERY SELECT s.key,
            ARRAY[s.epoch, s.generation, s.revision, s.head, s.active_messages, s.active_tokens, s.asked,
                s.last_at]
        FROM owner AS o JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch
        WHERE o.scope = p_scope AND o.truth = 0 AND s.key > p_after COLLATE "C" AND s.head > 0
        ORDER BY s.key LIMIT p_limit;
END $$;

-- Deletes the content of a message or summary; its number and id stay taken. The digest goes too: a short text can be
-- guessed from it.
CREATE OR REPLACE FUNCTION blank_message(p_scope text, p_epoch bigint, p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE message SET digest = '', tokens = 0, counter = 0, archived_by = NULL, role = NULL, speaker = NULL, trust = NULL,
        at = NULL, words = NULL, body = NULL WHERE scope = p_scope AND epoch = p_epoch AND id = p_id;
END $$;
