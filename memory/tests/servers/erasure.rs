//! An owner is forgotten while a server stops midway: it is pending until the server is back, and then complete, and nobody
//! else's data has changed by a byte.

pub(crate) mod killed;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use memory::{
    Error, Forget, ForgetReceipt, Memory, Message, Remember, Result, Role, Scope, Search, Session, SessionId, Stores,
};
use memory_testkit::doubles::{Tap, Tapped};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal, fails};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::bytes;
use crate::dump::{Dump, put_cached};
use crate::places::Places;

const OWNERS: usize = 50;
/// How many of them are read at once.
const AT_ONCE: usize = 5;
/// How long is waited for upkeep to end what was begun, once the server answers.
const PATIENCE: Duration = Duration::from_secs(300);

/// Kills a server as soon as the first store is told to erase: the tombstone stands then, and nothing else is done.
#[derive(Debug)]
struct Strike {
    server: Arc<Mutex<Server>>,
    outcome: std::sync::Mutex<Option<std::result::Result<(), String>>>,
}

impl Tap for Strike {
    fn enter(&self, call: &'static str) -> Result<()> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if call == "erase" && outcome.is_none() {
            let killed = async { self.server.lock().await.kill().await };
            let killed = tokio::task::block_in_place(|| Handle::current().block_on(killed));
            *outcome = Some(killed.map_err(|missing| missing.to_string()));
        }
        Ok(())
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Four servers of this test's own, and the stores on them.
struct Four {
    servers: BTreeMap<&'static str, Arc<Mutex<Server>>>,
    stores: Stores,
}

impl Four {
    async fn start(servers: &Servers) -> std::result::Result<Self, Failure> {
        let own = |name| servers.own(name);
        let [postgres, redis, elastic, qdrant] = ["postgres", "redis", "elastic", "qdrant"].map(own);
        let (postgres, redis, elastic, qdrant) =
            tokio::try_join!(postgres?.start(), redis?.start(), elastic?.start(), qdrant?.start())?;
        let stores = Places::on(postgres.url(), redis.url(), elastic.url(), qdrant.url()).open().await?;
        let all = [("postgres", postgres), ("redis", redis), ("elastic", elastic), ("qdrant", qdrant)];
        let servers = all.map(|(name, server)| (name, Arc::new(Mutex::new(server)))).into();
        Ok(Self { servers, stores })
    }

    fn server(&self, name: &str) -> std::result::Result<Arc<Mutex<Server>>, Failure> {
        self.servers.get(name).cloned().ok_or_else(|| Failure::new("there is no such server"))
    }

    /// Returns all that each server tells.
    async fn bytes(&self) -> std::result::Result<Vec<(&'static str, Vec<u8>)>, Failure> {
        let mut told = Vec::new();
        for (name, server) in &self.servers {
            let url = server.lock().await.url().to_owned();
            let bytes = match *name {
                "postgres" => bytes::of_postgres(&url).await,
                "redis" => bytes::of_redis(&url).await,
                "elastic" => bytes::of_elastic(&url).await,
                _ => bytes::of_qdrant(&url).await,
            };
            told.push((*name, bytes?));
        }
        Ok(told)
    }

    /// Returns a memory over the stores whose saga is struck once.
    async fn memory(&self, strike: &Arc<Strike>) -> Result<Memory> {
        let (mut stores, tap) = (self.stores.clone(), Arc::clone(strike) as Arc<dyn Tap>);
        stores.chat = stores.chat.map(|chat| chat.layered(|store| Arc::new(Tapped::new(store, tap))));
        memory::over(stores).build().await
    }

