//! BM25F over the evidence of a text store.

use crate::text::TextHits;

/// The parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How soon repetition stops paying. Default 1.2.
    pub k1: f32,
    /// How much length counts, 0 to 1. Default 0.75.
    pub b: f32,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// Returns the score of each hit, in the order of `evidence.hits`; 0 or more.
///
/// BM25 with Lucene's idf, `ln(1 + (n - df + 0.5) / (df + 0.5))`, over frequencies that are summed before saturation
/// as in BM25F (Robertson, Zaragoza and Taylor 2004): `own + near`. Sums run in the order of the query's terms.
pub fn bm25f(parameters: &Bm25, evidence: &TextHits) -> Vec<f32> {
    let Bm25 { k1, b } = *parameters;
    let documents = evidence.documents as f32;
    let idf: Vec<f32> = evidence
        .containing
        .iter()
        .map(|containing| {
            let containing = *containing as f32;
            (1.0 + (documents - containing + 0.5) / (containing + 0.5)).ln()
        })
        .collect();
    let mean = if evidence.mean_length > 0.0 { evidence.mean_length } else { 1.0 };
    let score = |length: u32, own: &[u32], near: &[f32]| {
        let norm = k1 * (1.0 - b + b * length as f32 / mean);
        let weigh = |(idf, (own, near)): (&f32, (&u32, &f32))| {
            let frequency = *own as f32 + near;
            idf * frequency * (k1 + 1.0) / (frequency + norm)
        };
        idf.iter().zip(own.iter().zip(near)).map(weigh).sum::<f32>()
    };
    evidence.hits.iter().map(|hit| score(hit.length, &hit.own, &hit.near)).collect()
}
