//! Appends by the journal, beside those straight into the file: through the traits, and through two memories.
//!
//! They take turns, in files side by side. The memory behind a journal sends what waits at the same time, and is measured twice:
//! until every append is acknowledged, and until all of it is in the file.
//!
//! `cargo bench -p memory-sqlite --bench journal -- [ROUNDS] [BATCHES] [BATCH] [FOLDER]` ends with an error where a journal costs more
//! than a tenth of the rate, by the traits or by a memory.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Memory, Session};
use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::store::journal::Journal;
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_core::time::Stopwatch;
use memory_core::{Analysis, Message, Role, Scope, SessionId, Stores, Timestamp, Truth};
use memory_sqlite::{JournalConfig, Sqlite, SqliteChat, SqliteConfig, SqliteJournal, SqliteRecords, SqliteText};
use memory_testkit::bench::alone;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long all of a round may take to reach the file.
const PATIENCE: Duration = Duration::from_secs(600);

/// The share of the rate of appends straight into the file that appends by a journal have, at least.
const LEAST: f64 = 0.9;

/// How much is measured.
struct Plan {
    rounds: usize,
    batches: usize,
    batch: usize,
    folder: PathBuf,
}

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    alone(|| async { tokio::spawn(compare()).await? })
}

fn plan() -> Plan {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |place: usize, usual| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let folder = arguments.get(3).map_or_else(std::env::temp_dir, PathBuf::from);
    Plan { rounds: number(0, 9), batches: number(1, 100), batch: number(2, 100), folder }
}

async fn compare() -> Outcome<()> {
    let plan = plan();
    let folder = tempfile::tempdir_in(&plan.folder)?;
    let (scope, session) = (Scope::new("tenant", "subject")?, SessionId::new("session")?);
    let chat = chat(&folder.path().join("a.db")).await?;
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("b.journal"))).await?;
    let straight = memory(&folder.path().join("c.db"), None).await?;
    let queue = SqliteJournal::connect(JournalConfig::new(folder.path().join("d.journal"))).await?;
    let behind = memory(&folder.path().join("d.db"), Some(Arc::new(queue))).await?;
    let talk = |memory: &Memory| memory.of(&scope).session(&session);
    let (talk_straight, talk_behind) = (talk(&straight), talk(&behind));
    chat.append(&scope, &session, &Append::new(messages(1))).await?;
    for talk in [&talk_straight, &talk_behind] {
        say(talk, vec![plain(messages(1))]).await?;
    }
    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..plan.rounds {
        let work: Vec<_> = (0..plan.batches).map(|_| Append::new(messages(plan.batch))).collect();
        let watch = Stopwatch::start();
        for batch in &work {
            chat.append(&scope, &session, batch).await?;
        }
        let first = watch.elapsed();
        let (watch, mut last) = (Stopwatch::start(), 0);
        for batch in &work {
            last = journal.push(&scope, &session, batch).await?;
        }
        let second = watch.elapsed();
        // Between the rounds, as the primary would.
        journal.acknowledge(&(1..=last).collect::<Vec<_>>()).await?;
        let work = || (0..plan.batches).map(|_| plain(messages(plan.batch))).collect::<Vec<_>>();
        let (one, other) = (work(), work());
        let watch = Stopwatch::start();
        say(&talk_straight, one).await?;
        let third = watch.elapsed();
        let watch = Stopwatch::start();
        say(&talk_behind, other).await?;
        let fourth = watch.elapsed();
        if behind.flush(PATIENCE).await > 0 {
            return Err("what was queued is not in the file".into());
        }
        let fifth = watch.elapsed();
        for (times, time) in times.iter_mut().zip([first, second, third, fourth, fifth]) {
            times.push(time.as_secs_f64());
        }
    }
    for memory in [straight, behind] {
        memory.close().await?;
    }
    let [straight, pushed, engine, acknowledged, drained] = times.map(|times| rate(&plan, times));
    let (by_traits, by_memory) = (pushed / straight, acknowledged / engine);
    let mut out = std::io::stdout();
    writeln!(
        out,
        "journal, {} rounds of {} batches of {} in {}, messages a second, medians\n  \
         traits: straight {straight:.0}, by the journal {pushed:.0}; {by_traits:.2} of it\n  \
         memory: straight {engine:.0}, acknowledged behind a journal {acknowledged:.0}; {by_memory:.2} of it; \
         in the file {drained:.0}",
        plan.rounds,
        plan.batches,
        plan.batch,
        plan.folder.display(),
    )?;
    // Not a number is no rate either.
    if by_traits >= LEAST && by_memory >= LEAST {
        return Ok(());
    }
    Err(format!("appends by a journal have less than {LEAST} of the rate of those straight into the file").into())
}

async fn say(session: &Session, work: Vec<Vec<Message>>) -> Outcome<()> {
    for batch in work {
        session.append(batch).await?;
    }
    Ok(())
}

fn rate(plan: &Plan, mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    (plan.batches * plan.batch) as f64 / times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Messages of about 280 bytes, the mean of the chat corpora.
fn messages(count: usize) -> Vec<NewMessage> {
    let text = "I moved to the new flat last week, and the cat has already found the warmest place of all, which is \
         the keyboard of the machine on which I am writing this very message to you. ";
    let message = |_| Arc::new(Message::new(Role::User, text.repeat(2), Timestamp(1_700_000_000_000_000)));
    (0..count).map(message).map(|message| NewMessage::sized(message, 70)).collect()
}

/// Returns the bare messages, which the engine counts itself.
fn plain(messages: Vec<NewMessage>) -> Vec<Message> {
    messages.into_iter().map(|new| Arc::unwrap_or_clone(new.message)).collect()
}

/// Opens conversations with notes for two indexes.
async fn chat(path: &Path) -> Outcome<SqliteChat> {
    let chat = SqliteChat::new(&Sqlite::connect(SqliteConfig::new(path)).await?);
    for index in ["text/english-1", "vector/test-8"] {
        chat.enlist(&IndexName::new(index)?, None, usize::MAX).await?;
    }
    Ok(chat)
}

async fn memory(path: &Path, journal: Option<Arc<dyn Journal>>) -> Outcome<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    let chat = Arc::new(SqliteChat::new(&file));
    chat.enlist(&IndexName::new("vector/test-8")?, None, usize::MAX).await?;
    let stores = Stores {
        chat: Some(Truth::chat(chat)),
        records: Some(Truth::records(Arc::new(SqliteRecords::new(&file)))),
        text: Some(Arc::new(SqliteText::new(&file, Analysis::english().name()))),
        journal,
        ..Stores::default()
    };
    Ok(memory_core::engine::MemoryBuilder::over(stores).build().await?)
}
