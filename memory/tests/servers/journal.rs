//! A journal before conversations in Postgres: the process is killed, the server is killed, stands still, or is not there.

pub(crate) mod answers;
pub(crate) mod away;
pub(crate) mod full;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use memory::layer::within;
use memory::receipt::ContextReceipt;
use memory::store::Durability;
use memory::store::chat::{Page, Placement, View};
use memory::{AppendReceipt, Memory, Message, MessageId, Role, Scope, Seq, Session, SessionId, Settings};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, rounds};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::process::{self, Outcome};

/// The first argument of a process that is killed.
const MARK: &str = "a-process-behind-a-journal";

/// How often it is killed, and how seldom the server is beside it.
const KILLS: usize = 30;
const KILLS_PER_SERVER: usize = 20;

/// The conversations of a process.
const TALKS: usize = 8;

/// How many messages a process is told to be stored before it is killed, at least.
const TOLD: usize = 400;

/// How many messages so many kills must see acknowledged, at least.
const ACKNOWLEDGED: [(usize, usize); 2] = [(300, 100_000), (1_000, 500_000)];

/// How long is waited for what has to reach the server once it is back, on a machine that may stand still meanwhile. How soon it is
/// there is measured.
const DRAINED: Duration = Duration::from_secs(300);

/// How soon what waits is with a server that was not there when the memory began, and came.
const BEGUN: Duration = Duration::from_secs(10);

/// How soon what waits is with a server that is back after an outage: a probe of its guard may be half a minute away.
const RETURNED: Duration = Duration::from_secs(60);

/// How long a call to the server may take ([`memory::layer::GuardPolicy`]). An append makes none by a handle that has been answered.
const DEADLINE: Duration = Duration::from_secs(6);

/// How long a call is given by its caller, and how much longer it may take.
const LIMIT: Duration = Duration::from_secs(2);
const STUCK: Duration = Duration::from_secs(1);

/// How long the server is away under load, in rounds of a second.
const AWAY: usize = 20;

/// How many messages are said while it is away, at most: fewer than the journal holds.
const HELD: u32 = 40_000;

/// How long nothing may be acknowledged while the server is away: a machine that does other work may stand still for a while.
const PATIENCE: Duration = Duration::from_secs(60);

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

fn scope() -> memory::Result<Scope> {
    Scope::new("acme", "ada")
}

async fn open(url: &str, journal: &Path) -> memory::Result<Memory> {
    Settings::new(url).without_embedder().with_journal(journal).open().await?.build().await
}

fn talk(memory: &Memory, number: usize) -> memory::Result<Session> {
    Ok(memory.of(&scope()?).session(&SessionId::new(&format!("talk {number}"))?))
}

/// Returns a message that is the same whichever process says it.
fn message(talk: usize, number: usize) -> Message {
    let text = format!("{talk} {number}");
    let message = Message::new(Role::User, text.as_str(), memory::Timestamp(1_767_268_800_000_000));
    message.with_id(MessageId::of_content(text.as_bytes()))
}

/// Returns how this process ended, if it is one that is killed.
pub(crate) fn process() -> Option<ExitCode> {
    let told = process::told(MARK)?;
    let [url, journal, begun @ ..] = told.as_slice() else { return None };
    let begun: Vec<usize> = begun.iter().filter_map(|number| number.parse().ok()).collect();
    Some(process::ended("a process behind a journal", speak(url, Path::new(journal), begun)))
}

