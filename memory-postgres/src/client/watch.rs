//! Whether the server is still at a work of which nothing is heard for long.
//!
//! A network may drop a connection without a word. Its two ends then wait for each other, the server with locks in its hands.

use std::sync::Arc;
use std::time::Duration;

use memory_core::error::Result;
use sqlx::postgres::PgConnection;

use super::shared::Shared;
use super::work::{self, Call};
use crate::error::Doing;

const LOOK: &str = "look whether a work goes on";

/// The bounds of the time between two looks.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Names the server's process of a connection. With its start, because process numbers are given again.
const PROCESS: &str = "SELECT pid || ' ' || extract(epoch FROM backend_start) FROM pg_stat_activity \
     WHERE pid = pg_backend_pid()";

/// Whether the process has gone, or has waited for its client for so many seconds. That one is ended, and gives its locks back.
const GONE: &str = "SELECT coalesce((SELECT \
         CASE WHEN state LIKE 'idle%' AND state_change < clock_timestamp() - make_interval(secs => $2) \
         THEN pg_terminate_backend(pid) ELSE false END \
     FROM pg_stat_activity WHERE pid || ' ' || extract(epoch FROM backend_start) = $1), true)";

/// Returns the name of the server's process of a connection.
pub(super) async fn process(connection: &mut PgConnection) -> Result<String> {
    let process = sqlx::query_scalar(PROCESS).fetch_one(connection).await;
    process.doing(LOOK).map_err(|failure| failure.error)
}

/// Returns once the process works no more for its client. It looks by another connection, and waits for a server that does not
/// answer.
pub(super) async fn gone(shared: &Arc<Shared>, process: &str) {
    let pause = (shared.config.deadline * 10).clamp(SHORTEST, LONGEST);
    loop {
        tokio::time::sleep(pause).await;
        let input = (process.to_owned(), pause.as_secs_f64());
        let look = work::run(shared, Call::statement(LOOK), input, |connection, (process, seconds)| {
            Box::pin(async move {
                sqlx::query_scalar(GONE).bind(process).bind(seconds).fetch_one(connection).await.doing(LOOK)
            })
        });
        if look.await.unwrap_or(false) {
            return;
        }
    }
}
