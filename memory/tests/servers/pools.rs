//! How many connections a URL lets a memory have: those of all its parts together.

use std::time::Duration;

use memory::{Memory, Message, Remember, Role, Scope, SessionId, Settings};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check};
use sqlx::{Connection as _, PgConnection};
use tokio::time::{sleep, timeout};

use crate::places::{fresh_name, with};

/// How many connections there may be, and how many calls of each part are made at once. A guard lets as many calls of each part
/// through as there may be connections, so only the driver can hold two parts to that number together.
const POOL: i64 = 2;
const CALLS: usize = 4;

/// How often is looked, and how long between two looks.
const LOOKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

const PATIENCE: Duration = Duration::from_secs(60);

/// Lets every call of both parts wait. Names are of the schema that the session looks in.
const LOCK: &str = "BEGIN; LOCK TABLE message, record IN ACCESS EXCLUSIVE MODE";

/// Counts the connections that are at work on the tables of a schema, without that of whoever has locked them.
const WORKING: &str = "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_class ON pg_class.oid = relation \
     WHERE relnamespace = to_regnamespace($1) AND pid <> $2";

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

async fn working(watcher: &mut PgConnection, schema: &str, but: i32) -> Result<i64, Failure> {
    sqlx::query_scalar(WORKING).bind(schema).bind(but).fetch_one(watcher).await.map_err(failed)
}

/// Returns an owner of this call alone: calls of one owner may wait for each other.
fn owner(number: usize) -> memory::Result<Scope> {
    Scope::new("acme", &format!("ada{number}"))
}

async fn say(memory: Memory, number: usize) -> memory::Result<()> {
    let session = memory.of(&owner(number)?).session(&SessionId::new("talk")?);
    session.append(vec![Message::new(Role::User, "hello", memory.now())]).await.map(drop)
}

async fn remember(memory: Memory, number: usize) -> memory::Result<()> {
    memory.of(&owner(number)?).remember(Remember::fact("Ada has a rose")).await.map(drop)
}

/// However many calls of conversations and records wait, the server sees no more than the URL says.
pub(crate) async fn hold(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, fresh_name());
    let asked = [("schema", schema.as_str()), ("pool", "2"), ("deadline", "60s")];
    let own = asked.into_iter().fold(url.clone(), |url, (key, value)| with(&url, key, value));
    let memory = Settings::new(own).without_embedder().open().await?.build().await?;
    let mut operator = PgConnection::connect(&url).await.map_err(failed)?;
    let mut watcher = PgConnection::connect(&url).await.map_err(failed)?;
    let looks = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    looks.execute(&mut operator).await.map_err(failed)?;
    sqlx::raw_sql(LOCK).execute(&mut operator).await.map_err(failed)?;
    let but = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut operator).await.map_err(failed)?;
    let mut calls = Vec::new();
    for number in 0..CALLS {
        calls.push(tokio::spawn(say(memory.clone(), number)));
        calls.push(tokio::spawn(remember(memory.clone(), CALLS + number)));
    }
    let full = async {
        while working(&mut watcher, &schema, but).await? < POOL {
            sleep(PAUSE).await;
        }
        Scene::Ok(())
    };
    timeout(PATIENCE, full).await.map_err(|_| Failure::new("fewer connections are used than there may be"))??;
    for _ in 0..LOOKS {
        let seen = working(&mut watcher, &schema, but).await?;
        check!(seen <= POOL, "{seen} connections are at work, where {POOL} may be open");
        sleep(PAUSE).await;
    }
    sqlx::raw_sql("ROLLBACK").execute(&mut operator).await.map_err(failed)?;
    for call in calls {
        call.await.map_err(failed)??;
    }
    memory.close().await?;
    Ok(())
}
