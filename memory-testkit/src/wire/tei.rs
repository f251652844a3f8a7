//! The shapes of text-embeddings-inference.
//!
//! From `RerankResponse` and `ErrorResponse` in <https://huggingface.github.io/text-embeddings-inference/>.

use serde_json::{Value, json};

/// Returns the scores, the best first: their `index` gives the order.
pub fn scores(scores: &[f32]) -> Value {
    let mut ranks: Vec<(usize, f32)> = scores.iter().copied().enumerate().collect();
    ranks.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranks.into_iter().map(|(index, score)| json!({ "index": index, "score": score })).collect()
}

/// Returns an error of this type.
pub fn error(kind: &str, message: &str) -> Value {
    json!({ "error": message, "error_type": kind })
}
