//! How long the stages of a call take.

use std::collections::BTreeMap;
use std::future::Future;

use crate::engine::receipt::Stage;
use crate::sync::Lock;
use crate::time::Stopwatch;

/// How long each stage took, in microseconds. Of several calls of one stage the longest counts: most of them run together.
pub(crate) type Took = BTreeMap<Stage, u64>;

/// Measures stages that run at the same time.
#[derive(Debug, Default)]
pub(super) struct Stages(Lock<Took>);

impl Stages {
    /// Does some work of a stage, and measures it.
    pub(super) async fn time<T>(&self, stage: Stage, work: impl Future<Output = T>) -> T {
        let watch = Stopwatch::start();
        let done = work.await;
        longest(&mut self.0.lock(), [(stage, watch.micros())]);
        done
    }

    /// Returns what was measured.
    pub(super) fn took(self) -> Took {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Adds what was measured elsewhere.
pub(super) fn longest(took: &mut Took, more: impl IntoIterator<Item = (Stage, u64)>) {
    for (stage, micros) in more {
        let known = took.entry(stage).or_default();
        *known = micros.max(*known);
    }
}
