//! The id and time of a message, which its chat JSON lacks.

use crate::id::MessageId;
use crate::time::Timestamp;

/// The values of a message that chat JSON lacks.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// The message's id.
    pub id: MessageId,
    /// When it was said.
    pub at: Timestamp,
}
