//! Token counts of whole messages: what is counted, whichever counter counts the words.

mod heuristic;
mod profile;
#[cfg(test)]
mod tests;
#[cfg(feature = "tiktoken")]
mod tiktoken;

use serde_json::{Map, Value};

use crate::message::{Block, Message, Slot};

pub use heuristic::HeuristicCounter;
pub use profile::{CounterKind, LimitRule, ModelProfile, token_limit};
#[cfg(feature = "tiktoken")]
pub use tiktoken::TiktokenCounter;

/// Tokens that frame each message (OpenAI cookbook, "How to count tokens with tiktoken": `tokens_per_message`).
pub const MESSAGE_TOKENS: u64 = 3;

/// Tokens that a speaker's name adds (the same page: `tokens_per_name`).
pub const NAME_TOKENS: u64 = 1;

/// Tokens that frame each call and each result. No provider publishes the figure; a call is framed like a message.
pub const CALL_TOKENS: u64 = 3;

/// What a piece of media counts, whatever its bytes.
struct MediaCost {
    kind: &'static str,
    tokens: u64,
}

/// An image of low detail (OpenAI's guide to images, "calculating costs": 85 tokens).
const LOW_DETAIL_IMAGE: u64 = 85;

const MEDIA: [MediaCost; 3] = [
    // The same page: 85 + 170 for each tile of 512 pixels; an image fits 2,048 × 768 after scaling, so 8 tiles.
    MediaCost { kind: "image_url", tokens: 1_445 },
    // OpenAI's guide to realtime costs: a token for each 100 ms of the user's audio; two minutes.
    MediaCost { kind: "input_audio", tokens: 1_200 },
    // Anthropic's guide to PDF: 1,500 to 3,000 tokens of text a page, and its image; one page.
    MediaCost { kind: "file", tokens: 4_500 },
];

/// What a piece of media of an unknown kind counts: as much as the dearest known one.
const UNKNOWN_MEDIA: u64 = 4_500;

/// Returns the tokens of `message`, its words counted by `words`.
///
/// Counted are role, name, words, refusals, reasoning, calls, results, media (at flat rates) and the frame of each.
/// Unknown pieces count as their JSON. Of the unknown members only those count that reach a model: the legacy
/// `function_call`, and reasoning that is no text.
pub fn count_message(message: &Message, words: &dyn Fn(&str) -> u64) -> u64 {
    let name = message.speaker.as_deref().map_or(0, |name| words(name).saturating_add(NAME_TOKENS));
    [words(message.role.name()), name, count_blocks(&message.blocks, words), count_extra(&message.extra, words)]
        .into_iter()
        .fold(MESSAGE_TOKENS, u64::saturating_add)
}

fn count_blocks(blocks: &[Block], words: &dyn Fn(&str) -> u64) -> u64 {
    blocks.iter().map(|block| count_block(block, words)).fold(0, u64::saturating_add)
}

fn count_block(block: &Block, words: &dyn Fn(&str) -> u64) -> u64 {
    match block {
        Block::Text { text, .. } | Block::Refusal { text, .. } | Block::Reasoning { text, .. } => words(text),
        Block::ToolCall { id, name, arguments, .. } => {
            [id, name, arguments].into_iter().map(|text| words(text)).fold(CALL_TOKENS, u64::saturating_add)
        }
        Block::ToolResult { id, content, .. } => {
            [words(id), count_blocks(content, words)].into_iter().fold(CALL_TOKENS, u64::saturating_add)
        }
        Block::Media { value } => count_media(value),
        Block::Other { slot: Slot::ToolCalls, value } => words(&value.to_string()).saturating_add(CALL_TOKENS),
        Block::Other { slot: Slot::Content, value } => words(&value.to_string()),
    }
}

fn count_media(value: &Value) -> u64 {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let detail = value.get(kind).and_then(|inner| inner.get("detail")).and_then(Value::as_str);
    if kind == "image_url" && detail == Some("low") {
        return LOW_DETAIL_IMAGE;
    }
    MEDIA.iter().find(|cost| cost.kind == kind).map_or(UNKNOWN_MEDIA, |cost| cost.tokens)
}

fn count_extra(extra: &Map<String, Value>, words: &dyn Fn(&str) -> u64) -> u64 {
    let counted = ["function_call", "reasoning", "reasoning_content", "reasoning_details", "tool_calls"];
    let values = counted.into_iter().filter_map(|name| extra.get(name)).filter(|value| !value.is_null());
    values.map(|value| words(&value.to_string()).saturating_add(CALL_TOKENS)).fold(0, u64::saturating_add)
}
