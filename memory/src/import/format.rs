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

    /// Returns what an element is not that lacks the members by which the format is told.
    pub(super) fn lack(self) -> &'static str {
        match self {
            Self::Openai => "not a message: it has no role and no messages",
            Self::Chatgpt => "not a conversation of ChatGPT: it has no mapping",
            Self::Claude => "not a conversation of Claude: it has no chat_messages",
            Self::Locomo => "not a conversation of LoCoMo: it has no sample_id or no conversation",
            Self::Longmemeval => "not a question of LongMemEval: it has no sessions",
            Self::Export => "not a line of an export: that begins with its version, as {\"memory_export\":1}",
        }
    }
}
