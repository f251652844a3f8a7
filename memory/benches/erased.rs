//! How long an owner of many records takes to be forgotten by four servers: truth in Postgres, words in Elasticsearch, vectors in
//! Qdrant, a cache in Redis.
//!
//! `cargo bench -p memory --bench erased --all-features -- [RECORDS]`: 100,000. It starts the servers in containers, and ends with
//! an error if a store holds anything of the owner afterwards, or if that took more than five seconds.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory::store::records::{Expect, Put, RecordBatch};
use memory::store::time::Stopwatch;
use memory::store::{Health, Version};
use memory::{Error, Filter, Forget, ItemId, Memory, Record, Result, Scope, Settings, StoredRecord, Stores};
use memory_testkit::bench::{Outcome, alone, numbers, say};
use memory_testkit::services::{Server, Service};

/// Records that are put at once.
const BATCH: usize = 1_000;

/// Values of a kibibyte in the cache, and how long they live.
const CACHED: usize = 1_000;
const LIVES: Duration = Duration::from_secs(3_600);

/// How long the owner may take to be forgotten.
const GOAL: Duration = Duration::from_secs(5);

/// How long a call of this bench may take at most.
const PATIENCE: &str = "deadline=300s";

fn main() -> ExitCode {
    alone(run)
}

async fn run() -> Outcome<()> {
    let [records] = numbers([100_000]);
    let (postgres, redis, elastic, qdrant) = tokio::try_join!(
        start(Service::postgres(), |url| (Settings::new(patient(url)).without_embedder(), "chat")),
        start(Service::redis(), |url| (Settings::new("memory:").without_embedder().with_cache(patient(url)), "cache")),
        start(Service::elastic(), |url| (Settings::new("memory:").without_embedder().with_text(elastic(url)), "text")),
        start(Service::qdrant(), |url| (Settings::new("memory:").with_vectors(qdrant(url)), "vectors")),
    )?;
    let settings = Settings::new(patient(postgres.url())).with_cache(patient(redis.url()));
    let settings = settings.with_text(self::elastic(elastic.url())).with_vectors(self::qdrant(qdrant.url()));
    let measured = measure(settings.connect().await?, records).await;
    for server in [postgres, redis, elastic, qdrant] {
        say(&format!("on {}", server.origin()));
        server.remove().await?;
    }
    measured
}

async fn start(service: Service, open: fn(&str) -> (Settings, &'static str)) -> Outcome<Server> {
    let probe = move |url: String| async move { ping(open(&url)).await };
    Ok(service.own(probe).await?.start().await?)
}

async fn ping((settings, part): (Settings, &'static str)) -> Result<Health> {
    let parts = settings.connect().await?.parts();
    let (_, store) = parts.into_iter().find(|(name, _)| *name == part).ok_or(Error::Overloaded)?;
    store.ping().await
}

fn patient(url: &str) -> String {
    format!("{url}?{PATIENCE}")
}

fn elastic(url: &str) -> String {
    format!("elastic+{}", patient(url))
}

fn qdrant(url: &str) -> String {
    format!("qdrant+{}", patient(url))
}

async fn measure(stores: Stores, records: usize) -> Outcome<()> {
    let memory = memory::over(stores.clone()).build().await?;
    let owner = Scope::new("acme", "ada")?;
    fill(&memory, &stores, &owner, records).await?;
    let (before, watch) = (held(&stores, &owner).await?, Stopwatch::start());
    let receipt = memory.of(&owner).forget(&Forget::Everything).await?;
    let took = watch.elapsed();
    for store in &receipt.stores {
        say(&format!("{:<8} {:<9} {:>7} removed", store.part, store.backend, store.removed));
    }
    let after = held(&stores, &owner).await?;
    say(&format!(
        "[records, words, vectors] were {before:?} and are {after:?}; forgotten in {:.2} s",
        took.as_secs_f64()
    ));
    memory.close().await?;
    if before != [records; 3] {
        return Err(format!("not every store held {records} records").into());
    }
    if !receipt.complete || after != [0; 3] {
        return Err(format!("something is left: {receipt:?}").into());
    }
    if took > GOAL { Err(format!("it took more than {GOAL:?}").into()) } else { Ok(()) }
}

/// Puts so many records of an owner, and waits until every index has them.
async fn fill(memory: &Memory, stores: &Stores, owner: &Scope, records: usize) -> Outcome<()> {
    let watch = Stopwatch::start();
    let truth = stores.records.as_ref().ok_or("there are no records")?;
    for begin in (0..records).step_by(BATCH) {
        let fact =
            |number| Record::new("fact", format!("Kite {number} flew over garden {}.", number % 97), memory.now());
        let put = |number| Put { record: Arc::new(fact(number)), expect: Expect::Anything };
        let puts = (begin..records.min(begin + BATCH)).map(put).collect();
        truth.store().put(owner, &RecordBatch { fence: None, puts }).await?;
    }
    let (cache, epoch) =
        (stores.cache.as_ref().ok_or("there is no cache")?, stores.chat()?.upkeep().epoch(owner).await?);
    for number in 0..CACHED {
        cache.put(owner, epoch, &format!("value {number}"), &[0; 1_024], LIVES).await?;
    }
    loop {
        memory.upkeep_once().await?;
        let mut pending = 0;
        for index in memory.status().await.indexes {
            pending += index.backlog?.pending;
        }
        if pending == 0 {
            break;
        }
    }
    say(&format!("{records} records are stored and indexed after {:.0} s", watch.elapsed().as_secs_f64()));
    Ok(())
}

/// Returns how many records, and items of the two indexes, an owner has.
async fn held(stores: &Stores, owner: &Scope) -> Outcome<[usize; 3]> {
    let records = stores.records.as_ref().ok_or("there are no records")?.store();
    let words = stores.text.as_ref().ok_or("there is no index of words")?;
    let (vectors, _) = stores.vectors.first().ok_or("there is no index of vectors")?;
    let records = count(
        |record: &StoredRecord| record.record.id,
        async |after| records.scan(owner, &Filter::All, after, BATCH).await,
    );
    let words = count(item, async |after| words.scan(owner, after.as_ref(), BATCH).await);
    let vectors = count(item, async |after| vectors.scan(owner, after.as_ref(), BATCH).await);
    Ok([records.await?, words.await?, vectors.await?])
}

fn item((item, _): &(ItemId, Version)) -> ItemId {
    item.clone()
}

/// Counts what all pages hold, each of which follows upon the key of the last that was read.
async fn count<T, K: Clone>(key: impl Fn(&T) -> K, page: impl AsyncFn(Option<K>) -> Result<Vec<T>>) -> Result<usize> {
    let (mut count, mut after) = (0, None);
    loop {
        let read = page(after.clone()).await?;
        count += read.len();
        if read.len() < BATCH {
            return Ok(count);
        }
        after = read.last().map(&key);
    }
}
