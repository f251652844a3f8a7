//! The shapes of Ollama.
//!
//! From <https://docs.ollama.com/api/chat>, <https://docs.ollama.com/api/streaming>, <https://docs.ollama.com/api/embed> and
//! <https://docs.ollama.com/api/errors>.

use serde_json::{Value, json};

/// The type of a stream.
pub const STREAM: &str = "application/x-ndjson";

/// Returns an answer as a whole.
pub fn answer(text: &str) -> Value {
    json!({
        "model": "llama3.2",
        "created_at": "2023-12-12T14:13:43.416799Z",
        "message": { "role": "assistant", "content": text },
        "done": true,
        "done_reason": "stop",
        "total_duration": 5_191_566_416_u64,
        "load_duration": 2_154_458,
        "prompt_eval_count": 26,
        "prompt_eval_duration": 383_809_000,
        "eval_count": 298,
        "eval_duration": 4_799_921_000_u64
    })
}

/// Returns the body of a stream of these pieces.
pub fn stream(pieces: &[&str]) -> String {
    let mut body = String::new();
    for piece in pieces {
        let line = json!({
            "model": "llama3.2",
            "created_at": "2023-08-04T08:52:19.385406455-07:00",
            "message": { "role": "assistant", "content": piece },
            "done": false
        });
        body.push_str(&format!("{line}\n"));
    }
    body.push_str(&format!("{}\n", answer("")));
    body
}

/// Returns embeddings.
pub fn embeddings(vectors: &[Vec<f32>]) -> Value {
    json!({
        "model": "nomic-embed-text",
        "embeddings": vectors,
        "total_duration": 14_143_917,
        "load_duration": 1_019_500,
        "prompt_eval_count": 8
    })
}

/// Returns an error, also in the middle of a stream.
pub fn error(message: &str) -> Value {
    json!({ "error": message })
}
