//! The end of a siege: without faults, upkeep runs until nothing is pending; then everything is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use memory_core::model::Embedder;
use memory_core::{Clock, SystemClock, Timestamp};
use tokio::time::sleep;

use crate::check::Failure;
use crate::simulation::site::Site;

use super::patient::patient;
use super::places::{Places, Siege};

/// Passes of upkeep after which everything must be done that can be.
const PASSES: usize = 60;
/// How far the clock goes on with each pass: longer than a note waits that failed.
const STEP: i64 = 2 * 3_600 * 1_000_000;

/// A clock that goes ahead, so that nothing has to be waited for.
#[derive(Debug, Default)]
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp(SystemClock.now().0.saturating_add(self.0.load(Ordering::Relaxed)))
    }
}

/// Checks everything, and returns what is wrong.
pub(super) async fn quiet(siege: &Siege, places: &Places, site: &Site) -> Result<Vec<String>, Failure> {
    let clock = Arc::new(Ahead::default());
    let mut memories = Vec::new();
    for _ in 0..2 {
        let embedder: Arc<dyn Embedder> = site.embedder.clone();
        // The cache is left out: what it did not hear of it may serve until that has expired.
        let ground = crate::simulation::Ground { cache: None, ..(siege.open)(places.clone(), embedder.clone()).await? };
        memories.push(ground.builder(embedder).clock(clock.clone()).build().await?);
    }
    let mut last = String::new();
    for pass in 0..PASSES {
        clock.0.fetch_add(STEP, Ordering::Relaxed);
        for memory in memories.iter().skip(pass % 2).take(1) {
            last = format!("{:?}", patient(|| memory.upkeep_once()).await?);
        }
        if pass > 1 && patient(|| site.pending()).await? == 0 {
            let wrong = patient(|| site.check(&memories)).await?;
            for memory in memories {
                memory.close().await?;
            }
            return Ok(wrong);
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(vec![format!("{} notes are pending after {PASSES} passes, the last one: {last}", site.pending().await?)])
}
