//! The connection to a server, and every call to it: bounded in time, its answer checked.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::qdrant_client::qdrant::{
    BatchResult, CountPoints, DeletePoints, GetPoints, PointsOperationResponse, QueryBatchPoints, RetrievedPoint,
    ScrollPoints, UpdateStatus, UpsertPoints,
};
use ::qdrant_client::{Qdrant as Driver, QdrantError};
use memory_core::Result;
use memory_core::store::{Durability, Health};
use tokio::sync::Semaphore;

use crate::config::QdrantConfig;
use crate::error::{classify, incomplete, is_cut_for_others, lost, not_done, timed_out, unsupported};

/// The first version whose updates can be conditional. An older server would ignore the condition without a word.
const OLDEST: (u32, u32) = (1, 16);

/// More calls than are ever under way.
const CALLS: u32 = 1 << 20;

/// How often a call is made whose connection the server closes for the calls of others.
const TRIES: u32 = 4;

/// How long it waits before the second time, then twice and three times as long: all calls of the connection come again.
const PAUSE: Duration = Duration::from_millis(5);

/// What the driver answers.
pub(crate) type Answer<T> = std::result::Result<T, QdrantError>;

/// A Qdrant server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Qdrant {
    shared: Arc<Shared>,
}

struct Shared {
    driver: Mutex<Driver>,
    /// A permit for each call under way, so that closing can wait for them all.
    calls: Semaphore,
    config: QdrantConfig,
}

impl Qdrant {
    /// Connects to the server and asks it how it is.
    ///
    /// # Errors
    /// `Invalid` for a URL that is none, or a key that would travel in clear; `Unsupported` for a server older than
    /// 1.16; `Backend` if it does not answer.
    pub async fn connect(config: QdrantConfig) -> Result<Self> {
        config.check()?;
        let doing = "connect";
        let slowest = config.timeout.max(config.write_timeout);
        // The client's own check would block the thread and print.
        let mut builder = Driver::from_url(&config.url).skip_compatibility_check();
        builder = builder.timeout(slowest).connect_timeout(config.timeout);
        builder = builder.api_key(config.api_key.as_ref().map(|key| key.0.clone()));
        let driver = builder.build().map_err(|source| classify(&source, doing))?;
        Self::from_client(driver, config).await
    }

    /// Uses a client that was built elsewhere: with headers, a proxy, settings of its own.
    ///
    /// The URL and the key of `config` are not used; whoever built the client decides whether a key travels in clear.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub async fn from_client(client: Driver, config: QdrantConfig) -> Result<Self> {
        config.check_prefix()?;
        let calls = Semaphore::new(CALLS as usize);
        let server = Self { shared: Arc::new(Shared { driver: Mutex::new(client), calls, config }) };
        let health = server.ping().await?;
        if version(&health.version).is_none_or(|version| version < OLDEST) {
            return Err(unsupported("use a server older than 1.16, which has no conditional updates"));
        }
        Ok(server)
    }

    pub(crate) fn config(&self) -> &QdrantConfig {
        &self.shared.config
    }

    /// Returns the health of the server.
    ///
    /// # Errors
    /// `Backend` if it does not answer.
    pub async fn ping(&self) -> Result<Health> {
        let reply = self.read("answer", (), |driver, ()| async move { driver.health_check().await }).await?;
        // A write that is completed outlives the server's process. It is an index: what a loss of power takes is rebuilt.
        Ok(Health::new(reply.title, reply.version, Durability::Committed))
    }

    /// Closes the connections after the calls under way have ended. A later call opens new ones.
    pub(crate) async fn close(&self) -> Result<()> {
        let doing = "close";
        let _all = self.shared.calls.acquire_many(CALLS).await.map_err(|_| lost(doing))?;
        let mut driver = self.shared.driver.lock().unwrap_or_else(PoisonError::into_inner);
        let mut config = driver.config.clone().skip_compatibility_check();
        config.set_check_connection(false);
        *driver = config.build().map_err(|source| classify(&source, doing))?;
        Ok(())
    }

    /// Makes a read.
    pub(crate) async fn read<R, T, F>(
        &self,
        doing: &'static str,
        request: R,
        call: impl Fn(Driver, R) -> F,
    ) -> Result<T>
    where
        R: Clone,
        F: Future<Output = Answer<T>>,
    {
        let answer = self.call(self.config().timeout, doing, request, call).await?;
        answer.map_err(|source| classify(&source, doing))
    }

    /// Makes a change, whose errors may tell what is there already.
    pub(crate) async fn change<R, T, F>(
        &self,
        doing: &'static str,
        request: R,
        call: impl Fn(Driver, R) -> F,
    ) -> Result<Answer<T>>
    where
        R: Clone,
        F: Future<Output = Answer<T>>,
    {
        self.call(self.config().write_timeout, doing, request, call).await
    }

    /// Makes a call. The client sends one that was cut off a second time, and its own limit is for each try alone, so the
    /// call as a whole has a limit here.
    ///
    /// Where many calls are given up at once, a server closes the connection that they share, and with it the calls of
    /// others. Those are made again: reads, and changes that may be repeated.
    async fn call<R, T, F>(
        &self,
        limit: Duration,
        doing: &'static str,
        request: R,
        call: impl Fn(Driver, R) -> F,
    ) -> Result<Answer<T>>
    where
        R: Clone,
        F: Future<Output = Answer<T>>,
    {
        let _under_way = self.shared.calls.acquire().await.map_err(|_| lost(doing))?;
        let driver = self.shared.driver.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tries = async {
            for tried in 1..TRIES {
                match call(driver.clone(), request.clone()).await {
                    Err(source) if is_cut_for_others(&source) => tokio::time::sleep(PAUSE * tried).await,
                    answer => return answer,
                }
            }
            call(driver, request).await
        };
        tokio::time::timeout(limit, tries).await.map_err(|_| timed_out(doing))
    }

    /// Writes points and waits until that is done.
    pub(crate) async fn upsert(&self, doing: &'static str, request: UpsertPoints) -> Result<()> {
        let answer = self.change(doing, request, |driver, request| async move { driver.upsert_points(request).await });
        completed(doing, answer.await?)
    }

    /// Deletes points and waits until that is done.
    pub(crate) async fn delete(&self, doing: &'static str, request: DeletePoints) -> Result<()> {
        let answer = self.change(doing, request, |driver, request| async move { driver.delete_points(request).await });
        completed(doing, answer.await?)
    }

    pub(crate) async fn get(&self, doing: &'static str, request: GetPoints) -> Result<Vec<RetrievedPoint>> {
        let answer = self.read(doing, request, |driver, request| async move { driver.get_points(request).await });
        Ok(answer.await?.result)
    }

    pub(crate) async fn scroll(&self, doing: &'static str, request: ScrollPoints) -> Result<Vec<RetrievedPoint>> {
        let answer = self.read(doing, request, |driver, request| async move { driver.scroll(request).await });
        Ok(answer.await?.result)
    }

    pub(crate) async fn query(&self, doing: &'static str, request: QueryBatchPoints) -> Result<Vec<BatchResult>> {
        let answer = self.read(doing, request, |driver, request| async move { driver.query_batch(request).await });
        Ok(answer.await?.result)
    }

    pub(crate) async fn count(&self, doing: &'static str, request: CountPoints) -> Result<u64> {
        let answer = self.read(doing, request, |driver, request| async move { driver.count(request).await });
        answer.await?.result.map(|counted| counted.count).ok_or_else(|| incomplete(doing))
    }
}

