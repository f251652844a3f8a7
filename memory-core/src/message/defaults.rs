//! What the JSON of a message does not say.

use crate::id::MessageId;
use crate::time::Timestamp;

/// What chat JSON does not say.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// The message's id.
    pub id: MessageId,
    /// When it was said.
    pub at: Timestamp,
}
