//! Who else may change the schema that holds the tables.
//!
//! It opens the search path of every connection. Whoever makes a function, an operator or a table in it can have our statements
//! call or write that, with the rights of our role.

use memory_core::error::{Error, Result};
use sqlx::postgres::PgConnection;

use crate::error::{BACKEND, Doing};

const DOING: &str = "look who may change the schema";

/// Finds a role that may make objects in the schema `$1`, or one that owns some there. Not the schema's owner and its members, nor
/// superusers, nor the role that is logged in, nor the one that was given the right and owns our tables. Functions are qualified
/// and types are equal, so that nothing in the schema is called yet. What is in it is found by what depends on it: no index of the
/// catalog leads from a schema to its relations, and a database may have very many.
const STRANGERS: &str = "WITH home AS ( \
         SELECT oid, nspowner, nspacl FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.to_regnamespace($1)::oid), \
     inside AS ( \
         SELECT part.classid, part.objid FROM home JOIN pg_catalog.pg_depend AS part ON part.refobjid = home.oid \
         WHERE part.refclassid = 'pg_catalog.pg_namespace'::regclass::oid), \
     maker AS ( \
         SELECT acl.grantee AS who FROM home CROSS JOIN LATERAL pg_catalog.aclexplode(home.nspacl) AS acl \
         WHERE acl.privilege_type = 'CREATE'), \
     trusted AS ( \
         SELECT known.oid FROM home CROSS JOIN pg_catalog.pg_roles AS known \
         WHERE known.rolname = current_user OR pg_catalog.pg_has_role(known.oid, home.nspowner, 'MEMBER') \
         OR EXISTS (SELECT FROM maker CROSS JOIN inside JOIN pg_catalog.pg_class AS made ON made.oid = inside.objid \
             WHERE inside.classid = 'pg_catalog.pg_class'::regclass::oid \
             AND maker.who = known.oid AND made.relowner = known.oid AND made.relname = 'memory_migrations')), \
     stranger AS ( \
         SELECT who, NULL::text AS object FROM maker \
         UNION ALL SELECT made.proowner, pg_catalog.format('function %I', made.proname) \
         FROM inside JOIN pg_catalog.pg_proc AS made ON made.oid = inside.objid \
         WHERE inside.classid = 'pg_catalog.pg_proc'::regclass::oid \
         UNION ALL SELECT made.oprowner, pg_catalog.format('operator %s', made.oprname) \
         FROM inside JOIN pg_catalog.pg_operator AS made ON made.oid = inside.objid \
         WHERE inside.classid = 'pg_catalog.pg_operator'::regclass::oid \
         UNION ALL SELECT made.relowner, pg_catalog.format('relation %I', made.relname) \
         FROM inside JOIN pg_catalog.pg_class AS made ON made.oid = inside.objid \
         WHERE inside.classid = 'pg_catalog.pg_class'::regclass::oid) \
     SELECT CASE who WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(who)) END, object \
     FROM stranger WHERE who NOT IN (SELECT oid FROM trusted) ORDER BY object NULLS FIRST, who LIMIT 1";

/// Whether all roles may make objects in `public`, which follows our schema in the search path: so it is in databases that a
/// server before version 15 made.
const OPEN: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace AS home \
     CROSS JOIN LATERAL pg_catalog.aclexplode(home.nspacl) AS acl \
     WHERE home.nspname = 'public' AND acl.grantee = 0::oid AND acl.privilege_type = 'CREATE')";

/// Checks that no stranger may change the schema, or has changed it. One that is not there yet is nobody's.
///
/// # Errors
/// `Unsupported` if a stranger may or has, with what mends it.
pub(super) async fn check(connection: &mut PgConnection, schema: &str) -> Result<()> {
    let stranger = sqlx::query_as::<_, (String, Option<String>)>(STRANGERS).bind(schema);
    let stranger = stranger.fetch_optional(connection).await.doing(DOING).map_err(|failure| failure.error)?;
    let what = match stranger {
        None => return Ok(()),
        Some((who, None)) => format!(
            "use the schema {schema}: {who} may make functions in it that statements would call; \
             REVOKE CREATE ON SCHEMA {schema} FROM {who}"
        ),
        Some((who, Some(object))) => format!(
            "use the schema {schema}: the {object} in it belongs to {who}; drop it, or make it the schema owner's"
        ),
    };
    Err(Error::Unsupported { backend: BACKEND, what })
}

/// Returns whether all roles may make objects in the schema `public`.
pub(super) async fn is_public_open(connection: &mut PgConnection) -> Result<bool> {
    let open = sqlx::query_scalar(OPEN).fetch_one(connection).await;
    open.doing(DOING).map_err(|failure| failure.error)
}
