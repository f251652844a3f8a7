//! What settings make of a memory: its buffer, its tiers, how long things are kept, and the guards of its servers.

use std::sync::Arc;

use memory_core::engine::{MemoryBuilder, Retained, Retention, SynopsisConfig};
use memory_core::layer::{CachePolicy, GuardPolicy, WriteBehindPolicy};
use memory_core::rank::{Decay, Ranking, Recency, Weights};
use memory_core::reference::MemBlackboard;
use memory_core::store::blackboard::Keep;
use memory_core::window::{BufferConfig, Folding, Oversize};
use memory_core::working::WorkingConfig;
use memory_core::{Result, Stores, SystemClock};

use super::Settings;
use super::keys::{
    ADAPTIVE, BOARD_ENTRIES, BOARD_REFRESH, BUFFER_MULTIPLIER, BULK_DEADLINE, CACHE_TTL, CACHE_VECTORS_TTL, CANDIDATES,
    CAPACITY, CONCURRENCY, CONTEXT_AGE, CONTEXT_TTL, DEADLINE, FAILURES, FIFO_INTERVAL, FLUSH_BATCH, FLUSH_BYTES,
    FLUSH_SECONDS, FOLD_AT, FOLD_TO, FOLDING, HALF_LIFE, IDENTITY_AGE, IDENTITY_TTL, IMPORTANCE_WEIGHT, KEEP_BYTES,
    KEEP_DAYS, KEEP_MESSAGES, KEEP_RECORD_DAYS, KEEP_TURNS, KEPT_VECTORS, LIMIT, MAX_MEMORY, MAX_SUMMARIES, MERGE,
    MOST_RECORDS, MULTIPLIER, NOTE_HALF_LIFE, OVERSIZE, PATIENCE, PRESET, QUEUE, RANKING, RECENCY_WEIGHT, REFRESH,
    RETRIES, RRF_K, SHARE_VECTORS, STABLE, SUMMARIZE_AFTER, SUMMARY_SHARE, SUMMARY_TOKENS, SYNOPSIS, SYNOPSIS_TOKENS,
    TEXT_WEIGHT, TOUCH, VECTOR_WEIGHT, WINDOW,
};
use super::models;
use super::values::Values;
use crate::open::over;

const SECOND: f64 = 1.0;
const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
const DAY: f64 = 86_400.0;

impl Settings {
    /// Begins a memory over open stores, with all that these settings say beside places: what [`Settings::open`] does after
    /// [`Settings::connect`].
    ///
    /// # Errors
    /// `Unsupported` for a model over HTTP where the feature `http-models` is off; `Invalid` if its address or key is malformed.
    pub fn over(&self, mut stores: Stores) -> Result<MemoryBuilder> {
        let values = &self.values;
        if values.says(BOARD_ENTRIES.section()) && stores.blackboard.is_none() {
            let (capacity, keep) = boards(values);
            stores.blackboard = Some(Arc::new(MemBlackboard::new(Arc::new(SystemClock), capacity)?.with_keep(keep)));
        }
        let cache = stores.cache.take();
        let mut builder = over(stores).buffer(self.buffer()).working(working(values)).defaults(self.defaults());
        if let Some(cache) = cache {
            builder = builder.cache_with(cache, cached(values));
        }
        if values.flag(&SYNOPSIS).unwrap_or_else(|| values.says(SYNOPSIS.section())) {
            builder = builder.synopsis(synopsis(values));
        }
        if let Some(patience) = values.time(&PATIENCE, SECOND) {
            builder = builder.patience(patience);
        }
        if let Some(count) = values.count(&KEPT_VECTORS) {
            builder = builder.kept_vectors(count);
        }
        if values.flag(&SHARE_VECTORS) == Some(true) {
            builder = builder.share_vectors();
        }
        if let Some(touch) = values.flag(&TOUCH) {
            builder = builder.touch(touch);
        }
        let kept = retention(values);
        if kept != Retention::default() {
            builder = builder.retention(Retained::Everything, kept);
        }
        if let Some(summarizer) = models::summarizer(values)? {
            builder = builder.summarizer(summarizer);
        }
        if let Some(reranker) = models::reranker(values)? {
            builder = builder.reranker(reranker);
        }
        if let Some(extractor) = models::extractor(values)? {
            builder = builder.extractor(extractor);
        }
        Ok(builder)
    }

    /// Returns the settings of conversations.
    ///
    /// ```
    /// let settings = memory::Settings::from_yaml("memory: { buffer: { max_size: 8 } }", |_| None).unwrap();
    /// assert_eq!(settings.buffer().window_messages, Some(8));
    /// ```
    pub fn buffer(&self) -> BufferConfig {
        buffer(&self.values)
    }

