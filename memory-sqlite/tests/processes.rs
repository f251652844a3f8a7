//! Processes that write one file: two at once, one that is killed, and one that lets everybody read what it makes; and two that
//! want one journal.
//!
//! The processes are this program again: called with `append` or `tell`, it is a writer.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page, View};
use memory_core::store::journal::Journal as _;
use memory_core::{Error, Message, Result, Role, Scope, Seq, SessionId, Timestamp};
use memory_sqlite::{JournalConfig, Sqlite, SqliteChat, SqliteConfig, SqliteJournal};
use memory_testkit::RunningWatch;
use tokio::runtime::Runtime;

const PROCESSES: usize = 2;
const TASKS: usize = 8;
const MESSAGES: usize = 500;
const LIVES: usize = 20;

/// How soon whoever opens a journal that another process has is refused.
const AT_ONCE: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let wrote = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "append", path, process] => write(Path::new(path), process),
        [_, "tell", path, life] => tell(Path::new(path), life),
        [_, "begin", path] => begin(Path::new(path)),
        [_, "open", path] => open(Path::new(path)),
        _ => {
            let trial = |name: &str, run: fn() -> Outcome<()>| Trial::test(name, move || run().map_err(Failed::from));
            let trials = vec![
                trial("two_processes_write_one_session_without_gaps", together),
                trial("what_was_acknowledged_survives_kills", killed),
                trial("s3_5_a_second_process_that_opens_a_journal_is_refused_within_a_second", refused),
                #[cfg(unix)]
                trial("files_are_for_nobody_else_whatever_the_umask", private),
            ];
            return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
        }
    };
    if wrote.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn place() -> Result<(Scope, SessionId)> {
    Ok((Scope::new("tenant", "subject")?, SessionId::new("shared")?))
}

/// Makes a file, and says of it and what stands beside it who may use them.
#[cfg(unix)]
fn begin(path: &Path) -> Outcome<()> {
    use std::os::unix::fs::MetadataExt as _;
    Runtime::new()?.block_on(async {
        let file = Sqlite::connect(SqliteConfig::new(path)).await?;
        let chat = SqliteChat::new(&file);
        let (scope, session) = place()?;
        let message = Arc::new(Message::new(Role::User, "hello", Timestamp(0)));
        chat.append(&scope, &session, &Append::new(vec![NewMessage::sized(message, 1)])).await?;
        let folder = path.parent().ok_or("a path without a folder")?;
        let mut modes = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            modes.push(format!("{} {:o}", entry.file_name().to_string_lossy(), entry.metadata()?.mode() & 0o777));
        }
        modes.sort_unstable();
        writeln!(std::io::stdout(), "{}", modes.join(", "))?;
        Ok(())
    })
}

#[cfg(not(unix))]
fn begin(_: &Path) -> Outcome<()> {
    Err("there are no modes here".into())
}

#[cfg(unix)]
fn private() -> Outcome<()> {
    for umask in ["000", "022"] {
        let folder = tempfile::tempdir()?;
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask \"$0\"; exec \"$@\"", umask]).arg(std::env::current_exe()?).arg("begin");
        let told = memory_testkit::printed(shell.arg(folder.path().join("memory.db")))
            .map_err(|failure| failure.to_string())?;
        let expected = "memory.db 600, memory.db-shm 600, memory.db-wal 600";
        if told.trim() != expected {
            return Err(format!("umask {umask}: {told}").into());
        }
    }
    Ok(())
}

/// Appends the messages of one process, one at a time in each of its tasks.
fn write(path: &Path, process: &str) -> Outcome<()> {
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let chat = Arc::new(SqliteChat::new(&Sqlite::connect(SqliteConfig::new(path)).await?));
        let tasks: Vec<_> =
            (0..TASKS).map(|task| tokio::spawn(write_some(Arc::clone(&chat), format!("{process} {task}")))).collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    })
}

async fn write_some(chat: Arc<SqliteChat>, writer: String) -> Result<()> {
    for number in 0..MESSAGES {
        append(&chat, format!("{writer} {number}")).await?;
    }
    Ok(())
}

async fn append(chat: &SqliteChat, text: String) -> Result<()> {
    let (scope, session) = place()?;
    let new = NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1);
    let batch = Append::new(vec![new]);
    // The same message again, as any caller may after a fault that can pass.
    let mut answer = chat.append(&scope, &session, &batch).await;
    while answer.as_ref().is_err_and(Error::is_retryable) {
        answer = chat.append(&scope, &session, &batch).await;
    }
    answer.map(|_| ())
}

/// Appends without end, and tells each message once it is acknowledged.
fn tell(path: &Path, life: &str) -> Outcome<()> {
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let chat = Arc::new(SqliteChat::new(&Sqlite::connect(SqliteConfig::new(path)).await?));
        let tasks: Vec<_> =
            (0..4).map(|task| tokio::spawn(tell_some(Arc::clone(&chat), format!("{life} {task}")))).collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    })
}

