//! The settings of a simulation, and what all its processes share.

use std::sync::Arc;

use memory_core::engine::Forget;
use memory_core::model::Embedder;
use memory_core::store::text::TextStore;
use memory_core::store::vectors::VectorStore;
use memory_core::vector::EmbeddingSpace;
use memory_core::{Clock, Timestamp};
use tokio::time::Instant;

use crate::doubles::FakeEmbedder;

use super::replaceable::ReplaceableStore;
use super::site::{DIMENSION, Ground, Site};
use super::wire::{Call, Wire};

/// The settings of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) ground: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground,
    pub(super) may_be_late: fn(Call) -> bool,
    pub(super) forgets: fn(&Forget) -> bool,
}

impl Plan {
    /// Plays over these stores.
    pub fn new(ground: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground) -> Self {
        Self { ground, may_be_late: |_| true, forgets: |_| true }
    }

    /// Sets which calls may reach their store after their caller has given up, or once more after they were answered. Default
    /// all.
    #[must_use]
    pub fn late(mut self, may_be_late: fn(Call) -> bool) -> Self {
        self.may_be_late = may_be_late;
        self
    }

    /// Sets which kinds of forgetting are played. Default all.
    #[must_use]
    pub fn forgetting(mut self, forgets: fn(&Forget) -> bool) -> Self {
        self.forgets = forgets;
        self
    }
}

/// Tells the time of the play.
#[derive(Debug)]
struct PlayClock(Instant);

impl Clock for PlayClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX);
        Timestamp(1_767_225_600_000_000 + passed)
    }
}

/// What all processes of a simulation share.
pub(super) struct World {
    pub(super) wire: Arc<Wire>,
    /// As all see it: the places of indexes may be lost.
    pub(super) site: Site,
    text: Arc<ReplaceableStore<dyn TextStore>>,
    vectors: Arc<ReplaceableStore<dyn VectorStore>>,
    make: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) forgets: fn(&Forget) -> bool,
}

impl World {
    pub(super) async fn new(plan: &Plan, wire: Arc<Wire>, cache_hears: bool) -> memory_core::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(PlayClock(Instant::now()));
        let embedder = Arc::new(FakeEmbedder::new(DIMENSION));
        let ground = (plan.ground)(clock.clone(), embedder.space().clone());
        let (text, vectors) = (ReplaceableStore::new(ground.text), ReplaceableStore::new(ground.vectors));
        let ground = Ground { text: text.clone(), vectors: vectors.clone(), ..ground };
        let sound = ground.clone().builder(embedder.clone()).touch(false).clock(clock.clone()).build().await?;
        let site = Site::new("acme", ground, embedder, sound)?.hearing(cache_hears);
        Ok(Self { wire, site, text, vectors, make: plan.ground, clock, forgets: plan.forgets })
    }

    /// Loses the place that holds an index, `text` or `vectors`.
    pub(super) fn lose(&self, part: &str) {
        let empty = (self.make)(self.clock.clone(), self.site.embedder.space().clone());
        match part {
            "text" => self.text.replace(empty.text),
            _ => self.vectors.replace(empty.vectors),
        }
        self.wire.note(|| format!("the place of {part} is lost"));
    }

    /// Lets something befall a call. Returns whether a process is to be killed now, and a number that says which.
    ///
    /// Before and after a write that reaches truth late it is looked at the cache: whoever reads in between fills it with what the
    /// write takes back.
    pub(super) async fn step(&self) -> memory_core::Result<Option<usize>> {
        let Some(next) = self.wire.next().await else { return Ok(None) };
        let is_late = next.is_late_write();
        if is_late {
            self.is_fresh().await?;
        }
        let kill = self.wire.step(next).await;
        if is_late {
            self.is_fresh().await?;
        }
        Ok(kill)
    }

    /// Ends the play if the cache serves anything else than truth holds.
    pub(super) async fn is_fresh(&self) -> memory_core::Result<()> {
        if let Some(why) = self.site.stale().await? {
            self.wire.fail(why);
        }
        Ok(())
    }
}
