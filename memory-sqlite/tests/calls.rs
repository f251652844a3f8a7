//! A journal whose calls of the operating system fail, or are the last ones of its process: each write and each sync in turn.
//!
//! The process is this program again: called with `use`, it uses a journal, and says what it was told. `strace` makes its calls fail;
//! where that is not installed, or may not trace, these tests are shown as ignored.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use memory_core::store::chat::{Append, Fence, NewMessage};
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, Error, Message, Role, Scope, SessionId, Timestamp};
use memory_sqlite::{JournalConfig, SqliteJournal};
use tokio::runtime::Runtime;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What tells how calls end, and makes them fail.
const TRACER: &str = "strace";

const WRITES: &str = "pwrite64";
const SYNCS: &str = "fsync,fdatasync";

/// The calls at which the process is killed.
const CALLS: [&str; 4] = [WRITES, SYNCS, "ftruncate", "?unlink,unlinkat"];

/// How many calls of a kind are tried, spread over all; the slow tier asks for every one.
const TRIED: usize = 25;

/// How many messages are in the journal before: they are acknowledged together.
const BEFORE: usize = 2;

/// How many there are when everything went well, with those; where so many calls are tried as in the slow tier, more.
const ALL: usize = 8;
const ALL_OF_MANY: usize = 64;

/// From how many calls of a kind on a run is the slow tier's, and at how many points that one stops a process, at least.
const MANY: usize = 1_000;
const POINTS: usize = 200;