async fn tell_some(chat: Arc<SqliteChat>, writer: String) -> Result<()> {
    for number in 0.. {
        let text = format!("{writer} {number}");
        append(&chat, text.clone()).await?;
        if writeln!(std::io::stdout().lock(), "{text}").is_err() {
            break;
        }
    }
    Ok(())
}

fn together() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let program = std::env::current_exe()?;
    let start = |process: usize| Command::new(&program).arg("append").arg(&path).arg(process.to_string()).spawn();
    let writers = (0..PROCESSES).map(start).collect::<std::io::Result<Vec<_>>>()?;
    for mut writer in writers {
        if !writer.wait()?.success() {
            return Err("a writer failed".into());
        }
    }
    check(&Runtime::new()?.block_on(read(&path))?)
}

fn killed() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let mut acknowledged = Vec::new();
    for life in 0..LIVES {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.arg("tell").arg(&path).arg(life.to_string()).stdout(Stdio::piped());
        let mut writer = command.spawn()?;
        let mut told = BufReader::new(writer.stdout.take().ok_or("no output")?).lines();
        // Killed at another point of its work each time.
        for _ in 0..=(life * 7 % 23) {
            acknowledged.push(told.next().ok_or("the writer ended by itself")??);
        }
        writer.kill()?;
        writer.wait()?;
        // What was told before the kill, but not yet read; the last line may be cut.
        let rest: Vec<String> = told.map_while(std::io::Result::ok).collect();
        acknowledged.extend(rest.into_iter().filter(|text| text.split(' ').count() == 3));
        let stored: BTreeSet<String> = Runtime::new()?.block_on(read(&path))?.into_iter().collect();
        if let Some(lost) = acknowledged.iter().find(|text| !stored.contains(*text)) {
            return Err(format!("{lost} of {} acknowledged is lost after {life} kills", acknowledged.len()).into());
        }
    }
    Ok(())
}

/// Returns all texts of the session by number.
async fn read(path: &Path) -> Outcome<Vec<String>> {
    let (scope, session) = place()?;
    let chat = SqliteChat::new(&Sqlite::connect(SqliteConfig::new(path)).await?);
    let slice = chat.read(&scope, &session, &Page::after(Seq(0), usize::MAX, View::Log)).await?;
    let numbers: Vec<u64> = slice.messages.iter().map(|row| row.seq.0).collect();
    if !numbers.iter().copied().eq(1..=slice.state.head.0) {
        return Err("the numbers have gaps".into());
    }
    let messages = slice.messages.iter().filter_map(|row| row.message.as_ref());
    Ok(messages.map(|message| message.text()).collect())
}

/// Opens a journal, and says how that ended.
fn open(path: &Path) -> Outcome<()> {
    let watch = RunningWatch::start();
    let opened = Runtime::new()?.block_on(SqliteJournal::connect(JournalConfig::new(path)));
    let took = watch.elapsed();
    let told = match opened {
        Ok(_) => "opened".to_owned(),
        Err(Error::Unsupported { .. }) if took < AT_ONCE => "refused".to_owned(),
        Err(error) => format!("{} after {took:?}", error.with_causes()),
    };
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

/// Another process opens a journal: not while it is open here, whatever it holds, and then it may.
fn refused() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.db");
    let other = || {
        let mut command = Command::new(std::env::current_exe()?);
        let told = memory_testkit::printed(command.arg("open").arg(&path)).map_err(|failure| failure.to_string())?;
        Outcome::Ok(told.trim().to_owned())
    };
    let runtime = Runtime::new()?;
    let (scope, session) = place()?;
    let batch = |text: &str| Append::new(vec![NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1)]);
    let journal = runtime.block_on(SqliteJournal::connect(JournalConfig::new(&path)))?;
    let mut told = vec![other()?];
    runtime.block_on(journal.push(&scope, &session, &batch("first")))?;
    told.push(other()?);
    runtime.block_on(journal.push(&scope, &session, &batch("second")))?;
    let queued = runtime.block_on(journal.queued(None, None, usize::MAX))?;
    runtime.block_on(journal.close())?;
    told.push(other()?);
    if told != ["refused", "refused", "opened"] || queued.len() != 2 {
        return Err(format!("{told:?}, and {} messages wait", queued.len()).into());
    }
    Ok(())
}

fn check(texts: &[String]) -> Outcome<()> {
    let expected = PROCESSES * TASKS * MESSAGES;
    let distinct: BTreeSet<&String> = texts.iter().collect();
    if (texts.len(), distinct.len()) != (expected, expected) {
        return Err(format!("{} texts, {} distinct, of {expected}", texts.len(), distinct.len()).into());
    }
    for process in 0..PROCESSES {
        for task in 0..TASKS {
            let writer = format!("{process} {task} ");
            let own = texts.iter().filter_map(|text| text.strip_prefix(&writer));
            if !own.eq((0..MESSAGES).map(|number| number.to_string())) {
                return Err(format!("the messages of {writer}are out of order").into());
            }
        }
    }
    Ok(())
}
