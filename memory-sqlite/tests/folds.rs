//! Folds of a window whose process is killed: before and behind each call that they make of the store of conversations, and wherever
//! they happen to be.
//!
//! The processes are this program again: called with `once` or `ever`, it folds windows.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use memory_core::engine::{Memory, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Analysis, Message, MessageId, Role, Scope, Seq, SessionId, StoredMessage, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};
use memory_testkit::doubles::{Counting, Cut, Ending, ManualClock, Tapped};
use memory_testkit::rounds;
use tokio::runtime::Runtime;

/// The tokens of a window.
const LIMIT: u64 = 1_500;
/// More than is ever said.
const ALL: usize = 100_000;
/// Processes that are killed at any moment, unless `MEMORY_TEST_ROUNDS` says otherwise: fewer may fold nothing.
const LIVES: usize = 10;
/// With more, more than [`ALL`] may be said.
const MOST_LIVES: usize = 500;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let ended = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "once", path, nth, side] => once(Path::new(path), nth, side),
        [_, "ever", path, life] => ever(Path::new(path), life),
        _ => {
            let trial = |name: &str, run: fn() -> Outcome<()>| Trial::test(name, move || run().map_err(Failed::from));
            let trials = vec![
                trial("o5_a_fold_that_is_killed_at_any_call_loses_nothing", killed_at_calls),
                trial("o5_folds_that_are_killed_at_any_moment_lose_nothing", killed_at_moments),
            ];
            return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
        }
    };
    if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Opens the memory of a process that began so many hours after the first, whose calls of truth `cut` may stop.
async fn open(path: &Path, hours: u64, cut: &Arc<Cut>) -> Outcome<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    let clock = ManualClock::default();
    clock.advance(Duration::from_secs(3_600 * hours));
    let calls = Arc::<Counting>::default();
    let chat = Truth::chat(Arc::new(SqliteChat::new(&file)))
        .layered(|store| Arc::new(Tapped::new(store, calls.clone()).cut_by(cut.clone())))
        .layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, calls.clone()).cut_by(cut.clone())));
    let builder = Memory::builder(chat, Truth::records(Arc::new(SqliteRecords::new(&file))));
    let builder = builder.text(Arc::new(SqliteText::new(&file, Analysis::english().name())));
    let builder = builder.buffer(BufferConfig::default().with_limit(LIMIT)).clock(Arc::new(clock));
    Ok(builder.build().await?)
}

/// Opens a memory whose calls go to their ends.
async fn opened(path: &Path, hours: u64) -> Outcome<Memory> {
    open(path, hours, &Arc::default()).await
}

fn talk(memory: &Memory) -> Outcome<Session> {
    Ok(memory.of(&Scope::new("tenant", "subject")?).session(&SessionId::new("talk")?))
}

/// Returns turns of a person and an assistant, with a text that no other has.
fn turns(memory: &Memory, name: &str, count: usize) -> Vec<Message> {
    let turn = |number: usize| {
        let asked = format!("Please water plant number {name} {number} on the balcony.");
        let answer = format!("Plant {name} {number} has had its water.");
        [Message::new(Role::User, asked, memory.now()), Message::new(Role::Assistant, answer, memory.now())]
    };
    (0..count).flat_map(turn).collect()
}

fn tell(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}

/// Folds what is to be folded, and stops for good before or behind the n-th call. Says whether there was one.
fn once(path: &Path, nth: &str, side: &str) -> Outcome<()> {
    let ending = if side == "before" { Ending::IsDroppedBefore } else { Ending::IsDroppedAfter };
    let nth: u64 = nth.parse()?;
    Runtime::new()?.block_on(async {
        let cut = Arc::<Cut>::default();
        let memory = open(path, 0, &cut).await?;
        cut.arm(nth, ending);
        let folding = tokio::spawn(async move { memory.upkeep_once().await });
        tokio::select! {
            report = folding => {
                let report = report??;
                tell(if report.summarised == 1 { "whole" } else { "nothing was folded" })
            }
            () = cut.reached() => {
                tell("stopped")?;
                // Until it is killed.
                std::future::pending().await
            }
        }
    })
}

/// Says something and folds windows without end, and tells what was said once it is acknowledged.
fn ever(path: &Path, life: &str) -> Outcome<()> {
    let hours: u64 = life.parse()?;
    Runtime::new()?.block_on(async {
        let memory = opened(path, hours).await?;
        let talk = talk(&memory)?;
        for number in 0.. {
            let said = turns(&memory, &format!("{life} {number}"), 5);
            let texts: Vec<String> = said.iter().map(Message::text).collect();
            talk.append(said).await?;
            tell(&texts.join("|"))?;
            memory.upkeep_once().await?;
        }
        Ok(())
    })
}

/// Starts a process, and returns it with the lines that it tells.
fn start(what: &str, path: &Path, rest: &[&str]) -> Outcome<(Child, Lines<BufReader<ChildStdout>>)> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg(what).arg(path).args(rest).stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    Ok((child, BufReader::new(out).lines()))
}

/// Returns all messages of the conversation. Each must be in the window or behind a summary that covers it, and those in the window the
/// newest.
async fn whole(talk: &Session) -> Outcome<Vec<StoredMessage>> {
    let all = talk.read(&Page::after(Seq(0), ALL, View::All)).await?;
    let (summaries, said): (Vec<_>, Vec<_>) = all.messages.into_iter().partition(|row| row.covers.is_some());
    if !said.iter().map(|row| row.seq.0).eq(1..=all.state.head.0) {
        return Err("the numbers have gaps".into());
    }
    let is_lost = |row: &&StoredMessage| {
        let is_behind = summaries.iter().any(|summary| covers(summary, row));
        row.message.is_none() || (row.archived_by.is_some() && !is_behind)
    };
    if let Some(lost) = said.iter().find(is_lost) {
        return Err(format!("{lost:?} is neither in the window nor behind a summary").into());
    }
    let window = said.iter().filter(|row| row.archived_by.is_none()).count();
    if said.iter().rev().take(window).any(|row| row.archived_by.is_some()) {
        return Err("what is in the window is not the newest".into());
    }
    Ok(said)
}

