//! The formats that can be read, told by their content.

use serde_json::Value;

use crate::transfer::line::MARK;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Chat JSON, OpenAI's or Anthropic's: a message a line, `{"messages": […]}` a line, or one array of messages.
    Openai,
    /// The export of ChatGPT: `conversations.json`.
    Chatgpt,
    /// The export of Claude: `conversations.json`.
    Claude,
    /// LoCoMo, a set of conversations with questions.
    Locomo,
    /// LongMemEval, a set of questions with conversations.
    Longmemeval,
    /// What [`export`](crate::transfer::export) writes.
    Export,
}

impl Format {
    /// Returns the format of an element, by its members.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let has = |member: &str| value.get(member).is_some();
        if has(MARK) {
            return Some(Self::Export);
        }
        if has("haystack_sessions") {
            return Some(Self::Longmemeval);
        }
        if has("chat_messages") {
            return Some(Self::Claude);
        }
        if has("mapping") {
            return Some(Self::Chatgpt);
        }
        if has("conversation") && has("sample_id") {
            return Some(Self::Locomo);
        }
        (has("role") || has("messages")).then_some(Self::Openai)
    }
}
