-- Own indexes of owners that were erased, which the role of an application could not drop, because it does not own them.

CREATE TABLE index_left (
    name text COLLATE "C" PRIMARY KEY      -- of an index over the table of a space; the next build of their owner drops it
);

-- Who may use search may say which: the rights were given when there was no such table.
DO $$
DECLARE
    v_right text;
BEGIN
    FOR v_right IN
        SELECT format('GRANT %s ON index_left TO %s', a.privilege_type,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
        FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a WHERE c.oid = 'index_owner'::regclass
    LOOP
        EXECUTE v_right;
    END LOOP;
END $$;
