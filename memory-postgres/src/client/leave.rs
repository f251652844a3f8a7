//! The end of a connection whose session has locked or set something.

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

/// Takes back what a session has set and holds.
const LEAVE: &str = "RESET ALL; SELECT pg_advisory_unlock_all()";

/// Closes a connection, and leaves nothing of its session behind: a pooler may keep the session, and lend it to others.
pub(super) async fn leave(mut connection: PgConnection) {
    // If it fails, the connection is broken, and the session ends with it.
    drop(sqlx::raw_sql(LEAVE).execute(&mut connection).await);
    drop(connection.close().await);
}
