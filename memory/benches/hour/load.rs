//! Who writes, reads and searches: many callers over many conversations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use memory::store::time::Stopwatch;
use memory::{Memory, Message, Result, Role, Scope, Scoped, Search, SessionId};
use memory_testkit::bench::{Endings, Outcome, say};
use memory_testkit::generate::Random;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// The conversations: so many owners with so many each.
const OWNERS: usize = 1_000;
const EACH: usize = 10;

/// Callers that write, and callers that read.
const WRITERS: usize = 64;
const READERS: usize = 4;

/// How often each caller that reads asks for a context and searches.
const READ_EVERY: Duration = Duration::from_millis(500);

/// The words of a message, and how many different ones there are.
const WORDS: usize = 40;
const VOCABULARY: usize = 5_000;

/// The tokens of a context.
const BUDGET: u64 = 1_000;

/// All callers, and how their calls ended.
#[derive(Debug)]
pub(crate) struct Load {
    memory: Memory,
    is_over: AtomicBool,
    appends: Endings,
    contexts: Endings,
    searches: Endings,
    /// Contexts and searches that were answered in part.
    partial: AtomicU64,
}

impl Load {
    pub(crate) fn new(memory: Memory) -> Self {
        let [appends, contexts, searches] = [(); 3].map(|()| Endings::default());
        Self { memory, is_over: AtomicBool::new(false), appends, contexts, searches, partial: AtomicU64::new(0) }
    }

    /// Returns how many messages were acknowledged, and how many were refused because the queue was full.
    pub(crate) fn appended(&self) -> (u64, u64) {
        (self.appends.of(&["ok"]), self.appends.of(&["full"]))
    }

    /// Says something in every conversation and asks for its context, so that whatever is kept of a conversation is there before memory
    /// is measured.
    pub(crate) async fn begin_sessions(self: &Arc<Self>) -> Outcome<()> {
        let mut callers: JoinSet<Result<()>> = JoinSet::new();
        for caller in 0..WRITERS {
            let load = Arc::clone(self);
            callers.spawn(async move {
                let mut random = Random::new(caller as u64);
                for number in (caller..OWNERS * EACH).step_by(WRITERS) {
                    load.append(number, &mut random).await?;
                    load.look(number, &mut random).await;
                }
                Ok(())
            });
        }
        while let Some(ended) = callers.join_next().await {
            ended??;
        }
        Ok(())
    }

    /// Returns how many messages a second are acknowledged if each caller says the next one at once.
    pub(crate) async fn at_best(self: &Arc<Self>, time: Duration) -> Outcome<f64> {
        let (watch, (before, _)) = (Stopwatch::start(), self.appended());
        let mut callers = JoinSet::new();
        for caller in 0..WRITERS {
            let load = Arc::clone(self);
            callers.spawn(async move {
                let mut random = Random::new((WRITERS + caller) as u64);
                while watch.elapsed() < time {
                    // A queue that is full is counted, and drains meanwhile.
                    let _ = load.append(random.below(OWNERS * EACH), &mut random).await;
                }
            });
        }
        callers.join_all().await;
        Ok((self.appended().0 - before) as f64 / watch.elapsed().as_secs_f64())
    }

    /// Begins to say `rate` messages a second, and to read and search. What a caller cannot say in time it leaves out.
    pub(crate) fn offer(self: &Arc<Self>, rate: f64) -> JoinSet<()> {
        let mut callers = JoinSet::new();
        let every = Duration::from_secs_f64(WRITERS as f64 / rate.max(1.0));
        for caller in 0..WRITERS + READERS {
            let (load, is_writer) = (Arc::clone(self), caller < WRITERS);
            let mut random = Random::new((2 * WRITERS + caller) as u64);
            callers.spawn(async move {
                let mut turns = interval(if is_writer { every } else { READ_EVERY });
                turns.set_missed_tick_behavior(MissedTickBehavior::Skip);
                while !load.is_over.load(Ordering::Relaxed) {
                    turns.tick().await;
                    let number = random.below(OWNERS * EACH);
                    if is_writer {
                        let _ = load.append(number, &mut random).await;
                    } else {
                        load.look(number, &mut random).await;
                    }
                }
            });
        }
        callers
    }

    /// Lets all callers end after the call that they are in.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    async fn append(&self, number: usize, random: &mut Random) -> Result<()> {
        let (owner, session) = self.place(number)?;
        let message = Message::new(Role::User, text(random, WORDS), self.memory.now());
        let answer = owner.session(&session).append(vec![message]).await;
        self.appends.note(&answer);
        answer.map(drop)
    }

    /// Asks for a context of a conversation, and searches all of its owner.
    async fn look(&self, number: usize, random: &mut Random) {
        let Ok((owner, session)) = self.place(number) else { return };
        let question = text(random, 5);
        let context = owner.session(&session).context(&question, BUDGET).await;
        self.contexts.note(&context);
        let found = owner.search(&Search::new(&question)).await;
        self.searches.note(&found);
        let is_partial = context.is_ok_and(|context| !context.receipt.complete)
            || found.is_ok_and(|found| !found.receipt.degraded.is_empty());
        self.partial.fetch_add(u64::from(is_partial), Ordering::Relaxed);
    }

    fn place(&self, number: usize) -> Result<(Scoped, SessionId)> {
        let owner = self.memory.of(&Scope::new("hour", &format!("owner {}", number / EACH))?);
        Ok((owner, SessionId::new(&format!("talk {}", number % EACH))?))
    }

    /// Tells how all calls ended.
    pub(crate) fn report(&self) {
        say(&format!("appends:  {}", self.appends));
        say(&format!("contexts: {}", self.contexts));
        say(&format!("searches: {}", self.searches));
        say(&format!("in part:  {} pairs of a context and a search", self.partial.load(Ordering::Relaxed)));
    }
}

/// Returns so many words.
fn text(random: &mut Random, words: usize) -> String {
    (0..words).map(|_| format!("word{} ", random.below(VOCABULARY))).collect()
}
