//! The shapes of Anthropic's Messages API.
//!
//! From <https://platform.claude.com/docs/en/api/messages>, <https://platform.claude.com/docs/en/build-with-claude/streaming> and
//! <https://platform.claude.com/docs/en/api/errors>.

use serde_json::{Value, json};

/// The type of a stream.
pub const STREAM: &str = "text/event-stream; charset=utf-8";

/// Returns a message.
pub fn answer(text: &str) -> Value {
    json!({
        "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{ "type": "text", "text": text }],
        "stop_reason": "end_turn",
        "stop_sequence": null,
        "usage": {
            "input_tokens": 2_095,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 100,
            "output_tokens": 503,
            "service_tier": "standard"
        }
    })
}

/// Returns the body of a stream of these pieces, after some thinking.
pub fn stream(pieces: &[&str]) -> String {
    let mut body = String::new();
    let mut event = |value: Value| {
        let name = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        body.push_str(&format!("event: {name}\ndata: {value}\n\n"));
    };
    event(json!({ "type": "message_start", "message": {
        "id": "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY", "type": "message", "role": "assistant", "content": [],
        "model": "claude-sonnet-4-5", "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 25, "output_tokens": 1 }
    } }));
    event(
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
    );
    event(json!({ "type": "ping" }));
    event(
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "I should…" } }),
    );
    event(
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "EqQBCgIYAhIM" } }),
    );
    event(json!({ "type": "content_block_stop", "index": 0 }));
    event(json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }));
    for piece in pieces {
        event(json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": piece } }));
    }
    event(json!({ "type": "content_block_stop", "index": 1 }));
    event(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
        "usage": { "output_tokens": 15 } }));
    event(json!({ "type": "message_stop" }));
    body
}

/// Returns an error of this type.
pub fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy" })
}
