//! Spans of a session, and the versions of a session's index entries.

use crate::id::{Seq, SeqRange, Version};
use crate::store::chat::SessionState;

/// How many numbers a span covers.
pub const SPAN_MESSAGES: u64 = 64;

/// Returns the number of the span that holds the message `seq`: messages 1 to 64 are in span 0.
pub fn span_of(seq: Seq) -> u32 {
    u32::try_from(seq.0.saturating_sub(1) / SPAN_MESSAGES).unwrap_or(u32::MAX)
}

/// Returns the range of the session that the span `number` covers.
pub fn span_range(number: u32) -> SeqRange {
    let first = u64::from(number) * SPAN_MESSAGES + 1;
    SeqRange { first: Seq(first), last: Seq(first + SPAN_MESSAGES - 1) }
}

/// How many versions an entry can have at one revision of its session.
const STEPS: u64 = 2 * SPAN_MESSAGES;

/// Returns the version of an entry of a session: 128 times the revision in `state`, plus `step`, below 128, which tells how many
/// of the messages that the entry depends on were there.
pub fn session_version(state: &SessionState, step: u64) -> Version {
    let revision = state.revision.saturating_mul(STEPS).saturating_add(step.min(STEPS - 1));
    Version { epoch: state.fence.epoch, revision }
}

/// Returns a version that separates the session's deleted generations from the present one: no deleted entry has a higher one.
/// An entry of the present generation has, unless the session was changed about a thousand times since it was indexed. None if
/// the session was neither deleted nor changed so often.
pub fn deleted_version(state: &SessionState) -> Option<Version> {
    let revision = state.began().saturating_mul(STEPS).checked_sub(1)?;
    Some(Version { epoch: state.fence.epoch, revision })
}
