//! The cache before truth, on a server that is killed and stopped: no read fails or is stale for it, and it comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use memory_core::engine::{Forget, Memory, Remember, Scoped};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::time::Stopwatch;
use memory_core::{Message, MessageId, RecordId, Role, SessionId, Truth};
use memory_redis::{Redis, RedisCache, RedisConfig};
use memory_testkit::doubles::{Counting, ManualClock, Tapped};
use memory_testkit::generate::Random;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, rounds};
use tokio::task::JoinHandle;

use super::support::{moment, scope};

const TASKS: u64 = 8;
const KILLS: usize = 50;
const PAUSES: usize = 20;

/// How many calls are made at the least while servers are killed.
const CALLS: u64 = 20_000;

/// The longest that a cache which is away may hold a call up: its deadline, and what the machine adds.
const LONGEST: Duration = Duration::from_millis(500).saturating_add(SLACK);

/// When the test gives up to wait for what the tasks do.
const GIVEN_UP: Duration = Duration::from_secs(300);

/// Longer than a circuit stays open.
const LATER: Duration = Duration::from_secs(31);

/// A memory with a cache in a server, and what tells how it does.
struct Ground {
    memory: Memory,
    /// Counts what truth is asked.
    truth: Arc<Counting>,
    clock: Arc<ManualClock>,
    is_over: AtomicBool,
    calls: AtomicU64,
    /// Items read, whoever answered; what truth did not answer came from the cache.
    read: AtomicU64,
}

impl Ground {
    async fn open(url: &str) -> Result<Arc<Self>, Failure> {
        let (truth, clock) = (Arc::new(Counting::default()), Arc::new(ManualClock::default()));
        let chat = Truth::chat(Arc::<MemChat>::default());
        let chat = chat.layered(|store| Arc::new(Tapped::new(store, truth.clone())));
        let records = Truth::records(Arc::<MemRecords>::default());
        let records = records.layered(|store| Arc::new(Tapped::new(store, truth.clone())));
        let cache = RedisCache::new(&Redis::connect(RedisConfig::new(url)).await?);
        let memory = Memory::builder(chat, records).cache(Arc::new(cache)).clock(clock.clone()).touch(false);
        let [calls, read] = [(); 2].map(|()| AtomicU64::new(0));
        let memory = memory.build().await?;
        Ok(Arc::new(Self { memory, truth, clock, is_over: AtomicBool::new(false), calls, read }))
    }

    /// Returns how many items came from the cache.
    fn hits(&self) -> u64 {
        self.read.load(Ordering::SeqCst).saturating_sub(self.truth.rows("get"))
    }

    /// Waits until the tasks have done something.
    async fn until(&self, tasks: &[JoinHandle<Scene>], what: &str, is_done: impl Fn() -> bool) -> Scene {
        let watch = Stopwatch::start();
        while !is_done() {
            check!(!tasks.iter().any(JoinHandle::is_finished), "a task gave up");
            check!(watch.elapsed() < GIVEN_UP, "after {GIVEN_UP:?} {what}");
            moment().await;
        }
        Ok(())
    }

    /// Waits until so many calls more were answered.
    async fn goes_on(&self, tasks: &[JoinHandle<Scene>], calls: u64) -> Scene {
        let enough = self.calls.load(Ordering::SeqCst) + calls;
        self.until(tasks, "too few calls were answered", || self.calls.load(Ordering::SeqCst) >= enough).await
    }

    /// Lets the circuit be tried again and again, and waits until the cache answers reads.
    async fn recovers(&self, tasks: &[JoinHandle<Scene>]) -> Scene {
        let before = self.hits();
        let is_back = || {
            // The driver connects anew with a call that fails.
            self.clock.advance(LATER);
            self.hits() > before + 20
        };
        self.until(tasks, "nothing comes from the cache", is_back).await
    }
}

/// What one owner has told the memory, and what is true of it now.
struct Owner {
    ground: Arc<Ground>,
    scoped: Scoped,
    session: SessionId,
    random: Random,
    messages: Vec<(MessageId, String, bool)>,
    records: Vec<(RecordId, bool)>,
    /// A message of another owner.
    foreign: Option<MessageId>,
}

impl Owner {
    fn new(ground: &Arc<Ground>, number: u64) -> Result<Self, Failure> {
        let scoped = ground.memory.of(&scope(&format!("task {number}"))?);
        let (ground, session, random) = (ground.clone(), SessionId::new("s")?, Random::new(number));
        Ok(Self { ground, scoped, session, random, messages: Vec::new(), records: Vec::new(), foreign: None })
    }

