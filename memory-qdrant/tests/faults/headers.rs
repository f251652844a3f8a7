//! Faults that the stand-in makes on request. The official server knows nothing of such requests: there these tests
//! have nothing to try, and the table of codes in `src/error/tests.rs` stands for them.

use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_core::{Epoch, Error, Result, Scope, Transience};
use memory_qdrant::{Qdrant, QdrantVectors};
use memory_testkit::generate::deletion;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal, fails};

use super::{config, driver, entry, found, item, open, owner, put, query};

/// A store, and the same one with a header on every call.
struct Pair {
    whole: QdrantVectors,
    url: String,
}

impl Pair {
    async fn open(servers: &Servers) -> std::result::Result<Option<Self>, Failure> {
        let url = servers.url("qdrant")?;
        let whole = open(config(&url)).await?;
        let is_stand_in = whole.ping().await?.version.contains("standin");
        Ok(is_stand_in.then_some(Self { whole, url }))
    }

    async fn with(&self, header: &str, value: &str) -> std::result::Result<QdrantVectors, Failure> {
        let driver = driver(&self.url)?.with_header(header, value);
        Ok(self.whole.through(&Qdrant::from_client(driver, config(&self.url)).await?))
    }
}

/// Makes each call of a store, and returns their errors.
async fn errors(store: &QdrantVectors, ada: &Scope) -> Result<Vec<Error>> {
    let put = store.put(ada, &[entry(2)?], Visibility::OnReturn).await.map(|_| ());
    let search = store.search(ada, &query(1)).await.map(|_| ());
    let delete = store.delete(ada, &deletion(vec![item(1)])).await;
    let erase = store.erase(ada, Epoch(1)).await.map(|_| ());
    Ok([put, search, delete, erase].into_iter().filter_map(Result::err).collect())
}

pub(super) async fn codes(servers: Servers) -> Scene {
    let Some(pair) = Pair::open(&servers).await? else { return Ok(()) };
    let ada = owner("ada")?;
    put(&pair.whole, &ada, &[entry(1)?]).await?;
    let after = |error: &Error| match error {
        Error::Backend { transience: Transience::Transient { after }, .. } => *after,
        _ => None,
    };
    for code in
        ["UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED", "ABORTED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"]
    {
        let errors = errors(&pair.with("x-standin-fail", code).await?, &ada).await?;
        check!(errors.len() == 4 && errors.iter().all(Error::is_retryable), "{code}: {errors:?}");
    }
    let told = errors(&pair.with("x-standin-fail", "RESOURCE_EXHAUSTED:7").await?, &ada).await?;
    check!(told.len() == 4 && told.iter().all(|error| after(error) == Some(Duration::from_secs(7))), "{told:?}");
    for code in ["INVALID_ARGUMENT", "NOT_FOUND", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "DATA_LOSS"]
    {
        let errors = errors(&pair.with("x-standin-fail", code).await?, &ada).await?;
        check!(errors.len() == 4 && !errors.iter().any(Error::is_retryable), "{code}: {errors:?}");
        let shown = format!("{errors:?}");
        check!(!shown.contains("asked for by the test"), "an error holds the server's words: {shown}");
    }
    equal(found(&pair.whole, &ada).await?, [1])
}

pub(super) async fn acknowledged(servers: Servers) -> Scene {
    let Some(pair) = Pair::open(&servers).await? else { return Ok(()) };
    // Acknowledged, rejected for its clock, and given up waiting for.
    for status in ["1", "3", "4"] {
        let ada = owner("ada")?;
        let hasty = pair.with("x-standin-status", status).await?;
        fails!(hasty.put(&ada, &[entry(1)?], Visibility::OnReturn).await, error if error.is_retryable());
        fails!(hasty.delete(&ada, &deletion(vec![item(99)])).await, error if error.is_retryable());
        fails!(hasty.erase(&ada, Epoch(1)).await, error if error.is_retryable());
        let mut again = entry(1)?;
        again.version.epoch = Epoch(1);
        put(&pair.whole, &ada, &[again]).await?;
        equal(found(&pair.whole, &ada).await?, [1])?;
    }
    Ok(())
}

pub(super) async fn partial(servers: Servers) -> Scene {
    let Some(pair) = Pair::open(&servers).await? else { return Ok(()) };
    for count in ["1", "2"] {
        let ada = owner("ada")?;
        let entries = [entry(1)?, entry(2)?, entry(3)?];
        let torn = pair.with("x-standin-partial", count).await?;
        fails!(torn.put(&ada, &entries, Visibility::OnReturn).await, error if error.is_retryable());
        put(&pair.whole, &ada, &entries).await?;
        equal(found(&pair.whole, &ada).await?, [1, 2, 3])?;
    }
    Ok(())
}
