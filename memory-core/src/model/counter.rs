//! Token counters, and the id by which a stored count names its counter.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// Counts tokens. Should not panic, whatever the text: a call that counts fails with it.
pub trait TokenCounter: Debug + Send + Sync + 'static {
    /// Returns the counter's name, whose [`CounterId`] is stored beside counts.
    ///
    /// Two counters have one name only if they count every message alike: by the name a stored count is known for one
    /// that need not be taken again. A counter whose rules change changes its name.
    fn name(&self) -> &str;

    /// Returns the tokens of a whole message: its words, calls, results, reasoning and media, and its overhead.
    fn count(&self, message: &Message) -> u64;

    /// Returns the tokens of bare text.
    fn count_text(&self, text: &str) -> u64;
}

/// Which counter took a count: a number made from the counter's name, small enough to stand in every row.
///
/// Counters of two names have the same number about once in four thousand million pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CounterId(pub u32);

impl CounterId {
    /// Nobody knows who counted, as in rows of earlier versions: such a count is always taken again.
    pub const UNKNOWN: Self = Self(0);

    /// Returns the number of the counter.
    pub fn of(counter: &dyn TokenCounter) -> Self {
        // FNV-1a with 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). Stored, so it never changes.
        let hash = counter
            .name()
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Self(hash.max(1))
    }

    /// Returns whether this is a known counter.
    pub fn is_unknown(&self) -> bool {
        *self == Self::UNKNOWN
    }
}