    /// Makes calls until it is over; each has to be answered, with what is true, in time.
    async fn live(mut self) -> Scene {
        while !self.ground.is_over.load(Ordering::SeqCst) {
            let watch = RunningWatch::start();
            // A change waits for the cache twice at the most, and a circuit that was tried meanwhile once more.
            let longest = match self.random.below(20) {
                0 => self.say().await.map(|()| LONGEST)?,
                1 => self.remember().await.map(|()| 3 * LONGEST)?,
                2 => self.forget().await.map(|()| 3 * LONGEST)?,
                3 => self.supersede().await.map(|()| 3 * LONGEST)?,
                4..=13 => self.read_messages().await.map(|()| LONGEST)?,
                _ => self.read_records().await.map(|()| LONGEST)?,
            };
            check!(watch.elapsed() < longest, "a call took {:?}", watch.elapsed());
            self.ground.calls.fetch_add(1, Ordering::SeqCst);
            // Others have their turn, and nobody writes as fast as a loop.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    async fn say(&mut self) -> Scene {
        let text = format!("message {} of {}", self.messages.len(), self.scoped.scope().subject());
        let message = Message::new(Role::User, text.clone(), self.ground.memory.now());
        self.messages.push((message.id, text, true));
        self.scoped.session(&self.session).append(vec![message]).await?;
        Ok(())
    }

    async fn remember(&mut self) -> Scene {
        let fact = Remember::fact(format!("fact number {} is a fact", self.records.len()));
        self.records.push((self.scoped.remember(fact).await?.id, false));
        Ok(())
    }

    /// Forgets a message. What does not reach the cache is no error, and never served all the same.
    async fn forget(&mut self) -> Scene {
        let place = self.random.below(self.messages.len().max(1));
        let Some((id, _, is_there)) = self.messages.get_mut(place) else { return Ok(()) };
        *is_there = false;
        self.scoped.forget(&Forget::Messages(vec![*id])).await?;
        Ok(())
    }

    async fn supersede(&mut self) -> Scene {
        let place = self.random.below(self.records.len().max(1));
        let number = self.records.len();
        let Some((id, is_superseded)) = self.records.get_mut(place).filter(|(_, old)| !old) else { return Ok(()) };
        *is_superseded = true;
        let next = self.scoped.supersede(*id, Remember::fact(format!("fact number {number} is better"))).await?;
        self.records.push((next.id, false));
        Ok(())
    }

    /// Reads some messages, forgotten ones and another owner's too.
    async fn read_messages(&mut self) -> Scene {
        let newest = self.messages.len().saturating_sub(30);
        let mut asked: Vec<_> = self.messages.iter().skip(newest).cloned().collect();
        asked.retain(|_| self.random.chance(1, 4));
        let ids: Vec<_> = asked.iter().map(|(id, ..)| *id).chain(self.foreign).collect();
        let found = self.scoped.messages(&ids).await?;
        self.ground.read.fetch_add(found.len() as u64, Ordering::SeqCst);
        let text = |row: &memory_core::message::StoredMessage| row.message.as_ref().map(|message| message.text());
        let found: Vec<_> = found.iter().map(|row| (row.id, text(row).unwrap_or_default())).collect();
        let there: Vec<_> =
            asked.into_iter().filter(|(.., is_there)| *is_there).map(|(id, text, _)| (id, text)).collect();
        equal(found, there)
    }

    async fn read_records(&mut self) -> Scene {
        let newest = self.records.len().saturating_sub(30);
        let mut asked: Vec<_> = self.records.iter().skip(newest).copied().collect();
        asked.retain(|_| self.random.chance(1, 4));
        let ids: Vec<_> = asked.iter().map(|(id, _)| *id).collect();
        let found = self.scoped.get(&ids).await?;
        self.ground.read.fetch_add(found.len() as u64, Ordering::SeqCst);
        let found: Vec<_> = found.iter().map(|row| (row.record.id, row.record.superseded.is_some())).collect();
        equal(found, asked)
    }
}

/// Starts a task for each owner, and one message of another owner for each to ask for.
async fn begin(ground: &Arc<Ground>) -> Result<Vec<JoinHandle<Scene>>, Failure> {
    let mut owners = Vec::new();
    let mut last = None;
    for number in 0..TASKS {
        let mut owner = Owner::new(ground, number)?;
        owner.say().await?;
        owner.remember().await?;
        owner.foreign = last;
        last = owner.messages.first().map(|(id, ..)| *id);
        owners.push(owner);
    }
    Ok(owners.into_iter().map(|owner| tokio::spawn(owner.live())).collect())
}

/// Ends the tasks; what any of them saw fails the test.
async fn end(ground: &Ground, tasks: Vec<JoinHandle<Scene>>, server: Server) -> Scene {
    ground.is_over.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    server.remove().await?;
    Ok(())
}

pub(crate) async fn killed(servers: Servers) -> Scene {
    let mut server = servers.own("redis")?.with_setting("appendonly", "no").start().await?;
    let ground = Ground::open(server.url()).await?;
    let tasks = begin(&ground).await?;
    let played = kill(&ground, &tasks, &mut server).await;
    end(&ground, tasks, server).await.and(played)
}

async fn kill(ground: &Ground, tasks: &[JoinHandle<Scene>], server: &mut Server) -> Scene {
    let kills = rounds(KILLS);
    for _ in 0..kills {
        server.kill().await?;
        ground.goes_on(tasks, CALLS / kills as u64).await?;
        server.restart().await?;
        ground.recovers(tasks).await?;
    }
    let calls = ground.calls.load(Ordering::SeqCst);
    check!(calls >= CALLS, "only {calls} calls");
    Ok(())
}

pub(crate) async fn stopped(servers: Servers) -> Scene {
    let server = servers.own("redis")?.with_setting("appendonly", "no").start().await?;
    let ground = Ground::open(server.url()).await?;
    let tasks = begin(&ground).await?;
    let played = pause(&ground, &tasks, &server).await;
    end(&ground, tasks, server).await.and(played)
}

async fn pause(ground: &Ground, tasks: &[JoinHandle<Scene>], server: &Server) -> Scene {
    for _ in 0..rounds(PAUSES) {
        server.stop().await?;
        // The circuit is tried twice in vain, with writes before, between and after.
        for _ in 0..3 {
            ground.goes_on(tasks, 400).await?;
            ground.clock.advance(LATER);
        }
        server.cont().await?;
        ground.recovers(tasks).await?;
    }
    Ok(())
}
