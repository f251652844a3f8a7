//! How often a context waits for servers, one wait after another: whatever runs together is one wait, however slow a
//! server is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memory::receipt::Degraded;
use memory::{Memory, Message, Remember, Result, Role, Scope, Session, SessionId, Stores};
use memory_testkit::doubles::{Tap, Tapped};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};

use crate::places::Places;

/// Contexts that are asked for at the most until three have waited as often as promised.
const TRIES: usize = 40;
/// The time between two of them, where the first was none of the three.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest chain of calls of which each began after the one before had ended.
#[derive(Debug, Default)]
struct Chain {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The length of the longest chain of calls that have ended.
    ended: usize,
    /// The lengths of the chains that end with the calls under way, by part and method.
    under_way: BTreeMap<(&'static str, &'static str), Vec<usize>>,
    /// Calls by part and method.
    made: BTreeMap<(&'static str, &'static str), usize>,
}

impl Chain {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew.
    fn reset(&self) {
        *self.lock() = State::default();
    }
}

/// What one part of a memory contributes to a chain.
#[derive(Debug)]
struct Link {
    part: &'static str,
    chain: Arc<Chain>,
}

impl Tap for Link {
    fn enter(&self, call: &'static str) -> Result<()> {
        let mut state = self.chain.lock();
        let length = state.ended + 1;
        state.under_way.entry((self.part, call)).or_default().push(length);
        *state.made.entry((self.part, call)).or_default() += 1;
        Ok(())
    }

    fn leave(&self, call: &'static str, _: usize) -> Result<()> {
        let mut state = self.chain.lock();
        // Of several equal calls the one with the longest chain is taken: never too few waits are counted.
        let under_way = state.under_way.entry((self.part, call)).or_default();
        under_way.sort_unstable();
        let length = under_way.pop().unwrap_or_default();
        state.ended = state.ended.max(length);
        Ok(())
    }
}

/// Puts a link around every store.
fn watched(stores: Stores, chain: &Arc<Chain>) -> Stores {
    let link = |part| Arc::new(Link { part, chain: Arc::clone(chain) }) as Arc<dyn Tap>;
    let mut watched = stores;
    watched.chat = watched.chat.map(|chat| {
        let chat = chat.layered(|store| Arc::new(Tapped::new(store, link("chat"))));
        chat.layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, link("chat upkeep"))))
    });
    watched.records = watched.records.map(|records| {
        let records = records.layered(|store| Arc::new(Tapped::new(store, link("records"))));
        records.layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, link("records upkeep"))))
    });
    watched.text = watched.text.map(|store| Arc::new(Tapped::new(store, link("text"))) as _);
    let vectors = watched.vectors.into_iter();
    watched.vectors =
        vectors.map(|(store, embedder)| (Arc::new(Tapped::new(store, link("vectors"))) as _, embedder)).collect();
    watched.cache = watched.cache.map(|cache| Arc::new(Tapped::new(cache, link("cache"))) as _);
    watched
}

/// Returns a session of this memory whose beginning is worth recalling.
async fn fill(memory: &Memory) -> std::result::Result<Session, Failure> {
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let talk = ada.session(&SessionId::new("talk")?);
    let say = |text: String| Message::new(Role::User, text, memory.now());
    let mut messages = vec![say("My parcel E-4471-B never arrived.".to_owned())];
    messages.extend((0..300).map(|number| say(format!("Please water plant number {number} on the balcony."))));
    talk.append(messages).await?;
    ada.remember(Remember::fact("Parcels go to the neighbour")).await?;
    let report = memory.upkeep_once().await?;
    equal(report.failures, [""; 0])?;
    Ok(talk)
}

/// Asks for a context, checks that all four servers had their part in it, and returns how often it waited, and which parts
/// did not answer.
async fn waits(chain: &Chain, talk: &Session) -> std::result::Result<(usize, Vec<Degraded>), Failure> {
    chain.reset();
    let context = talk.context("Where is my parcel?", 1_000).await?;
    check!(context.receipt.tokens.recalled > 0 && context.receipt.history.kept_messages > 0, "{:?}", context.receipt);
    let state = chain.lock();
    for call in [("chat", "read"), ("text", "search"), ("vectors", "search")] {
        check!(state.made.contains_key(&call), "{call:?} was not made: {:?}", state.made);
    }
    Ok((state.ended, context.receipt.search.degraded))
}

/// Asks for contexts until three of them have waited `promised` times, with every part in its place.
///
/// On a machine under load calls that run together may come one after the other and count as more waits, never as fewer: a
/// context that needs more waits is never found to have these. Nor are those counted in which a part did not answer in its
/// time, or `is_warm` says that the cache lacked something.
async fn settled(chain: &Chain, talk: &Session, promised: usize, is_warm: impl Fn(&State) -> bool) -> Scene {
    let (mut found, mut seen) = (0, Vec::new());
    while found < 3 {
        check!(seen.len() < TRIES, "of {TRIES} contexts {found} waited {promised} times: {seen:?}");
        let (waited, degraded) = waits(chain, talk).await?;
        seen.push(waited);
        if degraded.is_empty() && is_warm(&chain.lock()) {
            check!(waited >= promised, "{waited} waits for what takes {promised}");
            if waited == promised {
                found += 1;
                continue;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// What a context waits for after its query is embedded, which takes no server here.
pub(crate) async fn twice(servers: Servers) -> Scene {
    let chain = Arc::new(Chain::default());
    let mut stores = watched(Places::shared(&servers)?.open().await?, &chain);
    stores.cache = None;
    let memory = memory::over(stores).build().await?;
    let talk = fill(&memory).await?;
    settled(&chain, &talk, 2, |_| true).await?;
    Ok(memory.close().await?)
}

/// Where no vector is kept in the process, the cached one of the question is asked for first; what is cached of the content
/// takes the place of the second wait. The first context finds nothing cached.
pub(crate) async fn with_a_cache(servers: Servers) -> Scene {
    let chain = Arc::new(Chain::default());
    let stores = watched(Places::shared(&servers)?.open().await?, &chain);
    let memory = memory::over(stores).kept_vectors(0).build().await?;
    let talk = fill(&memory).await?;
    let is_served =
        |state: &State| ![("chat", "get"), ("records", "get")].iter().any(|call| state.made.contains_key(call));
    settled(&chain, &talk, 3, is_served).await?;
    Ok(memory.close().await?)
}
