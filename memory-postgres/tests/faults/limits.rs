//! How long the server lets a statement run, by the deadline that was set.

use std::time::Duration;

use memory_core::store::chat::{Append, ChatStore as _};
use memory_postgres::{PgChat, Postgres};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};

use super::writers::{Talk, new};
use crate::support::{admin, config};

/// More messages than are written within the usual deadline.
const MANY: usize = 501;

/// Notes the limit of each statement that appends.
const WATCH: &str = "DROP TABLE IF EXISTS limits.seen; DROP FUNCTION IF EXISTS limits.watch() CASCADE; \
     CREATE TABLE limits.seen (text text); GRANT ALL ON limits.seen TO PUBLIC; \
     CREATE FUNCTION limits.watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     INSERT INTO limits.seen VALUES (current_setting('statement_timeout')); RETURN NULL; END $$; \
     CREATE TRIGGER watch AFTER INSERT ON limits.message FOR EACH STATEMENT EXECUTE FUNCTION limits.watch()";

/// A call that writes many rows has half a minute, or the deadline if it is longer, and so have its statements.
pub(crate) async fn bulk(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let mut admin = admin(server.url()).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    for (seconds, promised) in [(3, "30s"), (90, "89s")] {
        let config = config(server.url(), "limits")?.with_deadline(Duration::from_secs(seconds));
        let chat = PgChat::new(&Postgres::connect(config).await?);
        sqlx::raw_sql(WATCH).execute(&mut admin).await.map_err(failed)?;
        let (talk, messages) = (Talk::new()?, (0..MANY).map(|number| new(number.to_string())).collect());
        chat.append(&talk.scope, &talk.session, &Append::new(messages)).await?;
        let seen = sqlx::query_scalar::<_, String>("SELECT DISTINCT text FROM limits.seen").fetch_all(&mut admin).await;
        equal(seen.map_err(failed)?, [promised])?;
    }
    server.remove().await.map_err(Failure::from)
}
