//! Two processes write one session of one file.
//!
//! The processes are this program again: called with `append`, it is a writer.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use memory_core::chat::{Append, ChatStore, NewMessage, Page, View};
use memory_core::{Error, Message, Result, Role, Scope, Seq, SessionId, Timestamp};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig};
use tokio::runtime::Runtime;

const PROCESSES: usize = 2;
const TASKS: usize = 8;
const MESSAGES: usize = 500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, path, process] = arguments.as_slice()
        && role == "append"
    {
        return match write(Path::new(path), process) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let trial = Trial::test("two_processes_write_one_session_without_gaps", || try_it().map_err(Failed::from));
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn place() -> Result<(Scope, SessionId)> {
    Ok((Scope::new("tenant", "subject")?, SessionId::new("shared")?))
}

/// Appends the messages of one process, one at a time in each of its tasks.
fn write(path: &Path, process: &str) -> std::result::Result<(), Box<dyn std::error::Error>> {
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
    let (scope, session) = place()?;
    for number in 0..MESSAGES {
        let message = Message::new(Role::User, format!("{writer} {number}"), Timestamp(0));
        let new = NewMessage { message: Arc::new(message), tokens: 1 };
        let batch = Append { fence: None, messages: vec![new] };
        // The same message again, as any caller may after a fault that can pass.
        let mut answer = chat.append(&scope, &session, &batch).await;
        while answer.as_ref().is_err_and(Error::is_retryable) {
            answer = chat.append(&scope, &session, &batch).await;
        }
        answer?;
    }
    Ok(())
}

fn try_it() -> std::result::Result<(), Box<dyn std::error::Error>> {
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

/// Returns all texts of the session by number.
async fn read(path: &Path) -> std::result::Result<Vec<String>, Box<dyn std::error::Error>> {
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

fn check(texts: &[String]) -> std::result::Result<(), Box<dyn std::error::Error>> {
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