impl fmt::Debug for Qdrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The driver's own would show its headers.
        f.debug_struct("Qdrant").field("config", self.config()).finish_non_exhaustive()
    }
}

/// Runs a write in a task of its own: a caller who goes away detaches it, and it still happens as a whole.
pub(crate) async fn detached<T: Send + 'static>(
    doing: &'static str,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.unwrap_or_else(|_| Err(lost(doing)))
}

/// Returns `Ok` only for a write that is done: one that was taken and will be done later may still be lost.
fn completed(doing: &'static str, answer: Answer<PointsOperationResponse>) -> Result<()> {
    let answer = answer.map_err(|source| classify(&source, doing))?;
    let status = answer.result.map(|result| result.status());
    if status == Some(UpdateStatus::Completed) { Ok(()) } else { Err(not_done(doing)) }
}

/// Returns the first two numbers of a version such as `1.16.0`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::error::tests::closed_for_others;

    impl Qdrant {
        /// Returns a server whose calls wait until they are admitted.
        pub(crate) fn waiting() -> Self {
            let config = QdrantConfig::new("http://127.0.0.1:1");
            let driver = Driver::from_url(&config.url).skip_compatibility_check().build().unwrap();
            let shared = Shared { driver: Mutex::new(driver), calls: Semaphore::new(0), config };
            Self { shared: Arc::new(shared) }
        }

        /// Admits a call, and returns whether one waited.
        pub(crate) fn admits_one(&self) -> bool {
            self.shared.calls.add_permits(1);
            self.shared.calls.available_permits() == 0
        }
    }

    #[test]
    fn versions_are_read_by_their_first_two_numbers() {
        assert_eq!(version("1.16.0"), Some((1, 16)));
        assert_eq!(version("1.20.0-standin"), Some((1, 20)));
        assert_eq!(version("2.0"), Some((2, 0)));
        for text in ["", "1", "a.b", "1.b"] {
            assert_eq!(version(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn a_call_that_was_cut_off_for_those_of_others_is_made_again_a_few_times() {
        for (failures, tries, is_done) in [(1, 2, true), (TRIES - 1, TRIES, true), (TRIES, TRIES, false)] {
            let (server, made) = (Qdrant::waiting(), AtomicU32::new(0));
            server.admits_one();
            let call = |_: Driver, ()| {
                let is_cut = made.fetch_add(1, Ordering::SeqCst) < failures;
                async move { (!is_cut).then_some(()).ok_or_else(closed_for_others) }
            };
            let answer = server.read("test", (), call).await;
            assert_eq!((answer.is_ok(), made.load(Ordering::SeqCst)), (is_done, tries), "{answer:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_nobody_reaches_is_a_fault_that_may_pass() {
        let config = QdrantConfig::new("http://127.0.0.1:1").with_timeout(Duration::from_millis(500));
        let error = Qdrant::connect(config).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
    }
}
