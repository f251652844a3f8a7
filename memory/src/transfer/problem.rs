//! A difference that a move leaves between source and target.

use std::fmt;

use memory_core::{Error, RecordId};

/// Names of sessions that are told.
const TOLD: usize = 3;

/// A difference that a move leaves between source and target. It is displayed as one clause.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The owner was forgotten in the target since: copying would bring it back.
    ForgottenInTarget,
    /// The owner was forgotten in the source since it was copied; it has to be forgotten in the target first.
    ForgottenInSource,
    /// The source holds nothing of the owner, so a mirror would remove everything: nothing is removed.
    EmptySource,
    /// A session was forgotten in the target, or a mirror that was stopped had emptied it; a mirror copies it again.
    SessionForgotten(String),
    /// A session was written to each time that it was copied.
    SessionBusy(String),
    /// A session has other rows in the target; with the target's error, if it refused rows.
    OtherPast(String, Option<Error>),
    /// A session that the target alone holds is written to, so a mirror did not remove it.
    ExtraSessionBusy(String),
    /// The target alone holds these sessions; a mirror removes them.
    ExtraSessions(Vec<String>),
    /// A record has other content in the target.
    OtherRecord(RecordId, Error),
    /// The records are not the same, although none was refused.
    RecordsDiffer {
        /// Records in the source.
        source: u64,
        /// Records in the target.
        target: u64,
    },
    /// The target alone holds so many records; a mirror removes them.
    ExtraRecords(u64),
    /// One of so many records that the target alone holds is written to, so a mirror did not remove them.
    ExtraRecordsBusy(u64),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForgottenInTarget => f.write_str("forgotten in the target since: copying would bring it back"),
            Self::ForgottenInSource => {
                f.write_str("forgotten in the source since it was copied: forget it in the target, then move again")
            }
            Self::EmptySource => f.write_str("the source holds nothing, so nothing is removed"),
            Self::SessionForgotten(name) => write!(f, "the session {name} was forgotten in the target"),
            Self::SessionBusy(name) => write!(f, "the session {name} is written to while it is copied: move again"),
            Self::OtherPast(name, None) => write!(f, "the session {name} has another past in the target"),
            Self::OtherPast(name, Some(why)) => {
                write!(f, "the session {name} has another past in the target: {}", why.with_causes())
            }
            Self::ExtraSessionBusy(name) => {
                write!(f, "the session {name}, which the target alone holds, is written to: move again")
            }
            Self::ExtraSessions(names) => {
                let more = if names.len() > TOLD { ", …" } else { "" };
                let first: Vec<&str> = names.iter().take(TOLD).map(String::as_str).collect();
                write!(f, "the target alone holds {} sessions ({}{more})", names.len(), first.join(", "))
            }
            Self::OtherRecord(id, why) => write!(f, "the record {id} is another in the target: {}", why.with_causes()),
            Self::RecordsDiffer { source, target } => {
                write!(f, "the records differ: {source} in the source, {target} in the target")
            }
            Self::ExtraRecords(count) => write!(f, "the target alone holds {count} records"),
            Self::ExtraRecordsBusy(count) => {
                write!(f, "of {count} records that the target alone holds one is written to: move again")
            }
        }
    }
}
