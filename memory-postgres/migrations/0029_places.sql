-- Where the incarnations of search indexes stand, the role of an application could not read if its rights were older than that.

-- Who may use search may use it: the rights were given when there was no such table.
DO $$
DECLARE
    v_right text;
BEGIN
    FOR v_right IN
        SELECT format('GRANT %s ON index_place TO %s', a.privilege_type,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
        FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a WHERE c.oid = 'index_owner'::regclass
    LOOP
        EXECUTE v_right;
    END LOOP;
END $$;
