-- Upkeep: the notes that indexes follow, and what crosses owners.

-- Adds to what is noted of a session, so that a settlement under way does not cover it.
CREATE FUNCTION note_changed(p_scope text, p_epoch bigint, p_session text, p_from bigint, p_upto bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note AS n (scope, enlisted, target, session, epoch, "from", upto, stamp, place)
    SELECT p_scope, e.id, 1, p_session, p_epoch, p_from, p_upto, number, number
    FROM enlisted AS e, LATERAL nextval('note_number') AS number WHERE e.truth = 0
    ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
        epoch = excluded.epoch, "from" = least(n."from", excluded."from"), upto = greatest(n.upto, excluded.upto),
        stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false;
END $$;

-- Deletes the content of a message or summary; its number and id stay taken. The digest goes too: a short text can be
-- guessed from it.
CREATE FUNCTION blank_message(p_scope text, p_epoch bigint, p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE message SET digest = '', tokens = 0, archived_by = NULL, role = NULL, speaker = NULL, trust = NULL, at = NULL,
        words = NULL, body = NULL WHERE scope = p_scope AND epoch = p_epoch AND id = p_id;
END $$;

-- Forgets messages and the summaries that cover them, whose originals come back; returns what was touched. Keeps all
-- other writers of the owner out, because the messages may be in any number of sessions.
CREATE FUNCTION redact_messages(p_scope text, p_ids uuid[])
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
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.archived_by = v_next;
            SELECT m.layer > 0, m.archived_by INTO v_is_summary, v_above FROM message AS m
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.id = v_next;
            IF NOT FOUND THEN
                -- One that a restore has not brought yet must not come any more, so its id is taken.
                INSERT INTO message (scope, epoch, session, seq, layer, id, digest, tokens)
                    SELECT p_scope, v_epoch, v_session, v_seq, max(m.layer) + 1, v_next, '', 0 FROM message AS m
                    WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.session = v_session AND m.seq = v_seq;
            ELSIF v_is_summary THEN
                -- A restored mark may name a message, which stands for nothing.
                PERFORM blank_message(p_scope, v_epoch, v_next);
            END IF;
            v_next := v_above;
        END LOOP;
        IF v_layer > 0 THEN
            UPDATE message AS m SET archived_by = NULL
                WHERE m.scope = p_scope AND m.epoch = v_epoch AND m.archived_by = v_id;
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

-- Takes the place of what was noted of a session (its deletion), or of the owner, whose session is empty (its erasure).
CREATE FUNCTION note_gone(p_truth smallint, p_scope text, p_epoch bigint, p_session text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note AS n (scope, enlisted, target, session, epoch, "from", upto, stamp, place, gone)
    SELECT p_scope, e.id, CASE p_session WHEN '' THEN 0 ELSE 1 END, p_session, p_epoch,
        CASE p_session WHEN '' THEN 0 ELSE 1 END, 0, number, number, p_session <> ''
    FROM enlisted AS e, LATERAL nextval('note_number') AS number WHERE e.truth = p_truth
    ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
        epoch = excluded.epoch, "from" = excluded."from", upto = excluded.upto, gone = excluded.gone,
        stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false;
END $$;

-- Makes every later write note itself for an index, and notes what is stored already; nothing if the index is known.
-- Waits for all writes that are under way and know nothing of the index.
CREATE FUNCTION enlist_index(p_truth smallint, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id integer;
    o record;
BEGIN
    PERFORM pg_advisory_xact_lock('enlisted'::regclass::oid::integer, 0);
    INSERT INTO enlisted (truth, name) VALUES (p_truth, p_name) ON CONFLICT DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        RETURN;
    END IF;
    FOR o IN SELECT scope, epoch FROM owner WHERE truth = p_truth ORDER BY scope LOOP
        PERFORM set_config('memory.scope', o.scope, true);
        IF p_truth = 0 THEN
            INSERT INTO note (scope, enlisted, target, session, epoch, "from", upto, stamp, place)
            SELECT o.scope, v_id, 1, m.key, o.epoch, 1, m.head, m.number, m.number
            FROM (SELECT key, head, nextval('note_number') AS number FROM session
                WHERE scope = o.scope AND epoch = o.epoch AND head > 0 ORDER BY key) AS m;
        ELSE
            INSERT INTO note (scope, enlisted, target, record, epoch, "from", upto, stamp, place)
            SELECT o.scope, v_id, 2, m.id, o.epoch, m.version, m.version, m.number, m.number
            FROM (SELECT id, version, nextval('note_number') AS number FROM record
                WHERE scope = o.scope AND epoch = o.epoch AND body IS NOT NULL ORDER BY id) AS m;
        END IF;
    END LOOP;
END $$;

-- Drops an index with its notes.
CREATE FUNCTION retire_index(p_truth smallint, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id integer;
BEGIN
    PERFORM pg_advisory_xact_lock('enlisted'::regclass::oid::integer, 0);
    DELETE FROM enlisted WHERE truth = p_truth AND name = p_name RETURNING id INTO v_id;
    DELETE FROM note WHERE enlisted = v_id;
END $$;

-- Takes in what became of notes, as far as nothing happened to their targets since they were read. `p_kind` is 0 for
-- done through `p_number`, 1 for to be tried again at `p_number`, 2 for given up.
CREATE FUNCTION settle_notes(
    p_truth smallint, p_name text, p_scope text[], p_target smallint[], p_session text[], p_record uuid[],
    p_stamp bigint[], p_upto bigint[], p_attempts bigint[], p_kind smallint[], p_number bigint[], p_why text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id integer;
    b record;
    v_from bigint;
BEGIN
    SELECT id INTO v_id FROM enlisted WHERE truth = p_truth AND name = p_name;
    IF v_id IS NULL THEN
        RETURN;
    END IF;
    FOR b IN SELECT * FROM unnest(
            p_scope, p_target, p_session, p_record, p_stamp, p_upto, p_attempts, p_kind, p_number, p_why)
            AS b (scope, target, session, record, stamp, upto, attempts, kind, number, why) LOOP
        IF b.kind = 1 THEN
            UPDATE note SET attempts = greatest(attempts, b.attempts), due = b.number, why = b.why,
                place = nextval('note_number')
                WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
                AND record = b.record AND stamp = b.stamp AND NOT dead;
            CONTINUE;
        ELSIF b.kind = 2 THEN
            -- Messages appended since the note was read have not been tried: then it goes on.
            UPDATE note SET attempts = greatest(attempts, b.attempts), dead = dead OR upto = b.upto, why = b.why
                WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
                AND record = b.record AND stamp = b.stamp;
            CONTINUE;
        END IF;
        v_from := least(b.number, b.upto, 9223372036854775806) + 1;
        DELETE FROM note WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
            AND record = b.record AND stamp = b.stamp AND greatest("from", v_from) > upto;
        IF NOT FOUND THEN
            UPDATE note SET "from" = greatest("from", v_from), attempts = 0, gone = false, dead = false,
                due = -9223372036854775808, why = NULL, place = nextval('note_number')
                WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
                AND record = b.record AND stamp = b.stamp;
        END IF;
    END LOOP;
END $$;

-- Raises an owner's epoch by one, or to `p_below` if it is before, and drops its notes but those of its erasure. Where it
-- was raised by one the erasure is noted. Returns the epoch.
CREATE FUNCTION bury_owner(p_truth smallint, p_scope text, p_below bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint := coalesce(enter_owner(p_truth, p_scope), 0);
BEGIN
    IF v_epoch >= p_below THEN
        RETURN v_epoch;
    END IF;
    v_epoch := coalesce(p_below, v_epoch + 1);
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, p_truth, v_epoch)
        ON CONFLICT (scope, truth) DO UPDATE SET epoch = excluded.epoch;
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

-- Deletes up to `p_limit` rows of an owner from before `p_below`; returns how many of them were items, and whether
-- there may be more.
CREATE FUNCTION erase_some(
    p_truth smallint, p_scope text, p_below bigint, p_limit bigint, OUT items bigint, OUT is_more boolean
) LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
    v_rows bigint;
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
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

-- Counts the items of an owner from before `p_below`.
CREATE FUNCTION count_left(p_truth smallint, p_scope text, p_below bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    IF p_truth = 0 THEN
        RETURN (SELECT count(*) FROM message WHERE scope = p_scope AND epoch < p_below);
    END IF;
    RETURN (SELECT count(*) FROM record WHERE scope = p_scope AND epoch < p_below AND body IS NOT NULL);
END $$;