/// Returns whether a message stands behind a summary that is there.
fn covers(summary: &StoredMessage, row: &StoredMessage) -> bool {
    let is_within = summary.covers.is_some_and(|span| span.first <= row.seq && row.seq <= span.last);
    row.archived_by == Some(summary.id) && is_within && summary.message.is_some()
}

/// Returns what was said, in the window or not: number, id and content of each message.
fn said(rows: Vec<StoredMessage>) -> Vec<(Seq, MessageId, Option<Arc<Message>>)> {
    rows.into_iter().map(|row| (row.seq, row.id, row.message)).collect()
}

/// Undoes all folds. Returns what is in the window then.
async fn unfolded(talk: &Session) -> Outcome<Vec<StoredMessage>> {
    loop {
        let rows = talk.read(&Page::newest(ALL)).await?.messages;
        let Some(summary) = rows.iter().find(|row| row.covers.is_some()) else { return Ok(rows) };
        talk.unfold(summary.id).await?;
    }
}

/// Kills the process of a fold at one of its calls, and looks at what it left. Returns whether there was no such call.
async fn killed_at(folder: &Path, nth: u64, side: &str) -> Outcome<bool> {
    let path = folder.join(format!("{side}-{nth}.db"));
    let memory = opened(&path, 0).await?;
    let full = turns(&memory, side, 50);
    talk(&memory)?.append(full).await?;
    let before = said(whole(&talk(&memory)?).await?);
    memory.close().await?;

    let (mut child, mut told) = start("once", &path, &[&nth.to_string(), side])?;
    let line = told.next().ok_or("the process ended by itself")??;
    let is_whole = line == "whole";
    if !is_whole {
        child.kill()?;
    }
    if child.wait()?.success() != is_whole {
        return Err("the process ended otherwise than it was to".into());
    }
    if !["whole", "stopped"].contains(&line.as_str()) {
        return Err(format!("the process told {line}").into());
    }

    let memory = opened(&path, 1).await?;
    let talk = talk(&memory)?;
    let left = said(whole(&talk).await?);
    if left != before {
        return Err(format!("{left:?} is left of {before:?}").into());
    }
    // With the next message another process folds what is left to fold, if anything is.
    talk.append(turns(&memory, "next", 1)).await?;
    memory.upkeep_once().await?;
    let tokens = talk.state().await?.active_tokens;
    if tokens >= LIMIT * 4 / 5 {
        return Err(format!("{tokens} tokens are left in the window").into());
    }
    let after = said(whole(&talk).await?);
    if after.len() != before.len() + 2 || !after.starts_with(&before) || said(unfolded(&talk).await?) != after {
        return Err("the fold cannot be undone".into());
    }
    memory.close().await?;
    Ok(is_whole)
}

fn killed_at_calls() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let runtime = Runtime::new()?;
    for side in ["before", "behind"] {
        for nth in 1.. {
            let killed = runtime.block_on(killed_at(folder.path(), nth, side));
            if killed.map_err(|error| format!("{side} call {nth}: {error}"))? {
                if nth <= 5 {
                    return Err(format!("a pass makes {} calls", nth - 1).into());
                }
                break;
            }
        }
    }
    Ok(())
}

/// Opens the conversation that a process left, and returns its messages.
async fn looked_at(path: &Path, hours: u64) -> Outcome<Vec<StoredMessage>> {
    let memory = opened(path, hours).await?;
    let rows = whole(&talk(&memory)?).await?;
    memory.close().await?;
    Ok(rows)
}

fn killed_at_moments() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let runtime = Runtime::new()?;
    let (lives, mut acknowledged, mut folded) = (rounds(LIVES).clamp(LIVES, MOST_LIVES), Vec::new(), 0);
    for life in 0..lives {
        let (mut child, mut told) = start("ever", &path, &[&life.to_string()])?;
        // Killed at another point of its work each time.
        for _ in 0..=(life * 7 % 23) {
            acknowledged.push(told.next().ok_or("the process ended by itself")??);
        }
        child.kill()?;
        child.wait()?;
        // What was told before the kill, but not yet read; the last line may be cut.
        let rest: Vec<String> = told.map_while(std::io::Result::ok).collect();
        acknowledged.extend(rest.into_iter().filter(|line| line.split('|').count() == 10 && line.ends_with("water.")));

        let rows = runtime.block_on(looked_at(&path, life as u64))?;
        let texts: BTreeSet<String> = rows.iter().filter_map(|row| Some(row.message.as_ref()?.text())).collect();
        if let Some(lost) = acknowledged.iter().flat_map(|line| line.split('|')).find(|text| !texts.contains(*text)) {
            return Err(format!("{lost} was acknowledged and is lost after {life} kills").into());
        }
        folded = rows.iter().filter(|row| row.archived_by.is_some()).count();
    }
    if folded == 0 {
        return Err("nothing was folded".into());
    }
    runtime.block_on(async {
        let memory = opened(&path, lives as u64).await?;
        memory.upkeep_once().await?;
        let talk = talk(&memory)?;
        let before = said(whole(&talk).await?);
        if said(unfolded(&talk).await?) != before {
            return Err("the folds cannot be undone".into());
        }
        Ok(())
    })
}
