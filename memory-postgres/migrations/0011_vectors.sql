-- Search by meaning: a table for each embedding space. Nothing here needs pgvector until the first space is opened.

-- The spaces, so that no table ever holds vectors of another one.
CREATE TABLE vector_space (
    fingerprint text COLLATE "C" PRIMARY KEY,
    model bytea NOT NULL,
    dimension bigint NOT NULL,
    normalised boolean NOT NULL,
    recipe bytea NOT NULL
);

-- Makes the table of a space, called `vector_` and its fingerprint, unless it is there.
--
-- A row per piece. Rows of 384 to 2,000 numbers stay in one page (toast_tuple_target): a scan reads them in a row. There
-- is no index over the vectors: an owner has one of its own (`vector_..._` and the owner's number) once a scan of its
-- rows would be slow, so nobody else's vectors lie on the way to an answer.
CREATE FUNCTION vector_table(fingerprint text, dimension bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := format('%I.%I', current_schema(), 'vector_' || fingerprint);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(name, 0));
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format($table$
        CREATE TABLE %s (
            scope text COLLATE "C" NOT NULL CHECK (scope <> ''),
            owner bigint NOT NULL,
            item bytea NOT NULL,
            piece bigint NOT NULL,
            epoch bigint NOT NULL,
            revision bigint NOT NULL,
            embedding vector(%s) NOT NULL,
            unit bytea NOT NULL,
            session bytea,
            seq bigint,
            role bytea,
            speaker bytea,
            kind bytea,
            trust bigint NOT NULL,
            at bigint NOT NULL,
            expires_at bigint,
            valid_from bigint,
            valid_to bigint,
            superseded_at bigint,
            words bytea[] NOT NULL,
            fields bytea NOT NULL,
            PRIMARY KEY (scope, owner, item, piece)
        ) WITH (toast_tuple_target = 8160)$table$, name, dimension);
    EXECUTE format('CREATE INDEX ON %s (scope, owner, session)', name);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY owner_only ON %s USING (scope = current_setting(''memory.scope'', true))', name);
END
$$;
