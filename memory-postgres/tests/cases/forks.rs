//! What a fork costs the server: the rows that its statements read and write, as the server counts them.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::Memory;
use memory_core::store::chat::{Append, ChatStore as _, NewMessage};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Scope, Seq, SessionId, Timestamp, Truth};
use memory_postgres::{PgChat, PgRecords, Postgres};
use memory_testkit::{Failure, Scene, check, length};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::support::config;

/// How many messages the long conversation has, unless the environment says otherwise.
const LONG: usize = 2_000;
/// The most messages of one append.
const PART: usize = 1_000;
/// How many rows more a fork may read in a schema of many messages, where the server may use other indexes.
const MORE: i64 = 50;

/// What the server has counted so far: messages that were inserted, rows that were written, and rows read from tables and indexes.
const COUNTED: &str = "SELECT coalesce(sum(n_tup_ins) FILTER (WHERE relname = 'message'), 0)::int8, \
     coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::int8, \
     (coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) \
     + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes WHERE schemaname = $1))::int8 \
     FROM pg_stat_user_tables WHERE schemaname = $1";

/// Lets the server know how much there is, so that it chooses its indexes by that.
const ANALYZE: &str = "ANALYZE owner, session, message, record, enlisted, note";

/// The rows that statements wrote and read.
type Rows = (i64, i64);

/// A schema of its own, and a connection that asks the server what it has counted there.
struct Counted {
    url: String,
    schema: String,
    admin: PgConnection,
}

impl Counted {
    async fn open(url: &str) -> Result<Self, Failure> {
        let schema = format!("t{}", uuid::Uuid::now_v7().simple());
        let mut admin = PgConnection::connect(url).await.map_err(|error| failed(&error))?;
        let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
        path.execute(&mut admin).await.map_err(|error| failed(&error))?;
        Ok(Self { url: url.to_owned(), schema, admin })
    }

    /// Opens the schema by one connection. The server counts what that did once it is closed.
    async fn connect(&self) -> Result<Postgres, Failure> {
        Ok(Postgres::connect(config(&self.url, &self.schema)?.with_connections(1)).await?)
    }

    /// Returns what was counted, once all of so many messages are and it counts no further.
    async fn rows(&mut self, messages: usize) -> Result<Rows, Failure> {
        let mut last = None;
        for _ in 0..600 {
            let query = sqlx::query_as(COUNTED).bind(&self.schema);
            let counted: (i64, i64, i64) = query.fetch_one(&mut self.admin).await.map_err(|error| failed(&error))?;
            if u64::try_from(counted.0).ok() == Some(messages as u64) && last == Some(counted) {
                return Ok((counted.1, counted.2));
            }
            last = Some(counted);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(Failure::new(format!("of {messages} messages the server counted {last:?}")))
    }
}

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// Fills a conversation with so many messages and forks it at the last. Returns the rows that the fork wrote and read.
async fn forked(url: &str, messages: usize) -> Result<Rows, Failure> {
    let mut counted = Counted::open(url).await?;
    let (scope, session) = (Scope::new("forks", "ada")?, SessionId::new("talk")?);
    let server = counted.connect().await?;
    let chat = PgChat::new(&server);
    let mut left = messages;
    while left > 0 {
        let part = left.min(PART);
        let new = || NewMessage::sized(Message::new(Role::User, "words", Timestamp(0)), 1);
        chat.append(&scope, &session, &Append::new((0..part).map(|_| new()).collect())).await?;
        left -= part;
    }
    server.close().await;
    sqlx::raw_sql(ANALYZE).execute(&mut counted.admin).await.map_err(|error| failed(&error))?;
    let before = counted.rows(messages).await?;

    let server = counted.connect().await?;
    let truth = (Truth::chat(Arc::new(PgChat::new(&server))), Truth::records(Arc::new(PgRecords::new(&server))));
    let builder = Memory::builder(truth.0, truth.1).buffer(BufferConfig::default().with_folding(Folding::Off));
    let talk = builder.build().await?.of(&scope).session(&session);
    talk.fork(Seq(messages as u64), &SessionId::new("branch")?).await?;
    server.close().await;
    // The row that leads to the past is one more.
    let after = counted.rows(messages + 1).await?;
    counted.admin.close().await.map_err(|error| failed(&error))?;
    Ok((after.0 - before.0, after.1 - before.1))
}

/// A fork at the last of many messages writes the rows that one of ten messages writes, and reads no more.
pub(crate) async fn of_any_length(url: String) -> Scene {
    let (short, long) = (forked(&url, 10).await?, forked(&url, length(LONG)).await?);
    check!(long.0 == short.0, "rows written: {} of ten messages, {} of many", short.0, long.0);
    check!(short.1 > 0 && long.1 <= short.1 + MORE, "rows read: {} of ten messages, {} of many", short.1, long.1);
    Ok(())
}
