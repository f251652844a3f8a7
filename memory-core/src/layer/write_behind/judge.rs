//! What becomes of messages that the primary did not take.

use std::time::Duration;

use crate::error::Error;

/// How often a message may be refused for a reason that may lie in it, before it is set aside.
pub(super) const TRIES: u32 = 5;

/// The first and the longest pause before something is tried again.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// The pause for each of several messages that are refused again and again, and the longest for all of them.
const EACH: Duration = Duration::from_millis(500);
const LONGEST_OF_ALL: Duration = Duration::from_secs(30);

/// Where the reason of a refusal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In the primary, or on the way to it: the messages wait.
    Away {
        /// Whether the primary may have taken them all the same.
        is_in_doubt: bool,
    },
    /// In the session, which was erased.
    Fenced,
    /// In a message: it will never be taken.
    Unfit,
    /// In a message, or in the primary: the next message tells.
    Unclear,
}

/// Judges why the primary did not take messages.
pub(super) fn verdict(error: &Error) -> Verdict {
    match error {
        Error::Fenced => Verdict::Fenced,
        Error::IdConflict { .. } | Error::Invalid { .. } | Error::OverBudget { .. } | Error::SpaceMismatch { .. } => {
            Verdict::Unfit
        }
        Error::Overloaded | Error::QueueFull | Error::ReadOnly { .. } | Error::Conflict => {
            Verdict::Away { is_in_doubt: false }
        }
        error if error.is_retryable() => Verdict::Away { is_in_doubt: true },
        Error::Unsupported { .. } | Error::Corrupt { .. } | Error::Backend { .. } => Verdict::Unclear,
    }
}

/// Returns how long to wait after so many failures in a row.
pub(super) fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST * (1 << doublings)).min(LONGEST)
}

/// Returns how long to wait where so many messages were refused one right after the other: all of them are tried anew.
pub(super) fn pause_of_all(refused: usize) -> Duration {
    let refused = u32::try_from(refused).unwrap_or(u32::MAX);
    EACH.saturating_mul(refused).min(LONGEST_OF_ALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Cause, Transience};

    fn backend(transience: Transience) -> Error {
        Error::Backend { backend: "test", doing: "append", transience, source: Cause::new("no") }
    }

    #[test]
    fn each_error_is_judged_by_where_its_reason_lies() {
        let away = |is_in_doubt| Verdict::Away { is_in_doubt };
        let table = [
            (Error::Fenced, Verdict::Fenced),
            (Error::IdConflict { id: "1".to_owned() }, Verdict::Unfit),
            (Error::invalid("too long"), Verdict::Unfit),
            (Error::Overloaded, away(false)),
            (Error::ReadOnly { backend: "test" }, away(false)),
            (backend(Transience::Late), away(true)),
            (backend(Transience::Transient { after: None }), away(true)),
            (backend(Transience::Permanent), Verdict::Unclear),
            (Error::corrupt("test", "damaged"), Verdict::Unclear),
        ];
        for (error, expected) in table {
            assert_eq!(verdict(&error), expected, "{error:?}");
        }
    }

    #[test]
    fn pauses_double_up_to_two_seconds_and_are_longer_for_many() {
        let pauses = [1, 2, 3, 4, 5, 6, 40].map(|failures| pause(failures).as_millis());
        assert_eq!(pauses, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert_eq!(pause(0), FIRST);
        let of_all = [0, 1, 59, 61, usize::MAX].map(|refused| pause_of_all(refused).as_millis());
        assert_eq!(of_all, [0, 500, 29_500, 30_000, 30_000]);
    }
}