    /// Returns what happens if the last turn alone does not fit into a context, if these settings say it.
    ///
    /// ```
    /// use memory::{Settings, window::Oversize};
    ///
    /// let settings = |yaml: &str| Settings::from_yaml(yaml, |_| None).unwrap();
    /// assert_eq!(settings("memory: { buffer: { oversize: keep } }").oversize(), Some(Oversize::Keep));
    /// assert_eq!(settings("memory: { buffer: { max_size: 8 } }").oversize(), None);
    /// ```
    pub fn oversize(&self) -> Option<Oversize> {
        oversize(&self.values)
    }
}

/// Returns the settings of conversations.
pub(super) fn buffer(values: &Values) -> BufferConfig {
    let mut buffer = match values.text(&PRESET) {
        Some("balanced") => BufferConfig::balanced(),
        Some("high_recall") => BufferConfig::high_recall(),
        Some("conversational") => BufferConfig::conversational(),
        _ => BufferConfig::default(),
    };
    let times = |number: Option<u64>, factor: Option<u64>| number.zip(factor).map(|(one, two)| one.saturating_mul(two));
    buffer.window_messages = values.whole(&WINDOW).or(buffer.window_messages);
    let capacity = values.whole(&CAPACITY).or_else(|| times(values.whole(&WINDOW), values.whole(&BUFFER_MULTIPLIER)));
    buffer.capacity_messages = capacity.or(buffer.capacity_messages);
    buffer.summarize_after = values.whole(&SUMMARIZE_AFTER).or(buffer.summarize_after);
    let after = values.whole(&SUMMARIZE_AFTER).or(capacity);
    let summaries = values.whole(&MAX_SUMMARIES).or_else(|| times(after, values.whole(&MULTIPLIER)));
    let summaries = summaries.map_or(buffer.max_summaries, |most| usize::try_from(most).unwrap_or(usize::MAX));
    buffer = buffer.with_max_summaries(summaries, values.count(&MERGE).unwrap_or(buffer.merge));
    buffer.limit = values.whole(&LIMIT);
    let (high, low) = (values.number(&FOLD_AT).unwrap_or(buffer.high), values.number(&FOLD_TO).unwrap_or(buffer.low));
    buffer = buffer.with_shares(high, low);
    buffer.summary_tokens = values.whole(&SUMMARY_TOKENS).unwrap_or(buffer.summary_tokens);
    buffer.summary_share = values.number(&SUMMARY_SHARE).unwrap_or(buffer.summary_share);
    buffer.is_adaptive = values.flag(&ADAPTIVE).unwrap_or(buffer.is_adaptive);
    buffer.is_stable = values.flag(&STABLE).unwrap_or(buffer.is_stable);
    buffer.keep_turns = values.count(&KEEP_TURNS).unwrap_or(buffer.keep_turns);
    buffer.folding = match values.text(&FOLDING) {
        Some("archive") => Folding::Archive,
        Some("off") => Folding::Off,
        _ => Folding::Summaries,
    };
    buffer.oversize = oversize(values).unwrap_or(buffer.oversize);
    buffer.ranking = ranking(values, buffer.ranking);
    buffer
}

fn oversize(values: &Values) -> Option<Oversize> {
    values.text(&OVERSIZE).map(|word| match word {
        "truncate_middle" => Oversize::TruncateMiddle,
        "keep" => Oversize::Keep,
        _ => Oversize::Error,
    })
}

/// Returns how many entries a board holds, and what keeps one.
pub(super) fn boards(values: &Values) -> (usize, Keep) {
    let keep = if values.flag(&BOARD_REFRESH) == Some(false) { Keep::Put } else { Keep::Used };
    (values.count(&BOARD_ENTRIES).unwrap_or(MemBlackboard::DEFAULT_CAPACITY), keep)
}

