//! How much of the speed of bare statements an append keeps, through the trait and through the engine.
//!
//! A appends through [`ChatStore`], with notes for two indexes; the engine does so too, and checks limits and counts
//! tokens before (by the estimate, which needs no tables); B encodes the same messages and writes the same rows with
//! bare statements of the driver, and the time of the encoding alone is told beside. They take turns, in files side by
//! side.
//!
//! `cargo bench -p memory-sqlite --bench append -- [ROUNDS] [BATCHES] [BATCH] [FOLDER]`

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use memory_core::engine::Memory;
use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_core::time::Stopwatch;
use memory_core::{Analysis, Message, Role, Scope, SessionId, Timestamp, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};
use memory_testkit::bench::alone;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, QueryBuilder, SqliteConnection};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The number of a token counter, as large as they are.
const COUNTER: i64 = 981_937_352;

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
    let scope = Scope::new("tenant", "subject")?;
    let session = SessionId::new("session")?;
    let chat = through_trait(&folder.path().join("a.db")).await?;
    // The same tables, owner, session, indexes and notes for the bare statements.
    let other = through_trait(&folder.path().join("b.db")).await?;
    for chat in [&chat, &other] {
        chat.append(&scope, &session, &Append::new(messages(1))).await?;
    }
    let talk = through_engine(&folder.path().join("c.db")).await?.of(&scope).session(&session);
    talk.append(plain(messages(1))).await?;
    let mut bare = bare(&folder.path().join("b.db")).await?;
    let (mut a, mut b, mut c, mut encoded) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let work: Vec<_> = (0..plan.batches).map(|_| plain(messages(plan.batch))).collect();
        let watch = Watch::start();
        for batch in work {
            talk.append(batch).await?;
        }
        c.push(watch.stop());
        let work: Vec<_> = (0..plan.batches).map(|_| Append::new(messages(plan.batch))).collect();
        let watch = Watch::start();
        for batch in &work {
            chat.append(&scope, &session, batch).await?;
        }
        a.push(watch.stop());
        let work: Vec<_> = (0..plan.batches).map(|_| messages(plan.batch)).collect();
        let watch = Watch::start();
        for batch in &work {
            write(&mut bare, &rows(&session, batch)).await?;
        }
        b.push(watch.stop());
        let watch = Watch::start();
        for batch in &work {
            std::hint::black_box(rows(&session, batch));
        }
        encoded.push(watch.stop());
    }
    let count = |file: &'static str| (file, folder.path().join(file));
    for (name, path) in [count("a.db"), count("b.db"), count("c.db")] {
        let mut connection = self::bare(&path).await?;
        let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM message").fetch_one(&mut connection).await?;
        if stored != i64::try_from(1 + plan.rounds * plan.batches * plan.batch)? {
            return Err(format!("{name} holds {stored} messages").into());
        }
    }
    writeln!(
        std::io::stdout(),
        "append, {} rounds of {} batches of {} in {}",
        plan.rounds,
        plan.batches,
        plan.batch,
        plan.folder.display()
    )?;
    report(&plan, "trait", [&a, &b, &encoded])?;
    report(&plan, "engine", [&c, &b, &encoded])
}

/// Measures the time that passes and the processor time of all threads, both in seconds.
struct Watch {
    passed: Stopwatch,
    worked: f64,
}

impl Watch {
    fn start() -> Self {
        Self { worked: worked(), passed: Stopwatch::start() }
    }

    fn stop(&self) -> (f64, f64) {
        (self.passed.elapsed().as_secs_f64(), worked() - self.worked)
    }
}

/// Returns the processor time of this process; not a number where the system does not tell.
fn worked() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return f64::NAN };
    let of_thread = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    threads.filter_map(Result::ok).filter_map(of_thread).sum::<f64>() / 1e9
}