    /// Reads everything of all owners, in their order.
    async fn dumps(&self, owners: &[Scope]) -> std::result::Result<Vec<Dump>, Failure> {
        let share = |owners: &[Scope]| {
            let (stores, owners) = (self.stores.clone(), owners.to_vec());
            tokio::spawn(async move {
                let mut dumps = Vec::with_capacity(owners.len());
                for owner in owners {
                    dumps.push(Dump::of(&stores, &owner).await?);
                }
                Ok::<_, Error>(dumps)
            })
        };
        let tasks: Vec<_> = owners.chunks(OWNERS / AT_ONCE).map(share).collect();
        let mut dumps = Vec::with_capacity(owners.len());
        for task in tasks {
            dumps.extend(task.await.map_err(|stopped| Failure::new(stopped.to_string()))??);
        }
        Ok(dumps)
    }
}

/// Returns what an erasure by hand would still find.
async fn left(stores: &Stores, owner: &Scope) -> Result<u64> {
    let (mut left, epoch) = (0, stores.chat()?.upkeep().epoch(owner).await?);
    for (_, store) in stores.parts() {
        let erased = store.erase(owner, epoch).await?;
        left += erased.removed + erased.remaining;
    }
    Ok(left)
}

/// Tells a memory something of an owner in every store, and returns the session.
async fn tell(memory: &Memory, stores: &Stores, owner: &Scope) -> Result<Session> {
    let (name, of) = (owner.subject(), memory.of(owner));
    let session = of.session(&SessionId::new("talk")?);
    let say = |role, text: String| Message::new(role, text, memory.now());
    let said = [
        say(Role::User, format!("I am {name}, and my parcel with the red kite never came.")),
        say(Role::Assistant, format!("I will look for the parcel, {name}.")),
    ];
    session.append(said.to_vec()).await?;
    of.remember(Remember::preference(format!("{name} takes tea with the kite club"))).await?;
    put_cached(stores, owner).await?;
    Ok(session)
}

/// Runs upkeep until no index is behind.
pub(crate) async fn settled(memory: &Memory) -> Scene {
    let until = Instant::now() + PATIENCE;
    loop {
        let upkeep = memory.upkeep_once().await;
        let behind = pending(memory).await;
        if upkeep.is_ok() && behind == Some(0) {
            return Ok(());
        }
        check!(Instant::now() < until, "{behind:?} notes are left, and upkeep says {upkeep:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Returns how many notes all indexes have to follow yet; none if the truth does not say.
async fn pending(memory: &Memory) -> Option<u64> {
    let indexes = memory.status().await.indexes;
    indexes.into_iter().map(|index| index.backlog.ok().map(|backlog| backlog.pending)).sum()
}

/// The parts of a memory that did not confirm an erasure.
fn unconfirmed(receipt: &ForgetReceipt) -> Vec<&'static str> {
    receipt.stores.iter().filter(|store| store.remaining != Some(0)).map(|store| store.part).collect()
}

pub(crate) async fn outlives(servers: Servers) -> Scene {
    let four = Four::start(&servers).await?;
    let owners: Vec<Scope> =
        (0..OWNERS).map(|number| Scope::new("acme", &format!("ada{number}"))).collect::<Result<_>>()?;
    let memory = memory::over(four.stores.clone()).build().await?;
    for owner in &owners {
        tell(&memory, &four.stores, owner).await?;
    }
    settled(&memory).await?;
    // With the truth away, the layer before it cannot tell whether the cache forgot the latest epoch, and nobody tells which
    // indexes follow. The cache is the last: what a memory could not take back from it, it does not ask it for a minute.
    let rounds: [(&str, &[&str]); 4] = [
        ("elastic", &["text"]),
        ("qdrant", &["vectors"]),
        ("postgres", &["chat", "records", "cache", "indexes"]),
        ("redis", &["cache"]),
    ];
    for (victim, (server, parts)) in owners.iter().zip(rounds) {
        let told = round(&four, &owners, victim, server, parts).await;
        told.map_err(|failure| Failure::new(format!("with {server} stopped: {failure}")))?;
    }
    Ok(())
}

/// Whatever is asked of the servers past the stores, none tells a word or an id of an owner who was erased.
pub(crate) async fn leaves_no_byte(servers: Servers) -> Scene {
    let four = Four::start(&servers).await?;
    let memory = memory::over(four.stores.clone()).build().await?;
    let mut marks = Vec::new();
    for (name, canary) in [("ada", "qoxada"), ("bob", "qoxbob")] {
        let owner = Scope::new("acme", name)?;
        let session = tell(&memory, &four.stores, &owner).await?;
        let said = Message::new(Role::User, format!("The kite is called {canary}."), memory.now());
        let record = Remember::fact(format!("{canary} is a kite"));
        let mut of_owner = vec![canary.to_owned(), said.id.to_string()];
        session.append(vec![said]).await?;
        of_owner.push(memory.of(&owner).remember(record).await?.id.to_string());
        if let Some(cache) = &four.stores.cache {
            let epoch = four.stores.chat()?.upkeep().epoch(&owner).await?;
            cache.put(&owner, epoch, "kite", canary.as_bytes(), Duration::from_secs(3_600)).await?;
        }
        // As the text form of bytes in Postgres.
        of_owner.push(canary.bytes().map(|byte| format!("{byte:02x}")).collect());
        marks.push((owner, of_owner));
    }
    settled(&memory).await?;
    let [(ada, of_ada), (_, of_bob)] = marks.as_slice() else { return Err(Failure::new("two owners")) };
    let found = |told: &[u8], marks: &[String]| -> Vec<String> {
        let stands = |mark: &&String| told.windows(mark.len()).any(|part| part.eq_ignore_ascii_case(mark.as_bytes()));
        marks.iter().filter(stands).cloned().collect()
    };
    for (name, told) in four.bytes().await? {
        check!(!found(&told, of_ada).is_empty(), "{name} tells nothing of what was stored: {} bytes", told.len());
    }
    let receipt = memory.of(ada).forget(&Forget::Everything).await?;
    check!(receipt.complete, "{receipt:?}");
    settled(&memory).await?;
    for (name, told) in four.bytes().await? {
        equal((name, found(&told, of_ada)), (name, Vec::new()))?;
        check!(!found(&told, of_bob).is_empty(), "{name} forgot another owner");
    }
    Ok(())
}

/// Forgets `victim` while `server` stops, lets it come back, and looks at everybody.
async fn round(four: &Four, owners: &[Scope], victim: &Scope, server: &str, parts: &[&str]) -> Scene {
    let server = four.server(server)?;
    let strike = Arc::new(Strike { server: Arc::clone(&server), outcome: std::sync::Mutex::default() });
    let memory = four.memory(&strike).await?;
    let old = tell(&memory, &four.stores, victim).await?;
    settled(&memory).await?;
    let before = four.dumps(owners).await?;
    check!(before.iter().all(Dump::is_everywhere), "an owner is missing in a store before: {before:?}");

    let receipt = memory.of(victim).forget(&Forget::Everything).await?;
    let killed = strike.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
    equal(killed, Some(Ok(())))?;
    check!(!receipt.complete, "it is not complete: {receipt:?}");
    equal(unconfirmed(&receipt), parts)?;
    still_pending(&memory, victim, parts).await?;

    server.lock().await.restart().await?;
    settled(&memory).await?;
    let after = four.dumps(owners).await?;
    let mut same = 0;
    for ((owner, before), after) in owners.iter().zip(&before).zip(&after) {
        if owner == victim {
            check!(after.is_nowhere(), "the forgotten owner is there: {after:?}");
        } else {
            equal(after, before)?;
            same += 1;
        }
    }
    equal(same, OWNERS - 1)?;
    equal(left(&four.stores, victim).await?, 0)?;
    fails!(old.append(vec![Message::new(Role::User, "I am back", memory.now())]).await, Error::Fenced);
    // The owner may begin anew, and is one of fifty again.
    tell(&memory, &four.stores, victim).await?;
    settled(&memory).await
}

/// While the server is away, the rest of the erasure stays noted, upkeep says so, and nothing is found.
async fn still_pending(memory: &Memory, victim: &Scope, parts: &[&str]) -> Scene {
    let upkeep = memory.upkeep_once().await;
    if parts.first() == Some(&"chat") {
        check!(upkeep.is_err(), "the truth is away, and upkeep says {upkeep:?}");
        return Ok(());
    }
    let report = upkeep?;
    check!(report.retried > 0 && !report.failures.is_empty() && report.dead == 0, "{report:?}");
    check!(pending(memory).await.is_some_and(|pending| pending > 0), "nothing is pending");
    let found = memory.of(victim).search(&Search::new("kite parcel tea").limit(10)).await?;
    equal(found.hits.len(), 0)
}
