-- Which making of an index truth has filled, and how far what was stored before is noted for it.

ALTER TABLE enlisted
    ADD COLUMN incarnation uuid,                       -- null if it is not known
    ADD COLUMN is_noted boolean NOT NULL DEFAULT true, -- whether all that was stored before is noted
    ADD COLUMN noted_scope text COLLATE "C" NOT NULL DEFAULT '', -- else through which owner,
    ADD COLUMN noted_key text COLLATE "C" NOT NULL DEFAULT '';   -- and through which session or record of it; '' for all

-- The incarnations of the search indexes that are kept here. What is drawn first stays.
CREATE TABLE index_place (
    name text COLLATE "C" PRIMARY KEY,     -- such as `text/english-1`
    incarnation uuid NOT NULL
);

-- Returns the incarnation of an index; `p_drawn` if it has none yet.
CREATE FUNCTION index_incarnation(p_name text, p_drawn uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_incarnation uuid;
BEGIN
    SELECT incarnation INTO v_incarnation FROM index_place WHERE name = p_name;
    IF v_incarnation IS NULL THEN
        INSERT INTO index_place (name, incarnation) VALUES (p_name, p_drawn) ON CONFLICT DO NOTHING;
        SELECT incarnation INTO v_incarnation FROM index_place WHERE name = p_name;
    END IF;
    RETURN v_incarnation;
END $$;

-- Returns the incarnation of a space of vectors, whose table is made if it is missing: that is another incarnation.
CREATE FUNCTION vector_incarnation(p_fingerprint text, p_dimension bigint, p_drawn uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_table text := format('%I.%I', current_schema(), 'vector_' || p_fingerprint);
BEGIN
    IF to_regclass(v_table) IS NULL THEN
        -- As `vector_table` does, so that one process alone finds it missing.
        PERFORM pg_advisory_xact_lock(hashtextextended(v_table, 0));
        IF to_regclass(v_table) IS NULL THEN
            DELETE FROM index_place WHERE name = 'vector/' || p_fingerprint;
            PERFORM vector_table(p_fingerprint, p_dimension);
        END IF;
    END IF;
    RETURN index_incarnation('vector/' || p_fingerprint, p_drawn);
END $$;

DROP FUNCTION enlist_index;

-- Makes every later write note itself for an index, and has everything noted anew if it is of another incarnation than is
-- known. Waits for all writes that are under way and know nothing of the index, but not for long, because others wait
-- behind it: returns false if they take longer.
CREATE FUNCTION begin_enlisting(p_truth smallint, p_name text, p_incarnation uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '20ms', true);
    BEGIN
        PERFORM pg_advisory_xact_lock('enlisted'::regclass::oid::integer, 0);
    EXCEPTION WHEN lock_not_available THEN
        RETURN false;
    END;
    PERFORM set_config('lock_timeout', '0', true);
    INSERT INTO enlisted AS e (truth, name, incarnation, is_noted) VALUES (p_truth, p_name, p_incarnation, false)
        ON CONFLICT (truth, name) DO UPDATE SET incarnation = excluded.incarnation, is_noted = false, noted_scope = '', noted_key = ''
        WHERE e.incarnation IS DISTINCT FROM excluded.incarnation AND excluded.incarnation IS NOT NULL;
    RETURN true;
END $$;

-- Notes up to `p_limit` items of what was stored before, of a few owners, for an index that is enlisted. Returns whether all
-- is noted. What is noted already stays, and a settlement under way does not cover it.
CREATE FUNCTION note_stored(p_truth smallint, p_name text, p_limit bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    e enlisted;
    v_scope text COLLATE "C";
    v_key text COLLATE "C";
    v_last text COLLATE "C";
    v_record uuid;
    v_epoch bigint;
    v_rows bigint;
    v_left bigint := p_limit;
    v_owners integer := 0;
BEGIN
    -- Before the row, in the order of those who enlist and retire.
    PERFORM pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0);
    SELECT * INTO e FROM enlisted WHERE truth = p_truth AND name = p_name FOR UPDATE;
    IF NOT FOUND OR e.is_noted THEN
        RETURN true;
    END IF;
    v_key := e.noted_key;
    LOOP
        SELECT o.scope INTO v_scope FROM owner AS o
            WHERE o.truth = p_truth AND o.scope >= e.noted_scope AND (v_key <> '' OR o.scope > e.noted_scope)
            ORDER BY o.scope LIMIT 1;
        IF NOT FOUND THEN
            UPDATE enlisted SET is_noted = true, noted_scope = '', noted_key = '' WHERE id = e.id;
            RETURN true;
        END IF;
        IF v_left = 0 OR v_owners = 50 THEN
            UPDATE enlisted SET noted_scope = e.noted_scope, noted_key = v_key WHERE id = e.id;
            RETURN false;
        END IF;
        -- Its writers wait, so that what is read and what is noted are of one moment.
        v_epoch := enter_owner(p_truth, v_scope);
        IF p_truth = 0 THEN
            WITH stored AS (
                SELECT s.key, s.head FROM session AS s
                WHERE s.scope = v_scope AND s.epoch = v_epoch AND s.key > v_key ORDER BY s.key LIMIT v_left
            ), noted AS (
                INSERT INTO note AS n (scope, enlisted, target, session, epoch, "from", upto, stamp, place)
                SELECT v_scope, e.id, 1, m.key, v_epoch, 1, m.head, m.number, m.number
                FROM (SELECT key, head, nextval('note_number') AS number FROM stored WHERE head > 0 ORDER BY key) AS m
                ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
                    epoch = excluded.epoch, "from" = excluded."from", upto = greatest(n.upto, excluded.upto),
                    stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false
            ) SELECT count(*), max(key) INTO v_rows, v_last FROM stored;
        ELSE
            v_record := coalesce(nullif(v_key, '')::uuid, '00000000-0000-0000-0000-000000000000');
            WITH stored AS (
                SELECT r.id, r.version, r.body IS NOT NULL AS is_there FROM record AS r
                WHERE r.scope = v_scope AND r.epoch = v_epoch AND r.id >= v_record AND (v_key = '' OR r.id <> v_record)
                ORDER BY r.id LIMIT v_left
            ), noted AS (
                INSERT INTO note AS n (scope, enlisted, target, record, epoch, "from", upto, stamp, place)
                SELECT v_scope, e.id, 2, m.id, v_epoch, m.version, m.version, m.number, m.number
                FROM (SELECT id, version, nextval('note_number') AS number FROM stored WHERE is_there ORDER BY id) AS m
                ON CONFLICT (scope, enlisted, target, session, record) DO UPDATE SET
                    epoch = excluded.epoch, "from" = excluded."from", upto = excluded.upto, gone = false,
                    stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = false
            ) SELECT count(*), max(id::text COLLATE "C") INTO v_rows, v_last FROM stored;
        END IF;
        e.noted_scope := v_scope;
        v_key := CASE WHEN v_rows < v_left THEN '' ELSE v_last END;
        v_left := v_left - v_rows;
        v_owners := v_owners + 1;
    END LOOP;
END $$;
