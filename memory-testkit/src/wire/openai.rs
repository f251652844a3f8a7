//! The shapes of OpenAI.
//!
//! From <https://platform.openai.com/docs/api-reference/chat/object>, <https://platform.openai.com/docs/api-reference/chat-streaming>,
//! <https://platform.openai.com/docs/api-reference/embeddings/create> and <https://platform.openai.com/docs/guides/error-codes>.

use serde_json::{Value, json};

/// The type of a stream.
pub const STREAM: &str = "text/event-stream; charset=utf-8";

/// Returns a chat completion.
pub fn answer(text: &str) -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "gpt-5.4",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text, "refusal": null, "annotations": [] },
            "logprobs": null,
            "finish_reason": "stop"
        }],
        "usage": {
            "prompt_tokens": 19,
            "completion_tokens": 10,
            "total_tokens": 29,
            "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 }
        },
        "service_tier": "default"
    })
}

/// Returns the body of a stream of these pieces, with the usage at its end.
pub fn stream(pieces: &[&str]) -> String {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-123",
            "object": "chat.completion.chunk",
            "created": 1_694_268_190,
            "model": "gpt-4o-mini",
            "system_fingerprint": "fp_44709d6fcb",
            "choices": choices,
            "usage": usage
        });
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: Value, reason: Value| json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]);
    let mut body = chunk(choice(json!({ "role": "assistant", "content": "" }), Value::Null), Value::Null);
    for piece in pieces {
        body.push_str(&chunk(choice(json!({ "content": piece }), Value::Null), Value::Null));
    }
    body.push_str(&chunk(choice(json!({}), json!("stop")), Value::Null));
    let usage = json!({ "prompt_tokens": 19, "completion_tokens": pieces.len(), "total_tokens": 19 + pieces.len() });
    body.push_str(&chunk(json!([]), usage));
    body.push_str("data: [DONE]\n\n");
    body
}

/// Returns embeddings, the last first: their `index` gives the order.
pub fn embeddings(vectors: &[Vec<f32>]) -> Value {
    let data = vectors
        .iter()
        .enumerate()
        .rev()
        .map(|(index, embedding)| json!({ "object": "embedding", "embedding": embedding, "index": index }));
    json!({
        "object": "list",
        "data": data.collect::<Vec<_>>(),
        "model": "text-embedding-3-small",
        "usage": { "prompt_tokens": 8, "total_tokens": 8 }
    })
}

/// Returns an error with this `type` and `code`.
pub fn error(kind: &str, code: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}
