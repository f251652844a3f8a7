//! Default values for calls that leave them out.

use crate::error::{Error, Result};
use crate::novelty::Gate;
use crate::window::{Budget, LimitRule, ModelProfile};

/// How many hits a search returns.
pub(super) const HITS: usize = 10;
/// How many items of conversations and records a context recalls, and as many notes.
pub(super) const RECALLED: usize = 5;
/// The most tokens that recalled items take in a context.
pub(super) const RECALL_TOKENS: u64 = 4_000;

/// What the calls of a memory have that say nothing else: how much is found and recalled, what a budget is, and whether what is
/// remembered passes a gate.
///
/// [`Scoped::context`](super::Scoped::context) and [`Session::context`](super::Session::context) go by those of their memory
/// ([`MemoryBuilder::defaults`](super::MemoryBuilder::defaults)), and so does a request that they make. A request that is made by hand,
/// by [`Search::new`](super::Search::new) or [`ContextRequest::new`](super::ContextRequest::new), says everything itself.
///
/// ```
/// use memory_core::engine::Defaults;
/// use memory_core::window::ModelProfile;
///
/// let defaults = Defaults::default().with_hits(20).with_recall(3).with_reserve(500);
/// assert_eq!(defaults.search("my dentist").limit, 20);
/// let budget = defaults.budget(ModelProfile::of("openai/gpt-4o").as_ref());
/// let request = defaults.request("Where is my order?", budget);
/// assert_eq!((request.recall, request.budget.limit, request.budget.reserve), (3, 96_000, 500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Defaults {
    /// How many hits a search returns. Default 10.
    pub hits: usize,
    /// How many items of conversations and records a context recalls. Default 5.
    pub recall: usize,
    /// How many notes of the working tier a context recalls. Default 5.
    pub notes: usize,
    /// The most tokens that recalled items take in a context. Default 4,000.
    pub recall_tokens: u64,
    /// The tokens that are kept free of a budget that keeps none free itself. Default 0.
    pub reserve: u64,
    /// How many tokens a context has for a model. Default 0.75 of what the model reads, 3,000 for one that nobody knows.
    pub limit: LimitRule,
    /// The gate of what is remembered without one of its own ([`Remember::gated`](super::Remember::gated)). Default none: then only the
    /// same words repeat a record. A call says the same of itself by a gate whose threshold is 0.
    pub gate: Option<Gate>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            hits: HITS,
            recall: RECALLED,
            notes: RECALLED,
            recall_tokens: RECALL_TOKENS,
            reserve: 0,
            limit: LimitRule::default(),
            gate: None,
        }
    }
}

impl Defaults {
    /// Sets how many hits a search returns.
    #[must_use]
    pub fn with_hits(mut self, hits: usize) -> Self {
        self.hits = hits;
        self
    }

    /// Sets how many items of conversations and records a context recalls.
    #[must_use]
    pub fn with_recall(mut self, items: usize) -> Self {
        self.recall = items;
        self
    }

    /// Sets how many notes of the working tier a context recalls.
    #[must_use]
    pub fn with_notes(mut self, notes: usize) -> Self {
        self.notes = notes;
        self
    }

    /// Sets the most tokens that recalled items take in a context. They never take more than a third.
    #[must_use]
    pub fn with_recall_tokens(mut self, tokens: u64) -> Self {
        self.recall_tokens = tokens;
        self
    }

    /// Sets the tokens that are kept free of a budget that keeps none free itself.
    #[must_use]
    pub fn with_reserve(mut self, tokens: u64) -> Self {
        self.reserve = tokens;
        self
    }

    /// Sets how many tokens a context has for a model.
    #[must_use]
    pub fn with_limit(mut self, limit: LimitRule) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the gate of what is remembered without one of its own.
    #[must_use]
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Returns the budget of a context for a model, or for one that nobody knows.
    pub fn budget(&self, model: Option<&ModelProfile>) -> Budget {
        Budget::new(self.limit.limit(model, 0)).reserve(self.reserve)
    }

    /// Returns `Ok` if calls may have these. What is above the limits of a memory is refused with each call.
    ///
    /// # Errors
    /// `Invalid` for searches without hits, and for a share or a threshold out of its range.
    pub(crate) fn check(&self) -> Result<()> {
        if self.hits == 0 {
            return Err(Error::invalid("a search returns at least one hit"));
        }
        if !(0.0..=1.0).contains(&self.limit.share) {
            return Err(Error::invalid("the share of a model's context is from 0 to 1"));
        }
        if self.gate.is_some_and(|gate| !(0.0..=2.0).contains(&gate.threshold)) {
            return Err(Error::invalid("the threshold of novelty is from 0 to 2"));
        }
        Ok(())
    }
}
