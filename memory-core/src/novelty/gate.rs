//! Decides whether a fact is kept as a new record.

use serde::Serialize;

use crate::id::RecordId;
use crate::vector::Similarity;

/// Returns how new something is whose closest likeness is `similarity`: `1 - similarity`, 0 to 2.
pub fn novelty(similarity: Similarity) -> f32 {
    1.0 - similarity.value()
}

/// What becomes of a repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repeat {
    /// The record that is there counts as confirmed.
    #[default]
    Reinforce,
    /// Nothing.
    Skip,
}

/// The rule by which repetitions are known.
///
/// ```
/// use memory_core::analysis::Analysis;
/// use memory_core::novelty::{Gate, Nearest, Repeat, Verdict, differ_in_particulars};
/// use memory_core::vector::Similarity;
/// use memory_core::{RecordId};
///
/// let (told, new) = ("Ada has 2 cats", "Ada has 3 cats");
/// let nearest = Nearest {
///     id: RecordId::fresh(),
///     similarity: Similarity::new(0.97),
///     differs: differ_in_particulars(&Analysis::english(), told, new),
/// };
/// let gate = Gate::default().with_threshold(0.1).with_repeat(Repeat::Skip);
/// assert_eq!(gate.decide(None, Some(nearest)), Verdict::Stored, "another number is another fact");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// What is at least this new is stored. Default 0.18.
    pub threshold: f32,
    /// What becomes of a repetition. Default: it reinforces.
    pub repeat: Repeat,
}

impl Default for Gate {
    fn default() -> Self {
        Self { threshold: 0.18, repeat: Repeat::Reinforce }
    }
}

/// The record that a new one is most like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The record.
    pub id: RecordId,
    /// How like it is.
    pub similarity: Similarity,
    /// Whether the two differ in what makes facts different: see [`super::differ_in_particulars`].
    pub differs: bool,
}

/// What a gate decided; always reported.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is new: to be stored.
    Stored,
    /// It repeats this record, which counts as confirmed.
    Reinforced(RecordId),
    /// It is dropped.
    Skipped(Reason),
}

/// Why something was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Reason {
    /// It says what this record says.
    Equal(RecordId),
    /// It is too like this record.
    Alike {
        /// The record.
        to: RecordId,
        /// How new it would have been.
        novelty: f32,
    },
}

impl Gate {
    /// Returns the gate for vectors of [`crate::hashing::HashEmbedder`], which lie near each other where texts share
    /// words, whatever they say. One other word among twenty makes a novelty of 0.06; only what is below 0.02 is a
    /// repetition. Above some sixty words it cannot tell another word from a slip of the pen.
    pub fn hashing() -> Self {
        Self { threshold: 0.02, ..Self::default() }
    }

    /// Sets what becomes of a repetition.
    #[must_use]
    pub fn with_repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Sets how new something must be to be stored.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f32) -> Self {
        self.threshold = threshold;
        self
    }

    /// Returns what becomes of something new: `equal` is the record with the same fingerprint, `nearest` the closest.
    ///
    /// What has the same fingerprint is a repetition; what is less new than the threshold is one unless it differs in
    /// particulars; everything else is stored, also where nothing is known of its likeness.
    pub fn decide(&self, equal: Option<RecordId>, nearest: Option<Nearest>) -> Verdict {
        if let Some(id) = equal {
            return self.repeated(id, Reason::Equal(id));
        }
        match nearest {
            Some(Nearest { id, similarity, differs: false }) if novelty(similarity) < self.threshold => {
                self.repeated(id, Reason::Alike { to: id, novelty: novelty(similarity) })
            }
            _ => Verdict::Stored,
        }
    }

    fn repeated(&self, id: RecordId, reason: Reason) -> Verdict {
        match self.repeat {
            Repeat::Reinforce => Verdict::Reinforced(id),
            Repeat::Skip => Verdict::Skipped(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(cosine: f32, differs: bool) -> Option<Nearest> {
        Some(Nearest { id: RecordId::of_content(b"old"), similarity: Similarity::new(cosine), differs })
    }

    #[test]
    fn s3_11_what_is_new_enough_is_stored_and_the_rest_reinforces_or_is_skipped() {
        let (gate, old) = (Gate::default(), RecordId::of_content(b"old"));
        assert_eq!(gate.decide(None, None), Verdict::Stored);
        assert_eq!(gate.decide(None, nearest(0.80, false)), Verdict::Stored);
        assert_eq!(gate.decide(None, nearest(0.83, false)), Verdict::Reinforced(old));
        let skipping = gate.with_repeat(Repeat::Skip);
        let Verdict::Skipped(Reason::Alike { to, novelty }) = skipping.decide(None, nearest(0.9, false)) else {
            panic!("not skipped");
        };
        assert_eq!(to, old);
        assert!((novelty - 0.1).abs() < 1e-6);
    }

    #[test]
    fn s3_11_novelty_at_the_threshold_is_stored() {
        let gate = Gate::default().with_threshold(0.25);
        assert_eq!(gate.decide(None, nearest(0.75, false)), Verdict::Stored);
        let stricter = gate.with_threshold(0.5);
        assert_eq!(stricter.decide(None, nearest(0.75, false)), Verdict::Reinforced(RecordId::of_content(b"old")));
        assert_eq!((novelty(Similarity::new(1.0)), novelty(Similarity::new(-1.0))), (0.0, 2.0));
    }

    #[test]
    fn c31_particulars_are_stored_however_alike_and_equals_are_not_however_far() {
        let same = RecordId::of_content(b"same");
        assert_eq!(Gate::default().decide(None, nearest(0.99, true)), Verdict::Stored);
        assert_eq!(Gate::default().decide(Some(same), nearest(0.1, true)), Verdict::Reinforced(same));
        let skipping = Gate::default().with_repeat(Repeat::Skip);
        assert_eq!(skipping.decide(Some(same), None), Verdict::Skipped(Reason::Equal(same)));
    }
}