/// What is erased.
const SECRET: &str = "a secret of the session that is erased";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, what, path] = arguments.as_slice()
        && what == "use"
    {
        return if work(Path::new(path)).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let traced = Command::new(TRACER).args(["-qq", "-e", "trace=none", "true"]).stderr(Stdio::null()).status();
    let is_missing = !traced.is_ok_and(|status| status.success());
    let trial = |name: &str, run: fn() -> Outcome<()>| {
        Trial::test(name, move || run().map_err(Failed::from)).with_ignored_flag(is_missing)
    };
    let trials = vec![
        trial("g2_a_journal_whose_process_is_killed_at_any_call_keeps_what_it_acknowledged", killed),
        trial("s3_5_a_sync_that_fails_is_not_acknowledged_and_nothing_is_taken_after_it", unsynced),
        trial("s3_5_a_disk_that_is_full_at_any_write_refuses_and_loses_nothing", full),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn asks_for_many() -> bool {
    memory_testkit::rounds(TRIED) >= MANY
}

/// Returns how many messages there are when everything went well.
fn all() -> usize {
    if asks_for_many() { ALL_OF_MANY } else { ALL }
}

/// Returns the owner, the session that stays and the one that is erased.
fn place() -> Outcome<(Scope, SessionId, SessionId)> {
    Ok((Scope::new("tenant", "subject")?, SessionId::new("kept")?, SessionId::new("erased")?))
}

fn message(text: &str) -> Append {
    Append::new(vec![NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1)])
}

fn tell(what: &str) -> Outcome<()> {
    writeln!(std::io::stdout().lock(), "{what}")?;
    Ok(())
}

/// Makes a journal that holds a few messages.
async fn begin(path: &Path) -> Outcome<()> {
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await?;
    let (scope, kept, erased) = place()?;
    for number in 0..BEFORE {
        journal.push(&scope, &kept, &message(&number.to_string())).await?;
    }
    journal.push(&scope, &erased, &message(SECRET)).await?;
    journal.close().await?;
    Ok(())
}

/// Uses a journal: pushes messages, acknowledges those from before, erases a session and closes it. Says how each call ended.
fn work(path: &Path) -> Outcome<()> {
    Runtime::new()?.block_on(async {
        let journal = SqliteJournal::connect(JournalConfig::new(path)).await?;
        let (scope, kept, erased) = place()?;
        for number in BEFORE..all() {
            match journal.push(&scope, &kept, &message(&number.to_string())).await {
                Ok(_) => tell(&format!("pushed {number}"))?,
                Err(Error::QueueFull) => tell(&format!("full {number}"))?,
                Err(error) if !error.is_retryable() => tell(&format!("broken {number}"))?,
                Err(error) => tell(&format!("odd {}", error.with_causes()))?,
            }
        }
        if let Ok(first) = journal.queued(Some(&scope), Some(&kept), BEFORE).await {
            let numbers: Vec<u64> = first.iter().map(|queued| queued.number).collect();
            if journal.acknowledge(&numbers).await.is_ok() {
                tell("removed")?;
            }
        }
        let all = Fence { epoch: Epoch(1), generation: 0 };
        if journal.erase(&scope, Some(&erased), all).await.is_ok() {
            tell("erased")?;
        }
        if journal.close().await.is_ok() {
            tell("closed")?;
        }
        Ok(())
    })
}

/// What a process said.
#[derive(Debug, Default)]
struct Told {
    pushed: BTreeSet<usize>,
    full: BTreeSet<usize>,
    is_broken: bool,
    is_removed: bool,
    is_erased: bool,
    is_closed: bool,
}

impl Told {
    /// Reads what a process said. Nothing ends well behind what broke the journal.
    fn of(said: &str) -> Outcome<Self> {
        let mut told = Self::default();
        for line in said.lines() {
            match line.split_once(' ') {
                Some(("pushed", number)) if !told.is_broken => told.pushed.extend([number.parse::<usize>()?]),
                Some(("full", number)) => told.full.extend([number.parse::<usize>()?]),
                Some(("broken", _)) => told.is_broken = true,
                None if line == "removed" && !told.is_broken => told.is_removed = true,
                None if line == "erased" && !told.is_broken => told.is_erased = true,
                None if line == "closed" && !told.is_broken => told.is_closed = true,
                _ => return Err(format!("the process was told {line:?}, in {said:?}").into()),
            }
        }
        Ok(told)
    }
}

/// Runs a process whose calls of these names are written into a log, and asks more of them. Returns what it said.
fn traced(path: &Path, log: &Path, calls: &str, more: &str) -> Outcome<Told> {
    let mut command = Command::new(TRACER);
    command.args(["-f", "-qq", "-e"]).arg(format!("trace={calls}")).arg("-e").arg(more).arg("-o").arg(log);
    let output = command.arg(std::env::current_exe()?).arg("use").arg(path).output()?;
    Told::of(&String::from_utf8(output.stdout)?)
}

/// Runs a process over a new journal with a fault in calls of these names, and checks what it left. Returns what it said.
fn run(calls: &str, fault: &str) -> Outcome<Told> {
    let (folder, log) = (tempfile::tempdir()?, tempfile::NamedTempFile::new()?);
    let (path, runtime) = (folder.path().join("journal.db"), Runtime::new()?);
    runtime.block_on(begin(&path))?;
    let told = traced(&path, log.path(), calls, &format!("inject={calls}:{fault}"))?;
    let checked = runtime.block_on(check(folder.path(), &path, &told));
    checked.map_err(|error| format!("{calls} {fault}, {told:?}: {error}"))?;
    Ok(told)
}

/// Passes if a journal holds what its process was told, and is whole.
async fn check(folder: &Path, path: &Path, told: &Told) -> Outcome<()> {
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await?;
    let (scope, kept, erased) = place()?;
    let mut held: Vec<usize> = Vec::new();
    for queued in journal.queued(Some(&scope), Some(&kept), usize::MAX).await? {
        held.push(queued.new.message.text().parse()?);
    }
    let is_in_order = held.is_sorted_by(|one, next| one < next) && held.last() < Some(&all());
    let held: BTreeSet<usize> = held.into_iter().collect();
    if !is_in_order || !told.pushed.is_subset(&held) || !told.full.is_disjoint(&held) {
        return Err(format!("it holds {held:?}").into());
    }
    let before = held.range(..BEFORE).count();
    let is_whole = before == 0 || (before == BEFORE && !told.is_removed);
    if !is_whole {
        return Err(format!("it holds {before} of the messages that were acknowledged together").into());
    }
    let left = journal.queued(Some(&scope), Some(&erased), usize::MAX).await?.len();
    if told.is_erased && (left, traces(folder)?) != (0, 0) {
        return Err("something is left of what was erased".into());
    }
    // It goes on.
    journal.push(&scope, &kept, &message("next")).await?;
    journal.close().await?;
    Ok(())
}

/// Returns how many files of the journal hold what was erased.
fn traces(folder: &Path) -> Outcome<usize> {
    let mut found = 0;
    for entry in std::fs::read_dir(folder)? {
        let bytes = std::fs::read(entry?.path())?;
        found += usize::from(bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
    }
    Ok(found)
}

/// Returns how many calls of these names a process makes.
fn count(calls: &str) -> Outcome<usize> {
    let (folder, log) = (tempfile::tempdir()?, tempfile::NamedTempFile::new()?);
    let path = folder.path().join("journal.db");
    Runtime::new()?.block_on(begin(&path))?;
    let told = traced(&path, log.path(), calls, "signal=none")?;
    if !(told.is_closed && told.is_erased && told.is_removed && told.pushed.len() == all() - BEFORE) {
        return Err(format!("without a fault: {told:?}").into());
    }
    let names: Vec<String> = calls.split(',').map(|name| format!("{}(", name.trim_start_matches('?'))).collect();
    let log = String::from_utf8(std::fs::read(log.path())?)?;
    Ok(log.lines().filter(|line| names.iter().any(|name| line.contains(name.as_str()))).count())
}

/// Returns the numbers of the calls that are tried, of so many, from 1.
fn tried(count: usize) -> impl Iterator<Item = usize> {
    (1..=count).step_by(count.div_ceil(memory_testkit::rounds(TRIED).max(1)).max(1))
}

/// The process is killed at each of its calls that change a file. A run in which it was not stopped is no point.
fn killed() -> Outcome<()> {
    let (mut runs, mut points) = (0, 0);
    for calls in CALLS {
        for number in tried(count(calls)?) {
            let told = run(calls, &format!("signal=KILL:when={number}"))?;
            (runs, points) = (runs + 1, points + usize::from(!told.is_closed));
        }
    }
    tell(&format!("{points} points at which a process was stopped, in {runs} runs"))?;
    // The calls of each thread are counted apart, so the last numbers may be those of none.
    if points * 2 <= runs || (asks_for_many() && points < POINTS) {
        return Err(format!("{points} of {runs} were killed").into());
    }
    Ok(())
}

/// Each sync fails.
fn unsynced() -> Outcome<()> {
    let mut broken = 0;
    for number in tried(count(SYNCS)?) {
        let told = run(SYNCS, &format!("error=EIO:when={number}"))?;
        broken += usize::from(told.is_broken);
    }
    if broken > 0 { Ok(()) } else { Err("no message was refused".into()) }
}

/// Each write finds the disk full.
fn full() -> Outcome<()> {
    let mut refused = 0;
    for number in tried(count(WRITES)?) {
        let told = run(WRITES, &format!("error=ENOSPC:when={number}"))?;
        refused += usize::from(!told.full.is_empty());
    }
    if refused > 0 { Ok(()) } else { Err("no message was refused".into()) }
}
