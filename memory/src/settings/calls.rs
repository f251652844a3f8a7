//! What settings make of calls that say nothing else, and of the ring buffers of agents.

use memory_core::Result;
use memory_core::engine::Defaults;
use memory_core::novelty::{Gate, Repeat};
use memory_core::window::RingBuffer;

use super::Settings;
use super::keys::{
    AGENT_THRESHOLD, AGENT_TOKENS, CONTEXT_NOTES, CONTEXT_RECALL, CONTEXT_RECALL_TOKENS, CONTEXT_RESERVE,
    CONTEXT_SHARE, CONTEXT_UNKNOWN, GATE, HITS, NOVELTY, REPEAT,
};
use super::values::Values;

/// How many tokens the ring buffer of an agent holds.
const RING: u64 = 1_000;

impl Settings {
    /// Returns what calls have that say nothing else: how much is found and recalled, and whether what is remembered passes a gate.
    ///
    /// ```
    /// let settings = memory::Settings::from_yaml("memory: { context: { recall: 8 }, gate: { novelty: 0.1 } }", |_| None).unwrap();
    /// let defaults = settings.defaults();
    /// assert_eq!((defaults.recall, defaults.gate.map(|gate| gate.threshold)), (8, Some(0.1)));
    /// ```
    pub fn defaults(&self) -> Defaults {
        defaults(&self.values)
    }

    /// Returns an empty ring buffer for the notes of an agent, as the section `agents` says.
    ///
    /// ```
    /// let settings = memory::Settings::from_yaml("memory: { agents: { capacity_tokens: 500 } }", |_| None).unwrap();
    /// assert_eq!(settings.ring_buffer()?.capacity(), 500);
    /// # Ok::<(), memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RingBuffer::new`].
    pub fn ring_buffer(&self) -> Result<RingBuffer> {
        let buffer = RingBuffer::new(self.values.whole(&AGENT_TOKENS).unwrap_or(RING))?;
        Ok(self.values.number(&AGENT_THRESHOLD).into_iter().fold(buffer, RingBuffer::with_threshold))
    }
}

fn defaults(values: &Values) -> Defaults {
    let usual = Defaults::default();
    let mut defaults = usual
        .with_hits(values.count(&HITS).unwrap_or(usual.hits))
        .with_recall(values.count(&CONTEXT_RECALL).unwrap_or(usual.recall))
        .with_notes(values.count(&CONTEXT_NOTES).unwrap_or(usual.notes))
        .with_recall_tokens(values.whole(&CONTEXT_RECALL_TOKENS).unwrap_or(usual.recall_tokens))
        .with_reserve(values.whole(&CONTEXT_RESERVE).unwrap_or(usual.reserve));
    defaults.limit.share = values.number(&CONTEXT_SHARE).unwrap_or(defaults.limit.share);
    defaults.limit.unknown = values.whole(&CONTEXT_UNKNOWN).unwrap_or(defaults.limit.unknown);
    if values.flag(&GATE).unwrap_or_else(|| values.says(GATE.section())) {
        defaults.gate = Some(gate(values));
    }
    defaults
}

fn gate(values: &Values) -> Gate {
    let gate = Gate::default();
    let threshold = values.number(&NOVELTY).map_or(gate.threshold, |novelty| novelty as f32);
    let repeat = match values.text(&REPEAT) {
        Some("skip") => Repeat::Skip,
        _ => Repeat::Reinforce,
    };
    gate.with_threshold(threshold).with_repeat(repeat)
}
