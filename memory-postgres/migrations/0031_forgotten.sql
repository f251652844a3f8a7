-- Whoever looks messages up by id is told which of them were forgotten: a copy of one that waits elsewhere must not be shown.

CREATE OR REPLACE FUNCTION get_messages(p_scope text, p_ids uuid[]) RETURNS TABLE (
    id uuid, seq bigint, tokens bigint, counter bigint, first bigint, archived_by uuid, digest bytea, body text, session text
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('memory.scope', p_scope, true);
    RETURN QUERY SELECT m.id, m.seq, m.tokens, m.counter, m.first, m.archived_by, m.digest, m.body::text, m.session
        FROM owner AS o JOIN message AS m ON m.scope = o.scope AND m.epoch = o.epoch
        WHERE o.scope = p_scope AND o.truth = 0 AND m.id = ANY (p_ids);
END $$;
