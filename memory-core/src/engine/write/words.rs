//! The receipt of a request to remember, in words.

use std::fmt;

use crate::novelty::Reason;

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
            Remembered::Skipped(Reason::Equal(_)) => "left out, because it says the same",
            Remembered::Skipped(Reason::Alike { .. }) => "left out, because it says nearly the same",
        };
        write!(f, "{outcome}: {} (version {})", self.id, self.version)?;
        self.novelty.map_or(Ok(()), |novelty| write!(f, ", novelty {novelty:.2}"))?;
        self.findings.iter().try_for_each(|finding| write!(f, "\ngate: {finding}"))?;
        self.degraded.iter().try_for_each(|degraded| write!(f, "\nnot compared: {degraded}"))?;
        self.not_taken.iter().try_for_each(|not_taken| write!(f, "\nnot taken: {not_taken}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::RecordId;
    use crate::store::Durability;

    #[test]
    fn s3_11_what_is_left_out_tells_why_in_words_and_in_json() {
        let id = RecordId::of_content(b"tea");
        let told = |outcome| RememberReceipt::new(id, outcome, 3, Durability::Committed);
        let json = |receipt: &RememberReceipt| serde_json::to_value(receipt).unwrap();
        let equal = told(Remembered::Skipped(Reason::Equal(id)));
        assert_eq!(equal.to_string(), format!("left out, because it says the same: {id} (version 3)"));
        let reason = json!({ "equal": id });
        let promised =
            json!({ "id": id, "outcome": "skipped", "reason": reason, "version": 3, "durability": "committed" });
        assert_eq!(json(&equal), promised);
        let alike = told(Remembered::Skipped(Reason::Alike { to: id, novelty: 0.25 }));
        assert_eq!(alike.to_string(), format!("left out, because it says nearly the same: {id} (version 3)"));
        assert_eq!(json(&alike)["reason"], json!({ "alike": { "to": id, "novelty": 0.25 } }));
        // What was stored has no reason beside it.
        assert_eq!(
            json(&told(Remembered::Stored)),
            json!({ "id": id, "outcome": "stored", "version": 3, "durability": "committed" })
        );
        assert_eq!(json(&told(Remembered::Reinforced))["outcome"], "reinforced");
    }
}
