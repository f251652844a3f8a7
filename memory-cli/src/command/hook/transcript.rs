//! The transcript of Claude Code: a line of JSON for each message. What was said is stored; what stands beside the words, such as
//! calls of tools, stays aside. It is read from its end: most of a long one is stored already.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use memory::import::mend_surrogates;
use memory::message::Defaults;
use memory::store::Limits;
use memory::{Block, Message, MessageId, Role, Timestamp};
use serde_json::Value;

use super::typed::typed;

/// The bytes of the first block: what one turn of the agent writes is often less.
const FIRST: u64 = 128 << 10;

/// The most bytes of a block, unless one line has more.
const LARGEST: u64 = 8 << 20;

/// The most bytes of a transcript that are read.
const MOST: u64 = 64 << 20;

/// A transcript that is read from its end, block by block.
#[derive(Debug)]
pub(super) struct Backwards {
    file: File,
    /// How long the file was when it was opened.
    length: u64,
    /// Where the block that was read last begins.
    begin: u64,
    /// How many bytes before it are read next.
    step: u64,
}

impl Backwards {
    /// Opens a transcript at its end.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, length, begin: length, step: FIRST })
    }

    /// Returns how many bytes at its beginning are not read yet.
    pub(super) fn left(&self) -> u64 {
        self.begin
    }

    /// Returns whether nothing is left, or no more of it may be read.
    pub(super) fn is_over(&self) -> bool {
        self.begin == 0 || self.length - self.begin + self.step.min(self.begin) > MOST
    }

    /// Reads the block before the one that was read last, and returns its messages that hold words, in their order. Lines that are cut
    /// or of another kind are passed over.
    ///
    /// A block begins with a line that tells a time, since a line without one is as old as the line before it. If there is none, the
    /// block is empty, and the next one begins further ahead.
    pub(super) fn block(&mut self) -> io::Result<Vec<Message>> {
        let (begin, messages) = self.read(self.begin.saturating_sub(self.step))?;
        let next = self.step.saturating_mul(2);
        self.step = if begin.is_some() { next.min(LARGEST) } else { next };
        self.begin = begin.unwrap_or(self.begin);
        Ok(messages)
    }

    /// Reads the lines from `from` on to the block that was read last. Returns where the first one begins that counts, and the messages.
    fn read(&self, from: u64) -> io::Result<(Option<u64>, Vec<Message>)> {
        // With the byte before: if it ends a line, the next one is whole.
        let before = from.min(1);
        let mut place = from - before;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(place))?;
        let mut lines = BufReader::new(file.take(self.begin - place));
        if before > 0 {
            place += lines.skip_until(b'\n')? as u64;
        }
        // The first line of the file counts whatever it tells.
        let (mut begin, mut at) = if from == 0 { (Some(0), Some(Timestamp(0))) } else { (None, None) };
        let (mut messages, mut line) = (Vec::new(), Vec::new());
        while lines.read_until(b'\n', &mut line)? > 0 {
            mend_surrogates(&mut line);
            if let Ok(mut value) = serde_json::from_slice::<Value>(&line) {
                at = value.get("timestamp").and_then(Value::as_str).and_then(|text| text.parse().ok()).or(at);
                if let Some(at) = at {
                    begin = begin.or(Some(place));
                    messages.extend(message(&mut value, at));
                }
            }
            place += line.len() as u64;
            line.clear();
        }
        Ok((begin, messages))
    }
}

/// What marks a line that nobody said: what the program put in, side tasks, the summary of a compaction, which stands as the person's
/// words, and what the program answers for a model that could not.
const UNSAID: [&str; 5] =
    ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"];

