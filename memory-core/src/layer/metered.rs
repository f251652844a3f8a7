//! Counts and times every call of a store, and logs how it ended, before guard and store.

use std::future::Future;
use std::sync::Arc;

use tracing::Instrument as _;

use crate::error::{Error, Transience};
use crate::figures;
use crate::layer::guard::Unasked;
use crate::methods::*;
use crate::store::truth::Truth;
use crate::time::Stopwatch;

/// A store whose calls are counted. Implements every trait that the store does.
#[derive(Debug)]
pub(crate) struct Metered<S: ?Sized> {
    inner: Arc<S>,
    backend: &'static str,
    part: &'static str,
}

impl<S: ?Sized> Metered<S> {
    /// Counts the calls of `inner`, which is the store of `part` and keeps its data in `backend`.
    pub(crate) fn new(part: &'static str, backend: &'static str, inner: Arc<S>) -> Arc<Self> {
        Arc::new(Self { inner, backend, part })
    }

    async fn count<T>(&self, operation: &'static str, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let Self { inner: _, backend, part } = *self;
        let span = tracing::debug_span!("store", backend, part, operation);
        let counted = async {
            let mut ending = Ending { backend, part, operation, watch: Stopwatch::start(), outcome: ABANDONED };
            let answer = call.await;
            ending.outcome = outcome(&answer);
            if let (FAILED | LATE, Err(error)) = (ending.outcome, &answer) {
                tracing::warn!(backend, part, operation, why = error.with_causes(), "a store failed");
            }
            answer
        };
        counted.instrument(span).await
    }
}

impl<S: Store + ?Sized> Metered<S> {
    /// Counts the calls of `inner`, which is the store of `part`.
    pub(crate) fn of(part: &'static str, inner: Arc<S>) -> Arc<Self> {
        Self::new(part, inner.backend(), inner)
    }
}

impl Metered<dyn ChatStore> {
    /// Counts the calls of conversations and of their upkeep.
    pub(crate) fn chat(truth: Truth<dyn ChatStore>) -> Truth<dyn ChatStore> {
        let backend = truth.store().backend();
        let truth = truth.layered(|store| Self::new("chat", backend, store));
        truth.layered_upkeep(|upkeep| Metered::new("upkeep", backend, upkeep))
    }
}

impl Metered<dyn RecordStore> {
    /// Counts the calls of records and of their upkeep.
    pub(crate) fn records(truth: Truth<dyn RecordStore>) -> Truth<dyn RecordStore> {
        let backend = truth.store().backend();
        let truth = truth.layered(|store| Self::new("records", backend, store));
        truth.layered_upkeep(|upkeep| Metered::new("upkeep", backend, upkeep))
    }
}

/// The caller went away, or gave up, before the store answered.
const ABANDONED: &str = "abandoned";
const FAILED: &str = "failed";
const LATE: &str = "late";

/// Returns how a call ended, as the label says it.
fn outcome<T>(answer: &Result<T>) -> &'static str {
    match answer {
        Ok(_) => "ok",
        Err(Error::Conflict | Error::IdConflict { .. } | Error::Fenced) => "conflict",
        Err(Error::Overloaded | Error::QueueFull) => "refused",
        Err(Error::Backend { transience: Transience::Late, .. }) => LATE,
        Err(Error::Backend { source, .. }) if source.is::<Unasked>() => "refused",
        Err(Error::Backend { .. } | Error::Corrupt { .. }) => FAILED,
        Err(_) => "invalid",
    }
}

/// The end of a call, told when this is dropped: also a call that nobody waits for any more ends.
struct Ending {
    backend: &'static str,
    part: &'static str,
    operation: &'static str,
    watch: Stopwatch,
    outcome: &'static str,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Self { backend, part, operation, watch, outcome } = self;
        figures::call(backend, part, operation, outcome, watch);
        tracing::debug!(backend, part, operation, outcome, micros = watch.micros(), "a store ended a call");
    }
}

macro_rules! metered {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for Metered<S> {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.count(stringify!($method), self.inner.$method($($argument),*)).await
            })*
        }
    )+};
}

crate::store_methods!(
    Store, ChatStore, RecordStore, Upkeep, TextStore, VectorStore, Cache, Blackboard, Journal => metered {}
);
