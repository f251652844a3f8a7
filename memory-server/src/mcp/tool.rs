//! What a tool is, whichever profile it belongs to.

use serde_json::Value;

/// Who wrote what an agent adds.
pub(super) const ORIGIN: &str = "mcp";

/// What a tool does to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    Adds,
    Changes,
}

/// A tool of a profile.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) schema: Value,
    /// The shape of structured results, where clients rely on one.
    pub(super) answers: Option<Value>,
}

impl Definition {
    pub(super) fn new(name: &'static str, effect: Effect, description: &'static str, schema: Value) -> Self {
        Self { name, description, effect, schema, answers: None }
    }
}
