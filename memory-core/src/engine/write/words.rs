//! The receipt of a request to remember, in words.

use std::fmt;

use super::remember::{Addition, NotTaken, RememberReceipt, Remembered, Why};

impl fmt::Display for Addition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Telling => f.write_str("who told it and from what"),
            Self::Metadata(key) => write!(f, "the value of {key}"),
            Self::Tag(tag) => write!(f, "the tag {tag}"),
            Self::Importance => f.write_str("the importance"),
            Self::Pin => f.write_str("the pin"),
            Self::Expiry => f.write_str("the end of its life"),
            Self::Validity => f.write_str("the time of its truth"),
            Self::Run => f.write_str("the run"),
        }
    }
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Why::LowerTrust => "somebody more trusted told it too",
            Why::Outlived => "another telling asks for a longer life",
            Why::Full => "the record was told too often",
        };
        write!(f, "{}, for {why}", self.what)
    }
}

/// Shows the record, whether it is new, and what does not show in it.
impl fmt::Display for RememberReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Remembered::Stored => "remembered",
            Remembered::Reinforced => "known already",
            Remembered::Skipped => "left out, because it repeats",
        };
        write!(f, "{outcome}: {} (version {})", self.id, self.version)?;
        self.novelty.map_or(Ok(()), |novelty| write!(f, ", novelty {novelty:.2}"))?;
        self.findings.iter().try_for_each(|finding| write!(f, "\ngate: {finding}"))?;
        self.degraded.iter().try_for_each(|degraded| write!(f, "\nnot compared: {degraded}"))?;
        self.not_taken.iter().try_for_each(|not_taken| write!(f, "\nnot taken: {not_taken}"))
    }
}
