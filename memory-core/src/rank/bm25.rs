//! BM25F over the evidence of a text store.

use crate::store::text::TextHits;

/// The parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How fast the repetition of a term saturates. Default 1.2.
    pub k1: f32,
    /// How much the length of a text counts, 0 to 1. Default 0.75.
    pub b: f32,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// The weights of a query's terms among the texts of one owner.
///
/// A store with many candidates scores them with it one by one, and gets the same numbers as [`bm25f`].
#[derive(Clone, Debug)]
pub struct TermWeights(Vec<TermWeight>);

/// The weight of one term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermWeight {
    k1: f32,
    /// The denominator for a text of length 0, and what each word adds to it.
    least: f32,
    slope: f32,
    idf: f32,
}

impl TermWeight {
    /// Returns what the term adds to the score of a text that holds it `own` times, and `near` times in its neighbours.
    #[inline(always)]
    pub(crate) fn score(&self, length: u32, own: u32, near: f32) -> f32 {
        let frequency = own as f32 + near;
        let norm = self.least + self.slope * length as f32;
        self.idf * frequency * (self.k1 + 1.0) / (frequency + norm)
    }
}

impl TermWeights {
    /// Returns the weights in a partition of `documents` texts of `mean_length`; `containing` says how many hold each term.
    pub fn new(parameters: &Bm25, documents: u64, mean_length: f32, containing: &[u64]) -> Self {
        let Bm25 { k1, b } = *parameters;
        let mean = if mean_length > 0.0 { mean_length } else { 1.0 };
        let weight = |containing: &u64| {
            let idf = idf(documents, *containing);
            TermWeight { k1, least: k1 * (1.0 - b), slope: k1 * b / mean, idf }
        };
        Self(containing.iter().map(weight).collect())
    }

    /// Returns the weight of each term.
    pub(crate) fn each(&self) -> &[TermWeight] {
        &self.0
    }

    /// Returns the score of a text from its length and its counts of each term; 0 or more.
    pub fn score(&self, length: u32, own: &[u32], near: &[f32]) -> f32 {
        let counts = own.iter().zip(near);
        self.0.iter().zip(counts).map(|(weight, (own, near))| weight.score(length, *own, *near)).sum::<f32>()
    }
}

/// Returns how rare a term is that `containing` of `documents` texts hold: Lucene's idf, more than 0.
pub(crate) fn idf(documents: u64, containing: u64) -> f32 {
    let containing = containing as f32;
    (1.0 + (documents as f32 - containing + 0.5) / (containing + 0.5)).ln()
}

/// Returns the score of each hit, in the order of `evidence.hits`; 0 or more.
///
/// BM25 with Lucene's idf, `ln(1 + (n - df + 0.5) / (df + 0.5))`, over frequencies that are summed before saturation
/// as in BM25F (Robertson, Zaragoza and Taylor 2004): `own + near`. Sums run in the order of the query's terms.
pub fn bm25f(parameters: &Bm25, evidence: &TextHits) -> Vec<f32> {
    let weights = TermWeights::new(parameters, evidence.documents, evidence.mean_length, &evidence.containing);
    evidence.hits.iter().map(|hit| weights.score(hit.length, &hit.own, &hit.near)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(got: f32, want: f32) {
        assert!((got - want).abs() < 1e-5, "{got} is not {want}");
    }

    #[test]
    fn a_rarer_term_weighs_more_by_the_formula_of_lucene() {
        is(idf(4, 1), (10.0f32 / 3.0).ln());
        is(idf(10, 4), (1.0 + 6.5f32 / 4.5).ln());
        is(idf(3, 3), (1.0 + 0.5f32 / 3.5).ln());
    }

    #[test]
    fn a_score_is_the_formula_of_bm25f() {
        // A text of twice the mean length: the denominator grows by 1.2 × (1 - 0.75 + 0.75 × 2) = 2.1.
        let weights = TermWeights::new(&Bm25::default(), 4, 2.0, &[1, 4]);
        let (rare, common) = ((10.0f32 / 3.0).ln(), (1.0 + 0.5f32 / 4.5).ln());
        is(weights.score(4, &[2, 0], &[0.5, 0.0]), rare * 2.5 * 2.2 / 4.6);
        is(weights.score(4, &[0, 1], &[0.0, 0.0]), common * 2.2 / 3.1);
        is(weights.score(4, &[2, 1], &[0.5, 0.0]), rare * 2.5 * 2.2 / 4.6 + common * 2.2 / 3.1);
        is(weights.score(0, &[1, 0], &[0.0, 0.0]), rare * 2.2 / 1.3);
    }
}
