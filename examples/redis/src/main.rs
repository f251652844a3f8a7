//! Two agents of a team in two processes, as it were: their conversation lies in Redis, where both append and read it, and
//! the board of the team there tells each what the other is at. What they remember, and search, stays in a SQLite file.
//!
//! `REDIS_URL=redis://localhost cargo run -p example-redis -- memory.sqlite`

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use memory::redis::{Redis, RedisBlackboard, RedisChat, RedisConfig};
use memory::sqlite::{Sqlite, SqliteConfig, SqliteRecords, SqliteText};
use memory::store::{Analysis, Truth};
use memory::{BoardEntry, Error, Memory, Message, Result, Role, Scope, Search, SessionId};

#[tokio::main]
async fn main() -> Result<()> {
    let file = std::env::args().nth(1).ok_or_else(|| Error::invalid("give the path of a file"))?;
    let config = RedisConfig::from_env()?.ok_or_else(|| Error::invalid("set REDIS_URL"))?;
    let team = Scope::team("acme", "research")?;
    let session = SessionId::new("standup")?;

    let planner = agent(config.clone(), &file).await?;
    let writer = agent(config, &file).await?;

    // The order of what both say is the server's: numbers without gaps, whoever appends.
    let of_planner = planner.of(&team).session(&session);
    let of_writer = writer.of(&team).session(&session);
    of_planner.append(vec![Message::new(Role::User, "Who writes up the teapot survey?", planner.now())]).await?;
    let answer = Message::new(Role::Assistant, "I do, by Friday.", writer.now());
    let durability = of_writer.append(vec![answer]).await?.durability;

    // The board is small and forgets: what was used least goes first, and this after an hour.
    let entry = BoardEntry::new("writer", "writing up the teapot survey").with_ttl(Duration::from_secs(3_600));
    writer.of(&team).blackboard().put(&entry).await?;
    let board = planner.of(&team).blackboard();
    let seen = board.search("Who has the survey?", 1).await?.hits.pop().map(|hit| hit.entry.value).unwrap_or_default();

    // Search follows Redis as it follows any other store.
    planner.upkeep_once().await?;
    let found = planner.of(&team).search(&Search::new("teapot").limit(3)).await?;
    let context = of_planner.context("When is it done?", 500).await?;

    let mut out = io::stdout().lock();
    let said = |error: io::Error| Error::invalid(error.to_string());
    writeln!(out, "messages are {durability:?}").map_err(said)?;
    writeln!(out, "the board says: {seen}").map_err(said)?;
    writeln!(out, "the search found {} of them", found.hits.len()).map_err(said)?;
    writeln!(out, "the context has {} messages", context.receipt.history.kept_messages).map_err(said)
}

/// Opens what one process holds: a memory with its truth in two stores, and boards in Redis.
async fn agent(config: RedisConfig, file: &str) -> Result<Memory> {
    let redis = Redis::connect(config).await?;
    let sqlite = Sqlite::connect(SqliteConfig::new(file)).await?;
    let chat = Truth::chat(Arc::new(RedisChat::new(&redis)?));
    let records = Truth::records(Arc::new(SqliteRecords::new(&sqlite)));
    let text = Arc::new(SqliteText::new(&sqlite, Analysis::english().name()));
    let board = Arc::new(RedisBlackboard::new(&redis, RedisBlackboard::DEFAULT_CAPACITY)?);
    Memory::builder(chat, records).text(text).blackboard(board).build().await
}
