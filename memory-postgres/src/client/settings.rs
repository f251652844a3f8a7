//! The server's version and settings.

use memory_core::error::Error;
use memory_core::store::Durability;
use sqlx::Row;
use sqlx::postgres::PgConnection;

use crate::error::{Attempt, BACKEND, Doing};

/// The oldest version that supports all statements.
const OLDEST: i32 = 130_000;

/// What is being done while they are read, for errors.
pub(super) const READ: &str = "read the server's settings";

/// The relevant settings of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) durability: Durability,
    /// Whether row-level security binds the role.
    pub(super) is_walled: bool,
}

/// Reads the server's settings.
pub(super) async fn read(connection: &mut PgConnection) -> Attempt<Server> {
    let doing = READ;
    let sql = "SELECT current_setting('server_version_num')::int4, current_setting('server_encoding'), \
         current_setting('fsync')::bool AND current_setting('full_page_writes')::bool \
         AND current_setting('synchronous_commit') NOT IN ('off', 'local'), \
         (SELECT NOT (rolsuper OR rolbypassrls) FROM pg_roles WHERE rolname = current_user)";
    let row = sqlx::query(sql).fetch_one(connection).await.doing(doing)?;
    let unsupported = |what: &str| Err(Error::Unsupported { backend: BACKEND, what: what.to_owned() }.into());
    if row.try_get::<i32, _>(0).doing(doing)? < OLDEST {
        return unsupported("use a server older than version 13");
    }
    if row.try_get::<&str, _>(1).doing(doing)? != "UTF8" {
        return unsupported("keep texts in a database whose encoding is not UTF8");
    }
    let is_durable: bool = row.try_get(2).doing(doing)?;
    let is_walled = row.try_get::<Option<bool>, _>(3).doing(doing)?.unwrap_or(false);
    Ok(Server { durability: if is_durable { Durability::Committed } else { Durability::Volatile }, is_walled })
}
