//! How much of the speed of the bare driver an append and a read of the last 50 messages keep.
//!
//! The library goes through [`ChatStore`], with notes for two indexes. The driver alone sends the same statements with the
//! same arguments on a connection of its own, in a schema beside the library's, and the two take turns. It encodes what it
//! appends, and digests it; of a page it makes messages with their numbers and tokens, or owned texts of the rows, which
//! leaves out what reading a body costs anybody. It checks nothing, and knows no deadlines. Beside them the same work without
//! the schema's functions: `begin`, the owner's key for the second wall, the locks, the counters, the rows, the digests of
//! what was there, the counters again, the notes, `commit`, a statement each; and what the disk takes to sync a page of the
//! log, which no durable commit can beat.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench append -- [ROUNDS] [CALLS]`

mod bare;

use memory_core::store::Store as _;
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_core::{Message, Role, Scope, SessionId, Timestamp};
use memory_postgres::{PgChat, Postgres, PostgresConfig};
use memory_testkit::bench::{Outcome, Turn, Turns, against, numbers, say};
use std::io::Write as _;
use std::process::ExitCode;
use uuid::Uuid;

use bare::{Bare, PAGE};

/// How long the session is before anything is measured.
const LENGTH: usize = 10_000;

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    against("postgres", async |url| tokio::spawn(compare(url)).await?)
}

/// How much is measured.
#[derive(Clone, Copy)]
struct Plan {
    rounds: usize,
    calls: usize,
}

async fn open(url: &str, schema: &str) -> Outcome<PgChat> {
    let chat = PgChat::new(&Postgres::connect(PostgresConfig::new(url)?.with_schema(schema)?).await?);
    for index in ["text/english-1", "vector/test-8"] {
        chat.enlist(&IndexName::new(index)?, None, usize::MAX).await?;
    }
    Ok(chat)
}

async fn compare(url: String) -> Outcome<()> {
    let [rounds, calls] = numbers([51, 50]);
    let name = Uuid::now_v7().simple().to_string();
    let schemas = [format!("a{name}"), format!("b{name}")];
    let (scope, session) = (Scope::new("tenant", "subject")?, SessionId::new("session")?);
    let [ours, theirs] = &schemas;
    let (chat, other) = (open(&url, ours).await?, open(&url, theirs).await?);
    for chat in [&chat, &other] {
        for _ in 0..LENGTH / 1_000 {
            chat.append(&scope, &session, &batch(1_000)).await?;
        }
    }
    let mut bare = Bare::connect(&url, theirs, &scope, &session).await?;
    for schema in &schemas {
        bare.analyze(schema).await?;
    }
    let health = chat.ping().await?;
    say(&format!("{} {} ({:?}), {rounds} rounds of {calls} calls", health.server, health.version, health.durability));
    syncs(calls)?;
    for size in [1, 100] {
        appends(&chat, &mut bare, size, Plan { rounds, calls: calls.div_ceil(size.min(5)) }).await?;
    }
    pages(&chat, &mut bare, Plan { rounds, calls }).await?;
    for chat in [&chat, &other] {
        chat.close().await?;
    }
    for schema in &schemas {
        bare.drop_schema(schema).await?;
    }
    Ok(())
}

/// Syncs a file of this machine as often as a round appends.
fn syncs(calls: usize) -> Outcome<()> {
    let mut file = tempfile::tempfile()?;
    let mut turns = Turns::default();
    for _ in 0..5 {
        let turn = Turn::start();
        for _ in 0..calls {
            file.write_all(&[7; 8_192])?;
            file.sync_data()?;
        }
        turns.end("fdatasync, 8 KiB each", turn, calls);
    }
    turns.report("the disk of temporary files");
    Ok(())
}

async fn appends(chat: &PgChat, bare: &mut Bare, size: usize, plan: Plan) -> Outcome<()> {
    let Plan { rounds, calls } = plan;
    let (scope, session) = (bare.scope.clone(), bare.session.clone());
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let work: Vec<_> = (0..calls).map(|_| batch(size)).collect();
        let turn = Turn::start();
        for batch in &work {
            chat.append(&scope, &session, batch).await?;
        }
        turns.end("library", turn, calls);
        let work: Vec<_> = (0..calls).map(|_| batch(size)).collect();
        let turn = Turn::start();
        for batch in &work {
            bare.append(batch).await?;
        }
        turns.end("driver alone, the same statement", turn, calls);
        let work: Vec<_> = (0..calls).map(|_| batch(size)).collect();
        let turn = Turn::start();
        for batch in &work {
            bare.append_by_statements(batch).await?;
        }
        turns.end("driver alone, statement by statement", turn, calls);
    }
    turns.report(&format!("append of {size}"));
    Ok(())
}

async fn pages(chat: &PgChat, bare: &mut Bare, plan: Plan) -> Outcome<()> {
    let Plan { rounds, calls } = plan;
    let (scope, session) = (bare.scope.clone(), bare.session.clone());
    let page = Page::newest(PAGE);
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let turn = Turn::start();
        for _ in 0..calls {
            whole(chat.read(&scope, &session, &page).await?.messages.len())?;
        }
        turns.end("library", turn, calls);
        let turn = Turn::start();
        for _ in 0..calls {
            whole(bare.messages().await?.len())?;
        }
        turns.end("driver alone, the same statement, messages", turn, calls);
        let turn = Turn::start();
        for _ in 0..calls {
            whole(bare.texts().await?.len())?;
        }
        turns.end("driver alone, the same statement, texts", turn, calls);
        let turn = Turn::start();
        for _ in 0..calls {
            whole(bare.texts_by_statements().await?.len())?;
        }
        turns.end("driver alone, statement by statement", turn, calls);
    }
    turns.report(&format!("last {PAGE} of more than {LENGTH}"));
    Ok(())
}

fn whole(rows: usize) -> Outcome<()> {
    if rows == PAGE { Ok(()) } else { Err(format!("a page of {rows} rows").into()) }
}

/// Messages of about 280 bytes, the mean of the chat corpora.
fn batch(count: usize) -> Append {
    let text = "I moved to the new flat last week, and the cat has already found the warmest place of all, which is \
         the keyboard of the machine on which I am writing this very message to you. ";
    let at = Timestamp(1_700_000_000_000_000);
    let new = |_| NewMessage::sized(Message::new(Role::User, text.repeat(2), at), 70);
    Append::new((0..count).map(new).collect())
}