/// Returns a message that somebody said; none of a line of another kind, and of one that nobody said.
fn message(line: &mut Value, at: Timestamp) -> Option<Message> {
    let is_set = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
    if !matches!(line.get("type")?.as_str()?, "user" | "assistant") || UNSAID.into_iter().any(is_set) {
        return None;
    }
    let id: MessageId = line.get("uuid")?.as_str()?.parse().ok()?;
    let said = line.get_mut("message")?;
    // Taken and not copied: what a tool answered may be long.
    let mut taken = |name: &str| Some((name.to_owned(), said.get_mut(name)?.take()));
    let chat = Value::Object([taken("role")?, taken("content")?].into_iter().collect());
    let mut message = Message::from_chat(&chat, Defaults { id, at }).ok()?;
    if message.role == Role::User {
        for block in &mut message.blocks {
            if let Block::Text { text, .. } = block {
                *text = typed(text);
            }
        }
        message.blocks.retain(|block| !matches!(block, Block::Text { text, .. } if text.is_empty()));
    }
    let (words, aside) = message.blocks.into_iter().partition(|block| matches!(block, Block::Text { .. }));
    (message.blocks, message.aside) = (words, aside);
    message.origin = Some("claude-code".to_owned());
    // What stands beside the words, such as a large image, does not keep them from being stored.
    if Limits::default().check_message(&message).is_err() {
        message.aside.clear();
    }
    (!message.text().trim().is_empty()).then_some(message)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    /// Reads a transcript in blocks, of which the first has `step` bytes.
    fn read(path: &Path, step: u64) -> Vec<Message> {
        let mut back = Backwards { step, ..Backwards::open(path).unwrap() };
        let mut messages = Vec::new();
        while !back.is_over() {
            messages.splice(..0, back.block().unwrap());
        }
        messages
    }

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
            line("user", 11, json!("<command-name>/cost</command-name>"), json!({})),
            line(
                "user",
                12,
                json!([{ "type": "text", "text": "<system-reminder>x</system-reminder>" }, { "type": "text", "text": "Thanks!" }]),
                json!({}),
            ),
            "not json".to_owned(),
            line("assistant", 6, json!([{ "type": "text", "text": "In line 3." }]), json!({ "timestamp": null })),
            line("user", 7, json!("cut"), json!({}))[..60].to_owned(),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let messages = read(&path, FIRST);
        let texts: Vec<String> = messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["Where is the bug?", "I will look.", "Thanks!", "In line 3."]);
        assert_eq!(messages[1].aside.len(), 1);
        assert_eq!(messages[3].at, messages[0].at);
        for step in 1..800 {
            assert_eq!(read(&path, step), messages, "{step}");
        }
        assert!(Backwards::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_question_with_a_large_image_is_stored_with_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        for (bytes, kept) in [(1 << 10, 1), (5 << 20, 0)] {
            let source = json!({ "type": "base64", "media_type": "image/png", "data": "A".repeat(bytes) });
            let content = json!([{ "type": "text", "text": "What is this?" }, { "type": "image", "source": source }]);
            let line = json!({
                "type": "user", "uuid": "0190b0a0-0000-7000-8000-000000000001", "timestamp": "2026-11-22T10:00:00Z",
                "message": { "role": "user", "content": content },
            });
            std::fs::write(&path, format!("{line}\n")).unwrap();
            let messages = read(&path, FIRST);
            assert_eq!((messages.len(), messages[0].text().as_str()), (1, "What is this?"), "{bytes}");
            assert_eq!(messages[0].aside.len(), kept, "{bytes}");
            Limits::default().check_message(&messages[0]).unwrap();
        }
    }

    #[test]
    fn no_more_than_the_end_of_a_long_transcript_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let mut file = File::create(&path).unwrap();
        assert!(read(&path, FIRST).is_empty());
        file.set_len(2 * MOST).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        let said = |number: u32| {
            let id = format!("0190b0a0-0000-7000-8000-{number:012}");
            let message = json!({ "role": "user", "content": "Hm?" });
            json!({ "type": "user", "uuid": id, "timestamp": "2026-11-22T10:00:00Z", "message": message })
        };
        file.write_all(format!("\n{}\n{}\n", said(1), said(2)).as_bytes()).unwrap();
        assert_eq!(read(&path, FIRST).len(), 2);
        let mut back = Backwards::open(&path).unwrap();
        assert_eq!(back.block().unwrap().len(), 2);
        assert_eq!(back.left(), 2 * MOST + 1);
    }
}
