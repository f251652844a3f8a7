//! A process that forgets an owner is killed at any moment: the same call completes what it began, or upkeep does by itself, and
//! nobody else's data has changed by a byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use memory::store::Epoch;
use memory::store::records::{Expect, Put, RecordBatch};
use memory::{Forget, Memory, Record, Result, Scope, Stores};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, RunningWatch, Scene, check, equal, rounds};
use tokio::task::spawn_blocking;

use super::{left, settled, tell};
use crate::dump::Dump;
use crate::places::Places;
use crate::process::{self, Outcome};

/// The first argument of a process that is killed.
const MARK: &str = "a-process-that-forgets";

/// How often a process is killed before it has said that it forgot, and after the erasure has begun.
const KILLS: usize = 5;

/// How many processes are started for each of these kills, at most. Others are killed too early or too late.
const TRIES: usize = 10;

/// The moments of an erasure at which processes are killed.
const MOMENTS: usize = 10;

/// The records of an owner.
const RECORDS: usize = 300;

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

fn owner(number: usize) -> Result<Scope> {
    Scope::new("acme", &format!("ada{number}"))
}

/// Returns how this process ended, if it is one that is killed.
pub(crate) fn process() -> Option<ExitCode> {
    let told = process::told(MARK)?;
    let [number, places @ ..] = told.as_slice() else { return None };
    Some(process::ended("a process that forgets", forget(number, places)))
}

/// Says that it begins, forgets an owner, and says that it has.
async fn forget(number: &str, places: &[String]) -> Outcome<()> {
    let places = Places::told(places).ok_or("a place is missing")?;
    let memory = memory::over(places.open().await?).build().await?;
    let owner = memory.of(&owner(number.parse()?)?);
    writeln!(std::io::stdout(), "begins")?;
    let receipt = owner.forget(&Forget::Everything).await?;
    writeln!(std::io::stdout(), "{}", if receipt.complete { "forgot" } else { "forgot in part" })?;
    Ok(())
}

/// A process that has said that it begins.
struct Forgetter {
    child: Child,
    told: BufReader<ChildStdout>,
}

impl Forgetter {
    fn start(number: usize, places: &Places) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MARK).arg(number.to_string()).args(places.urls()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut told = BufReader::new(child.stdout.take().ok_or("a process without output")?);
        let mut line = String::new();
        told.read_line(&mut line)?;
        if line == "begins\n" { Ok(Self { child, told }) } else { Err(format!("a process said {line:?}").into()) }
    }

    /// Lets it forget, and returns how long that took.
    fn ends(mut self) -> Outcome<Duration> {
        let watch = RunningWatch::start();
        let mut said = String::new();
        self.told.read_to_string(&mut said)?;
        let took = watch.elapsed();
        self.child.wait()?;
        if said == "forgot\n" { Ok(took) } else { Err(format!("a process said {said:?}").into()) }
    }

    /// Kills it after some time, and returns whether it had said that it forgot.
    fn killed(mut self, after: Duration) -> Outcome<bool> {
        std::thread::sleep(after);
        self.child.kill()?;
        self.child.wait()?;
        let mut said = String::new();
        self.told.read_to_string(&mut said)?;
        Ok(!said.is_empty())
    }
}

/// Stores an owner's records, a conversation and what is cached, each in every store that takes it.
async fn fill(memory: &Memory, stores: &Stores, owner: &Scope) -> Scene {
    tell(memory, stores, owner).await?;
    let fact = |number| Record::new("fact", format!("Kite {number} of {} is red.", owner.subject()), memory.now());
    let put = |record| Put { record: Arc::new(record), expect: Expect::Anything };
    let puts = (0..RECORDS).map(|number| put(fact(number))).collect();
    let records = stores.records.as_ref().ok_or_else(|| Failure::new("there are no records"))?;
    records.store().put(owner, &RecordBatch { fence: None, puts }).await?;
    settled(memory).await
}

async fn epoch(stores: &Stores, owner: &Scope) -> Result<Epoch> {
    stores.chat()?.upkeep().epoch(owner).await
}

pub(crate) async fn completed(servers: Servers) -> Scene {
    let places = Places::shared(&servers)?;
    let stores = places.open().await?;
    let memory = memory::over(stores.clone()).build().await?;
    let bystander = Scope::new("acme", "bob")?;
    tell(&memory, &stores, &bystander).await?;
    fill(&memory, &stores, &owner(0)?).await?;
    let told = places.clone();
    let unhurt = spawn_blocking(move || Forgetter::start(0, &told)?.ends());
    let mut took = unhurt.await.map_err(failed)?.map_err(failed)?;
    let same = Dump::of(&stores, &bystander).await?;

    let (kills, mut midway, mut number) = (rounds(KILLS), 0, 0);
    while midway < kills {
        number += 1;
        check!(number <= kills * TRIES, "only {midway} of {number} processes were killed midway, of {took:?}");
        let scope = owner(number)?;
        fill(&memory, &stores, &scope).await?;
        let whole = Dump::of(&stores, &scope).await?;
        check!(whole.is_everywhere(), "an owner is missing in a store: {whole:?}");
        // Never later than another was done, and each time at another moment than the time before.
        let after = took.mul_f64(((number * 3) % MOMENTS) as f64 / MOMENTS as f64);
        let (begun, told) = (epoch(&stores, &scope).await?, places.clone());
        let life = spawn_blocking(move || Forgetter::start(number, &told)?.killed(after));
        let is_done = life.await.map_err(failed)?.map_err(failed)?;
        let found = Dump::of(&stores, &scope).await?;
        // A server goes on with what it was sent before the kill: nothing has begun if that is so after all was read, too.
        let has_begun = epoch(&stores, &scope).await? != begun;
        check!(has_begun || found == whole, "something is missing, and the erasure has not begun: {found:?}");
        check!(has_begun || !is_done, "it said that it forgot, and has not begun");
        // The same call completes what was begun; every other time nobody makes it, and upkeep does.
        if !has_begun || number % 2 == 0 {
            let receipt = memory.of(&scope).forget(&Forget::Everything).await?;
            check!(receipt.complete, "{receipt:?}");
        }
        midway += usize::from(has_begun && !is_done);
        if is_done {
            took = after;
        }
        settled(&memory).await?;
        let rest = Dump::of(&stores, &scope).await?;
        check!(rest.is_nowhere(), "the forgotten owner is there: {rest:?}");
        equal(left(&stores, &scope).await?, 0)?;
        equal(Dump::of(&stores, &bystander).await?, same.clone())?;
    }
    writeln!(std::io::stdout(), "{midway} of {number} processes were killed midway, of {took:?}").map_err(failed)?;
    memory.close().await?;
    Ok(())
}
