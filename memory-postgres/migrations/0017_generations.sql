-- A number that rises with each deletion of an owner's records: a put that was begun before is refused.
ALTER TABLE owner ADD COLUMN generation bigint NOT NULL DEFAULT 0; -- of conversations always 0

-- Opens a writing transaction on an owner's records (`enter_owner`), and returns the epoch and the generation; null for an
-- unknown owner.
CREATE FUNCTION enter_records(p_scope text) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_owner(1::smallint, p_scope);
    RETURN (SELECT ARRAY[epoch, generation] FROM owner WHERE scope = p_scope AND truth = 1);
END $$;

-- Raises the generation above `p_generation`, unless it is above it, or the epoch another one; returns both then.
CREATE FUNCTION advance_records(p_scope text, p_epoch bigint, p_generation bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_owner(1::smallint, p_scope);
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, 1, 0) ON CONFLICT DO NOTHING;
    UPDATE owner SET generation = p_generation + 1
        WHERE scope = p_scope AND truth = 1 AND epoch = p_epoch AND generation <= p_generation;
    RETURN (SELECT ARRAY[epoch, generation] FROM owner WHERE scope = p_scope AND truth = 1);
END $$;

-- What sweeps and deletions have in common.
ALTER FUNCTION delete_records(text, uuid[], bigint) RENAME TO remove_records;

-- Deletes records of the versions said or older ones, raises the generation, and returns how many there were; null, and
-- nothing is changed, if one of them is newer.
CREATE FUNCTION delete_records(p_scope text, p_ids uuid[], p_versions bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_owner(1::smallint, p_scope);
    -- One that is not known yet too, for a put of its first record may be under way.
    INSERT INTO owner (scope, truth, epoch) VALUES (p_scope, 1, 0) ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM owner AS o JOIN record AS r ON r.scope = o.scope AND r.epoch = o.epoch
            JOIN unnest(p_ids, p_versions) AS said (id, version) ON said.id = r.id
            WHERE o.scope = p_scope AND o.truth = 1 AND r.id = ANY (p_ids) AND r.body IS NOT NULL
            AND r.version > said.version) THEN
        RETURN NULL;
    END IF;
    UPDATE owner SET generation = generation + 1 WHERE scope = p_scope AND truth = 1;
    RETURN remove_records(p_scope, p_ids, NULL);
END $$;
