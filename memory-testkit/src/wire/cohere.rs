//! The shape of rerankers that Cohere, Jina, vLLM and llama.cpp share.
//!
//! From <https://docs.cohere.com/reference/rerank> and <https://docs.vllm.ai/en/stable/examples/pooling/score/>.

use serde_json::{Value, json};

/// Returns the scores, the best first: their `index` gives the order.
pub fn scores(scores: &[f32]) -> Value {
    let mut results: Vec<(usize, f32)> = scores.iter().copied().enumerate().collect();
    results.sort_by(|one, other| other.1.total_cmp(&one.1));
    let results = results.into_iter().map(|(index, score)| json!({ "index": index, "relevance_score": score }));
    json!({
        "results": results.collect::<Vec<_>>(),
        "id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
        "meta": { "api_version": { "version": "2", "is_experimental": false }, "billed_units": { "search_units": 1 } }
    })
}