/// Returns the ranking, if that of the preset is `preset`.
fn ranking(values: &Values, preset: Ranking) -> Ranking {
    let mut ranking = match values.text(&RANKING) {
        Some("rrf") => Ranking::rrf(),
        Some("min_max") => Ranking::min_max(),
        Some("muxi") => Ranking::muxi(0.3),
        Some("kari") => Ranking::kari(),
        Some("weighted") => Ranking::weighted(),
        Some(_) => Ranking::z_score(),
        None => preset,
    };
    let said = |key| values.number(key).map(|number| number as f32);
    let weigh = |weights: &mut Weights| {
        weights.text = said(&TEXT_WEIGHT).unwrap_or(weights.text);
        weights.vector = said(&VECTOR_WEIGHT).unwrap_or(weights.vector);
    };
    let by_age = values.time(&HALF_LIFE, SECOND).map(|half_life| Recency::Age(Decay { half_life }));
    match &mut ranking {
        Ranking::ZScore(weights) | Ranking::MinMax(weights) => weigh(weights),
        Ranking::Rrf { k, weights } => {
            weigh(weights);
            *k = said(&RRF_K).unwrap_or(*k);
        }
        Ranking::Blend { recency_weight, recency, candidates, .. } => {
            *recency_weight = said(&RECENCY_WEIGHT).unwrap_or(*recency_weight);
            *recency = by_age.unwrap_or(*recency);
            *candidates = values.count(&CANDIDATES).unwrap_or(*candidates);
        }
        Ranking::Weighted { weights, recency_weight, recency, importance_weight } => {
            weigh(weights);
            *recency_weight = said(&RECENCY_WEIGHT).unwrap_or(*recency_weight);
            *recency = by_age.unwrap_or(*recency);
            *importance_weight = said(&IMPORTANCE_WEIGHT).unwrap_or(*importance_weight);
        }
        _ => {}
    }
    ranking
}

fn working(values: &Values) -> WorkingConfig {
    let mut working = WorkingConfig::default();
    if let Some(most) = values.whole(&MAX_MEMORY) {
        working.max_bytes = most.saturating_mul(1 << 20);
    }
    working.sweep_every = values.time(&FIFO_INTERVAL, MINUTE).unwrap_or(working.sweep_every);
    let half_life = values.time(&NOTE_HALF_LIFE, HOUR).unwrap_or(working.half_life);
    working.with_half_life(half_life)
}

fn cached(values: &Values) -> CachePolicy {
    let mut policy = CachePolicy::default();
    policy.ttl = values.time(&CACHE_TTL, SECOND).unwrap_or(policy.ttl);
    policy.vectors_ttl = values.time(&CACHE_VECTORS_TTL, SECOND).unwrap_or(policy.vectors_ttl);
    policy
}

fn synopsis(values: &Values) -> SynopsisConfig {
    let usual = SynopsisConfig::default();
    SynopsisConfig {
        identity_ttl: values.time(&IDENTITY_TTL, SECOND).unwrap_or(usual.identity_ttl),
        context_ttl: values.time(&CONTEXT_TTL, SECOND).unwrap_or(usual.context_ttl),
        refresh_on_access: values.flag(&REFRESH).unwrap_or(usual.refresh_on_access),
        identity_max_age: values.time(&IDENTITY_AGE, SECOND).unwrap_or(usual.identity_max_age),
        context_max_age: values.time(&CONTEXT_AGE, SECOND).unwrap_or(usual.context_max_age),
        max_tokens: values.whole(&SYNOPSIS_TOKENS).unwrap_or(usual.max_tokens),
    }
}

fn retention(values: &Values) -> Retention {
    let mut retention = Retention::default();
    retention.age = values.time(&KEEP_DAYS, DAY);
    retention.messages = values.whole(&KEEP_MESSAGES);
    retention.bytes = values.whole(&KEEP_BYTES);
    retention.record_age = values.time(&KEEP_RECORD_DAYS, DAY);
    retention.records = values.whole(&MOST_RECORDS);
    retention
}

/// Returns the policy of the guards before servers.
pub(super) fn guards(values: &Values) -> GuardPolicy {
    let mut policy = GuardPolicy::default();
    policy.deadline = values.time(&DEADLINE, SECOND).unwrap_or(policy.deadline);
    policy.bulk_deadline = values.time(&BULK_DEADLINE, SECOND).unwrap_or(policy.bulk_deadline.max(policy.deadline));
    let small = |key, usual: u32| values.whole(key).map_or(usual, |number| u32::try_from(number).unwrap_or(u32::MAX));
    policy.retries = small(&RETRIES, policy.retries);
    policy.failures = small(&FAILURES, policy.failures);
    policy.concurrency = values.count(&CONCURRENCY).unwrap_or(policy.concurrency);
    policy.queue = values.count(&QUEUE).unwrap_or(policy.queue);
    policy
}

/// Returns when what waits in the journal goes on.
pub(super) fn flushes(values: &Values) -> WriteBehindPolicy {
    let mut policy = WriteBehindPolicy::default();
    policy.batch = values.count(&FLUSH_BATCH).unwrap_or(policy.batch);
    policy.bytes = values.whole(&FLUSH_BYTES).unwrap_or(policy.bytes);
    policy.age = values.time(&FLUSH_SECONDS, SECOND).unwrap_or(policy.age);
    policy
}
