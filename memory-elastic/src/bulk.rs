//! Many writes in one request: each has an outcome of its own.
//!
//! The server answers 200 even if every item failed. What it was too busy for is sent again; what it refused is told.

mod items;

use std::collections::VecDeque;
use std::time::Duration;

use memory_core::error::Result;
use memory_core::store::text::Visibility;

use crate::error::{Doing, Fault};
use crate::index::Index;
use crate::transport::Body;

pub(crate) use items::{Act, Operation, Outcome};

/// The most operations, and about the most bytes, of one request; servers refuse requests over 100 MB.
const MOST_OPERATIONS: usize = 2_000;
const MOST_BYTES: usize = 8 << 20;

/// How often an operation is sent at the most, and how long to wait before the second time; then twice as long each.
const ATTEMPTS: u32 = 6;
const WAIT: Duration = Duration::from_millis(40);

/// How a list of operations is to be carried out.
pub(crate) struct Bulk<'a> {
    pub(crate) index: &'a Index,
    pub(crate) routing: &'a str,
    /// Whether the operations are to be findable when they are done.
    pub(crate) visibility: Visibility,
    /// A document that is read behind the operations of each request, in the same shard.
    pub(crate) guard: Option<&'a str>,
    pub(crate) doing: &'static str,
}

/// What became of a list of operations.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// One for each operation, in their order.
    pub(crate) outcomes: Vec<Outcome>,
    /// The epoch below which the owner is erased, as the guard said behind the last of them; 0 without a guard.
    pub(crate) below: u64,
}

/// Operations of one request, by their places, and how often they were sent.
struct Part {
    places: Vec<usize>,
    attempt: u32,
}

impl Bulk<'_> {
    /// Carries the operations out; no two of them are about one document.
    ///
    /// # Errors
    /// Any that is not about a single operation. What was carried out stays.
    pub(crate) async fn run(&self, operations: &[Operation]) -> Result<Done> {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; operations.len()];
        let (mut parts, mut below) = (split(operations), 0);
        while let Some(Part { places, attempt }) = parts.pop_front() {
            if attempt > 0 {
                tokio::time::sleep(WAIT * 2u32.pow(attempt - 1)).await;
            }
            let chosen: Vec<&Operation> = places.iter().filter_map(|place| operations.get(*place)).collect();
            let (results, guarded) = match self.send(&chosen).await {
                Err(Fault::Answer { status: 413, .. }) if places.len() > 1 => {
                    let (first, second) = places.split_at(places.len() / 2);
                    let half = |places: &[usize]| Part { places: places.to_vec(), attempt };
                    parts.push_front(half(second));
                    parts.push_front(half(first));
                    continue;
                }
                Err(Fault::Answer { status: 413, .. }) => (vec![Outcome::too_large()], Some(0)),
                sent => sent.doing(self.doing)?,
            };
            let mut again = Vec::new();
            let is_guarded = guarded.is_some();
            below = below.max(guarded.unwrap_or_default());
            if !is_guarded && attempt + 1 >= ATTEMPTS {
                return Err(busy()).doing(self.doing);
            }
            for (place, outcome) in places.into_iter().zip(results) {
                if outcome.is_busy() && attempt + 1 < ATTEMPTS {
                    again.push(place);
                }
                if let Some(slot) = outcomes.get_mut(place) {
                    *slot = Some(outcome);
                }
            }
            if !again.is_empty() || !is_guarded {
                parts.push_front(Part { places: again, attempt: attempt + 1 });
            }
        }
        let outcomes: Option<Vec<Outcome>> = outcomes.into_iter().collect();
        let outcomes = outcomes.ok_or(Fault::Cut).doing(self.doing)?;
        // What somebody else has just deleted may be findable yet.
        let is_changed = outcomes.iter().any(|outcome| outcome.is_done() || outcome.is_absent());
        // Not `wait_for` with each request: it waits for the index's own next refresh, which may come later than the client's
        // time is up, or never.
        if self.visibility == Visibility::OnReturn && is_changed {
            self.index.refresh(self.doing).await?;
        }
        Ok(Done { outcomes, below })
    }

    async fn send(&self, operations: &[&Operation]) -> std::result::Result<(Vec<Outcome>, Option<u64>), Fault> {
        let mut lines = String::new();
        operations.iter().for_each(|operation| operation.write(self.routing, &mut lines));
        if let Some(guard) = self.guard {
            items::write_guard(guard, self.routing, &mut lines);
        }
        // A missing index would be made anew, without its mapping.
        let query = [("require_alias", "true"), ("refresh", "false")];
        let elastic = &self.index.elastic;
        let patience = elastic.config().bulk_patience;
        let answer = elastic.post(&self.index.path("_bulk"), &query, Body::Lines(lines), patience).await?;
        items::read(&answer, operations.len(), self.guard.is_some())
    }
}

fn busy() -> Fault {
    Fault::Answer { status: 429, kind: String::new(), after: None }
}

fn split(operations: &[Operation]) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let (mut places, mut bytes) = (Vec::new(), 0);
    for (place, operation) in operations.iter().enumerate() {
        let size = operation.size();
        if !places.is_empty() && (places.len() >= MOST_OPERATIONS || bytes + size > MOST_BYTES) {
            parts.push_back(Part { places: std::mem::take(&mut places), attempt: 0 });
            bytes = 0;
        }
        places.push(place);
        bytes += size;
    }
    if !places.is_empty() {
        parts.push_back(Part { places, attempt: 0 });
    }
    parts
}