/// Says one message after the other in each conversation, and tells of each that is acknowledged; until it is killed.
async fn speak(url: &str, journal: &Path, begun: Vec<usize>) -> Outcome<()> {
    let memory = loop {
        match open(url, journal).await {
            // The process before may not have let go of the journal yet.
            Err(memory::Error::Unsupported { .. }) => sleep(Duration::from_millis(5)).await,
            opened => break opened?,
        }
    };
    let mut talks = JoinSet::new();
    for (number, next) in begun.into_iter().enumerate() {
        let session = talk(&memory, number)?;
        talks.spawn(async move {
            for next in next.. {
                loop {
                    match session.append(vec![message(number, next)]).await {
                        Err(error) if error.is_retryable() => sleep(Duration::from_millis(5)).await,
                        appended => break drop(appended?),
                    }
                }
                writeln!(std::io::stdout().lock(), "{number} {next}")?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(ended) = talks.join_next().await {
        ended??;
    }
    Ok(())
}

/// A process, and what it has told.
struct Speaker {
    child: Child,
    told: BufReader<std::process::ChildStdout>,
}

impl Speaker {
    fn start(url: &str, journal: &Path, next: &[usize]) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([MARK, url]).arg(journal).args(next.iter().map(usize::to_string)).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let told = child.stdout.take().ok_or("a process without output")?;
        Ok(Self { child, told: BufReader::new(told) })
    }

    /// Reads what is told: `count` lines, or all that is left.
    fn hear(&mut self, next: &mut [usize], count: usize) -> Outcome<usize> {
        let mut line = String::new();
        for heard in 0..count {
            line.clear();
            if self.told.read_line(&mut line)? == 0 || !line.ends_with('\n') {
                return Ok(heard);
            }
            let (talk, number) = line.trim().split_once(' ').ok_or("no line of a process")?;
            let next = next.get_mut(talk.parse::<usize>()?).ok_or("no conversation of a process")?;
            *next = number.parse::<usize>()? + 1;
        }
        Ok(count)
    }
}

/// Lets a process speak until it was told of enough messages, and kills it. Returns how many.
fn live(url: &str, journal: &Path, mut next: Vec<usize>, enough: usize) -> Outcome<Vec<usize>> {
    let mut speaker = Speaker::start(url, journal, &next)?;
    speaker.hear(&mut next, enough)?;
    speaker.child.kill()?;
    speaker.child.wait()?;
    speaker.hear(&mut next, usize::MAX)?;
    Ok(next)
}

/// Returns whether the server is killed beside the process.
fn strikes_server(kill: usize) -> bool {
    kill % KILLS_PER_SERVER == KILLS_PER_SERVER / 2
}

/// The process and the server are killed again and again: what was acknowledged is there, once, in order.
pub(crate) async fn survives_kills(servers: Servers) -> Scene {
    let mut server = servers.own("postgres")?.start().await?;
    let (url, folder) = (server.url().to_owned(), tempfile::tempdir().map_err(failed)?);
    let journal = folder.path().join("journal.db");
    let mut next = vec![0; TALKS];
    let kills = rounds(KILLS);
    for kill in 0..kills {
        let (url, path, begun) = (url.clone(), journal.clone(), next.clone());
        // Killed at another point of its work each time.
        let enough = TOLD + kill * 37 % 211;
        let life = tokio::task::spawn_blocking(move || live(&url, &path, begun, enough));
        if strikes_server(kill) {
            sleep(Duration::from_millis(100 + 13 * (kill as u64 % 17))).await;
            server.kill().await?;
            server.restart().await?;
        }
        let lived = life.await.map_err(failed)?;
        next = lived.map_err(failed)?;
    }
    let memory = open(&url, &journal).await?;
    equal(memory.shutdown(DRAINED).await?, 0)?;
    let memory = Settings::new(&url).without_embedder().open().await?.build().await?;
    for (number, told) in next.iter().enumerate() {
        in_order(&memory, number, *told, 1).await?;
    }
    let told: usize = next.iter().sum();
    let asked = ACKNOWLEDGED.iter().filter(|(full, _)| kills >= *full).map(|(_, least)| *least);
    let least = asked.max().unwrap_or_default().max(kills * TOLD);
    check!(told >= least, "only {told} messages were acknowledged, and not {least}");
    let served = (0..kills).filter(|kill| strikes_server(*kill)).count();
    writeln!(std::io::stdout(), "{kills} kills, {served} of the server, {told} messages acknowledged")
        .map_err(failed)?;
    memory.close().await?;
    Ok(())
}

/// Passes if all that an append brought waits in the journal.
fn is_queued(receipt: &AppendReceipt) -> Scene {
    equal((receipt.placements.as_slice(), receipt.durability), (&[Placement::Queued][..], Durability::Queued))
}

/// Runs a call whose caller gives it [`LIMIT`]: it ends in time, well.
async fn in_time<T>(what: &str, call: impl Future<Output = memory::Result<T>>) -> Result<T, Failure> {
    let watch = RunningWatch::start();
    let answer = within(LIMIT, call).await?;
    check!(watch.elapsed() < LIMIT + STUCK + SLACK, "{what} took {:?}", watch.elapsed());
    Ok(answer)
}

/// Passes if a context holds the text. Returns its receipt.
async fn holds(session: &Session, text: &str) -> Result<ContextReceipt, Failure> {
    let context = in_time("a context", session.context("What did I say?", 500)).await?;
    check!(context.messages().any(|message| message.text() == text), "{text} is in no context");
    Ok(context.receipt)
}

/// Passes if a context holds the text, and does not claim to hold everything. Returns its receipt.
async fn is_shown(session: &Session, text: &str) -> Result<ContextReceipt, Failure> {
    let receipt = holds(session, text).await?;
    check!(!receipt.complete, "{receipt:?}");
    Ok(receipt)
}

/// Passes if all that waits reaches the server, as soon as is promised.
async fn drains(memory: &Memory, promised: Duration) -> Scene {
    let watch = RunningWatch::start();
    equal(memory.flush(DRAINED).await, 0)?;
    check!(watch.elapsed() < promised + SLACK, "it took {:?} until nothing waited", watch.elapsed());
    Ok(())
}

/// Passes if a conversation holds the messages 0 to before `told`, once each and in order, and at most `more`.
async fn in_order(memory: &Memory, number: usize, told: usize, more: usize) -> Scene {
    let (session, mut after, mut count) = (talk(memory, number)?, Seq(0), 0);
    loop {
        let rows = session.read(&Page::after(after, 1_000, View::Log)).await?.messages;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        for row in rows {
            let text = row.message.map(|message| message.text()).unwrap_or_default();
            equal((row.seq, text), (Seq(count as u64 + 1), format!("{number} {count}")))?;
            count += 1;
        }
    }
    check!((told..=told + more).contains(&count), "{count} messages, of which {told} were acknowledged");
    Ok(())
}

/// Speaks until it is over, with a pause behind each message, and looks with every tenth one whether a context holds what was just
/// said. Returns how much it said.
async fn speak_on(
    memory: Memory,
    number: usize,
    pause: Duration,
    is_over: Arc<AtomicBool>,
    said: Arc<AtomicUsize>,
) -> Result<usize, Failure> {
    let session = talk(&memory, number)?;
    for next in 0.. {
        if is_over.load(Ordering::SeqCst) {
            return Ok(next);
        }
        session.append(vec![message(number, next)]).await?;
        said.fetch_add(1, Ordering::SeqCst);
        if next % 10 == 0 {
            let context = session.context("What did I say?", 500).await?;
            let text = format!("{number} {next}");
            check!(context.messages().any(|message| message.text() == text), "{text} is in no context");
        }
        sleep(pause).await;
    }
    Ok(0)
}

/// The server goes away under load: appends go on, contexts hold what was just said, and then it drains in order.
pub(crate) async fn outlasts_an_outage(servers: Servers) -> Scene {
    let mut server = servers.own("postgres")?.start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let memory = open(server.url(), &folder.path().join("journal.db")).await?;
    let (is_over, said) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let seconds = rounds(AWAY);
    let pause = (Duration::from_secs((TALKS * seconds) as u64) / HELD).max(Duration::from_millis(10));
    let speakers: Vec<_> = (0..TALKS)
        .map(|number| tokio::spawn(speak_on(memory.clone(), number, pause, Arc::clone(&is_over), Arc::clone(&said))))
        .collect();
    sleep(Duration::from_secs(2)).await;
    server.kill().await?;
    let mut before = said.load(Ordering::SeqCst);
    for _ in 0..seconds {
        sleep(Duration::from_secs(1)).await;
        let more = async {
            while said.load(Ordering::SeqCst) == before {
                sleep(Duration::from_millis(10)).await;
            }
        };
        check!(timeout(PATIENCE, more).await.is_ok(), "nothing was acknowledged for {PATIENCE:?}");
        before = said.load(Ordering::SeqCst);
    }
    server.restart().await?;
    is_over.store(true, Ordering::SeqCst);
    let mut counts = Vec::new();
    for speaker in speakers {
        counts.push(speaker.await.map_err(failed)??);
    }
    drains(&memory, RETURNED).await?;
    for (number, count) in counts.into_iter().enumerate() {
        in_order(&memory, number, count, 0).await?;
    }
    memory.close().await?;
    Ok(())
}

/// A memory opens without its server, takes messages, is shut down and opened again, and drains once the server is there.
pub(crate) async fn begins_without_its_server(servers: Servers) -> Scene {
    let mut server: Server = servers.own("postgres")?.start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let (url, journal) = (server.url().to_owned(), folder.path().join("journal.db"));
    server.kill().await?;
    let memory = open(&url, &journal).await?;
    let session = talk(&memory, 0)?;
    for next in 0..2_500 {
        is_queued(&session.append(vec![message(0, next)]).await?)?;
    }
    equal(memory.shutdown(Duration::from_secs(1)).await?, 2_500)?;
    let memory = open(&url, &journal).await?;
    let session = talk(&memory, 0)?;
    for next in 2_500..5_000 {
        is_queued(&session.append(vec![message(0, next)]).await?)?;
    }
    let receipt = is_shown(&session, "0 4999").await?;
    check!(!receipt.search.degraded.is_empty(), "{receipt:?}");
    server.restart().await?;
    drains(&memory, BEGUN).await?;
    in_order(&memory, 0, 5_000, 0).await?;
    // A server that stands still holds up a handle that it has not answered yet no longer than the deadline of a call.
    server.stop().await?;
    for next in 5_000..5_100 {
        let watch = RunningWatch::start();
        talk(&memory, 0)?.append(vec![message(0, next)]).await?;
        check!(watch.elapsed() < DEADLINE + SLACK, "an append took {:?}", watch.elapsed());
    }
    server.cont().await?;
    equal(memory.shutdown(DRAINED).await?, 0)?;
    let memory = open(&url, &journal).await?;
    in_order(&memory, 0, 5_100, 0).await?;
    memory.close().await?;
    Ok(())
}
