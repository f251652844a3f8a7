-- A note that is done through its end is gone, also where that is the largest number there is: nothing is added to it.

-- Takes in what became of notes, as far as nothing happened to their targets since they were read. `p_kind` is 0 for
-- done through `p_number`, 1 for to be tried again at `p_number`, 2 for given up.
CREATE OR REPLACE FUNCTION settle_notes(
    p_truth smallint, p_name text, p_scope text[], p_target smallint[], p_session text[], p_record uuid[],
    p_stamp bigint[], p_upto bigint[], p_attempts bigint[], p_kind smallint[], p_number bigint[], p_why text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id integer;
    b record;
    v_through bigint;
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
        v_through := least(b.number, b.upto);
        DELETE FROM note WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
            AND record = b.record AND stamp = b.stamp AND (v_through >= upto OR "from" > upto);
        IF NOT FOUND THEN
            UPDATE note SET "from" = greatest("from", least(v_through, 9223372036854775806) + 1), attempts = 0, gone = false, dead = false,
                due = -9223372036854775808, why = NULL, place = nextval('note_number')
                WHERE scope = b.scope AND enlisted = v_id AND target = b.target AND session = b.session
                AND record = b.record AND stamp = b.stamp;
        END IF;
    END LOOP;
END $$;
