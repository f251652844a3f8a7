//! The transcript of Claude Code: a line of JSON for each message. What was said is stored; what stands beside the words, such as
//! calls of tools, stays aside.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use memory::message::Defaults;
use memory::{Block, Message, MessageId, Timestamp};
use serde_json::{Value, json};

/// The most bytes of a transcript that are read.
const MOST: u64 = 256 << 20;

/// Returns the messages of a transcript that hold words, in their order. Lines that are cut or of another kind are passed over.
pub(super) fn read(path: &Path) -> io::Result<Vec<Message>> {
    let (mut messages, mut at) = (Vec::new(), Timestamp(0));
    let mut lines = BufReader::new(File::open(path)?.take(MOST));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Ok(value) = serde_json::from_slice::<Value>(&line) {
            // A line without a time is as old as the one before it, each time the transcript is read.
            at = value.get("timestamp").and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(at);
            messages.extend(message(&value, at));
        }
        line.clear();
    }
    Ok(messages)
}

/// What marks a line that nobody said: what the program put in, side tasks, the summary of a compaction, which stands as the person's
/// words, and what the program answers for a model that could not.
const UNSAID: [&str; 5] =
    ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"];

/// Returns a message that somebody said; none of a line of another kind, and of one that nobody said.
fn message(line: &Value, at: Timestamp) -> Option<Message> {
    let is_set = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
    if !matches!(line.get("type")?.as_str()?, "user" | "assistant") || UNSAID.into_iter().any(is_set) {
        return None;
    }
    let id: MessageId = line.get("uuid")?.as_str()?.parse().ok()?;
    let said = line.get("message")?;
    let chat = json!({ "role": said.get("role")?, "content": said.get("content")? });
    let mut message = Message::from_chat(&chat, Defaults { id, at }).ok()?;
    let (words, aside) = message.blocks.into_iter().partition(|block| matches!(block, Block::Text { .. }));
    (message.blocks, message.aside) = (words, aside);
    message.origin = Some("claude-code".to_owned());
    (!message.text().trim().is_empty()).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_read_and_the_rest_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let line = |kind: &str, number: u32, content: Value, more: Value| {
            let mut line = json!({
                "type": kind, "uuid": format!("0190b0a0-0000-7000-8000-{number:012}"), "timestamp": "2026-11-22T10:00:00Z",
                "message": { "role": kind, "content": content, "usage": { "tokens": 3 } },
            });
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line.to_string()
        };
        let call = json!([{ "type": "text", "text": "I will look." }, { "type": "tool_use", "id": "t", "name": "ls", "input": {} }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": "a very long list" }]);
        let lines = [
            json!({ "type": "summary", "summary": "x" }).to_string(),
            line("user", 1, json!("Where is the bug?"), json!({})),
            line("assistant", 2, call, json!({})),
            line("user", 3, result, json!({})),
            line("user", 4, json!("caveat"), json!({ "isMeta": true })),
            line("assistant", 5, json!("of a side task"), json!({ "isSidechain": true })),
            line("user", 8, json!("This session is being continued"), json!({ "isCompactSummary": true })),
            line("user", 9, json!("of a compaction"), json!({ "isVisibleInTranscriptOnly": true })),
            line("assistant", 10, json!("API Error: overloaded"), json!({ "isApiErrorMessage": true })),
            "not json".to_owned(),
            line("assistant", 6, json!([{ "type": "text", "text": "In line 3." }]), json!({ "timestamp": null })),
            line("user", 7, json!("cut"), json!({}))[..60].to_owned(),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let messages = read(&path).unwrap();
        let texts: Vec<String> = messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["Where is the bug?", "I will look.", "In line 3."]);
        assert_eq!(messages[1].aside.len(), 1);
        assert_eq!(messages[2].at, messages[0].at);
        assert_eq!(read(&path).unwrap(), messages);
        assert!(read(&folder.path().join("none")).is_err());
    }
}