fn report(plan: &Plan, name: &str, times: [&[(f64, f64)]; 3]) -> Outcome<()> {
    let total = (plan.batches * plan.batch) as f64;
    let mut out = std::io::stdout();
    let of_passed: fn(&(f64, f64)) -> f64 = |(passed, _)| *passed;
    for (what, of) in [("passed", of_passed), ("worked", |(_, worked)| *worked)] {
        let [a, b, encoded] = times.map(|times| median(times.iter().map(of)) / total * 1e6);
        let keeps = b / a;
        writeln!(
            out,
            "  time {what}: through the {name} {a:.2} us a message, bare statements {b:.2} (of it encoding \
             {encoded:.2}); keeps {keeps:.2}"
        )?;
    }
    Ok(())
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Messages of about 280 bytes, the mean of the chat corpora.
fn messages(count: usize) -> Vec<NewMessage> {
    let text = "I moved to the new flat last week, and the cat has already found the warmest place of all, which is \
         the keyboard of the machine on which I am writing this very message to you. ";
    let message = |_| Arc::new(Message::new(Role::User, text.repeat(2), Timestamp(1_700_000_000_000_000)));
    (0..count).map(message).map(|message| NewMessage::sized(message, 70)).collect()
}

async fn through_trait(path: &Path) -> Outcome<SqliteChat> {
    let chat = SqliteChat::new(&Sqlite::connect(SqliteConfig::new(path)).await?);
    for index in ["text/english-1", "vector/test-8"] {
        chat.enlist(&IndexName::new(index)?, None, usize::MAX).await?;
    }
    Ok(chat)
}

async fn through_engine(path: &Path) -> Outcome<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    let chat = Arc::new(SqliteChat::new(&file));
    chat.enlist(&IndexName::new("vector/test-8")?, None, usize::MAX).await?;
    let records = Truth::records(Arc::new(SqliteRecords::new(&file)));
    let text = SqliteText::new(&file, Analysis::english().name());
    Ok(Memory::builder(Truth::chat(chat), records).text(Arc::new(text)).build().await?)
}

/// Returns the bare messages, which the engine counts itself.
fn plain(messages: Vec<NewMessage>) -> Vec<Message> {
    messages.into_iter().map(|new| Arc::unwrap_or_clone(new.message)).collect()
}

async fn bare(path: &Path) -> Outcome<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(path).synchronous(SqliteSynchronous::Full);
    let options = options.pragma("secure_delete", "ON").pragma("temp_store", "MEMORY").disable_statement_logging();
    Ok(options.connect().await?)
}

/// A row as the bare statements write it.
struct Row {
    id: Vec<u8>,
    digest: Vec<u8>,
    body: Vec<u8>,
}

fn rows(session: &SessionId, messages: &[NewMessage]) -> Vec<Row> {
    let row = |new: &NewMessage| {
        let body = new.message.encode();
        let digest = Message::digest_of(session, &body).0.to_vec();
        Row { id: new.message.id.0.as_bytes().to_vec(), digest, body }
    };
    messages.iter().map(row).collect()
}

/// Writes the rows of a batch: messages, the session's counters and its notes.
async fn write(connection: &mut SqliteConnection, rows: &[Row]) -> Outcome<()> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let sql = "SELECT owner, id, head FROM session WHERE id = 1";
    let (owner, session, head): (i64, i64, i64) = sqlx::query_as(sql).fetch_one(&mut *connection).await?;
    let mut seq = head;
    for some in rows.chunks(64) {
        let mut sql = QueryBuilder::new(
            "INSERT INTO message (owner, session, seq, id, digest, tokens, counter, role, speaker, trust, at, body, layer) ",
        );
        sql.push_values(some, |mut row, Row { id, digest, body }| {
            seq += 1;
            row.push_bind(owner)
                .push_bind(session)
                .push_bind(seq)
                .push_bind(id.as_slice())
                .push_bind(digest.as_slice());
            row.push_bind(70_i64).push_bind(COUNTER).push_bind("user").push_bind(None::<&str>).push_bind(3_i64);
            row.push_bind(1_700_000_000_000_000_i64).push_bind(body.as_slice()).push("0");
        });
        sql.build().execute(&mut *connection).await?;
    }
    let counters = "UPDATE session SET head = ?, active_messages = ?, active_tokens = ?, last_at = ? WHERE id = ?";
    let update = sqlx::query(counters).bind(seq).bind(seq).bind(seq * 70).bind(1_700_000_000_000_000_i64).bind(session);
    update.execute(&mut *connection).await?;
    let notes = sqlx::query("UPDATE note SET upto = ? WHERE owner = ? AND session = ?").bind(seq);
    notes.bind(owner).bind(session).execute(&mut *connection).await?;
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    Ok(())
}
