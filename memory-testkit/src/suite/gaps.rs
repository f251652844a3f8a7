//! Promises that a backend is known not to keep.

use crate::trial::Verdict;

/// A promise that is not kept, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) scenario: &'static str,
    pub(super) reason: &'static str,
}

/// Returns the verdict on a scenario with its gap: a gap must go on failing. Calls `count` for a gap that does.
pub(super) fn judge(gap: Option<&Gap>, verdict: Verdict, count: impl FnOnce()) -> Verdict {
    let Some(gap) = gap else { return verdict };
    match verdict {
        Verdict::Failed(_) => {
            count();
            Verdict::Passed
        }
        Verdict::Passed => Verdict::Failed(format!("the promise is kept, remove its gap: {}", gap.reason)),
        ignored @ Verdict::Ignored(_) => ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_must_go_on_failing() {
        let gap = Gap { scenario: "chat::x", reason: "names are cut" };
        let mut counted = 0;
        assert_eq!(judge(Some(&gap), Verdict::Failed("no".to_owned()), || counted += 1), Verdict::Passed);
        assert!(matches!(judge(Some(&gap), Verdict::Passed, || counted += 1), Verdict::Failed(_)));
        assert!(matches!(judge(Some(&gap), Verdict::Ignored(String::new()), || counted += 1), Verdict::Ignored(_)));
        assert!(matches!(judge(None, Verdict::Failed(String::new()), || counted += 1), Verdict::Failed(_)));
        assert_eq!(judge(None, Verdict::Passed, || counted += 1), Verdict::Passed);
        assert_eq!(counted, 1);
    }
}
