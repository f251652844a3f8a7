//! Token counts of whole messages: which parts count, whichever counter counts the text.

mod heuristic;
mod media;
mod profile;
#[cfg(test)]
mod tests;
#[cfg(feature = "tiktoken")]
mod tiktoken;

use serde_json::{Map, Value};

use crate::message::{Block, Message, Slot};

pub use heuristic::HeuristicCounter;
pub use media::{ImageCost, MediaCosts};
pub use profile::{CounterKind, LimitRule, ModelProfile};
#[cfg(feature = "tiktoken")]
pub use tiktoken::TiktokenCounter;

/// Tokens that frame each message (OpenAI cookbook, "How to count tokens with tiktoken": `tokens_per_message`).
pub const MESSAGE_TOKENS: u64 = 3;

/// Tokens that a speaker's name adds (same page: `tokens_per_name`).
pub const NAME_TOKENS: u64 = 1;

/// Tokens that frame each call and each result. No provider publishes the figure; a call is framed like a message.
pub const CALL_TOKENS: u64 = 3;

/// Returns the tokens of `message`: its texts counted by `words`, its media by `media`.
///
/// Counts role, name, text, refusals, reasoning, calls, results, media and the frame of each. Unknown blocks count as their
/// JSON. Of the unknown members, only those that reach a model count: the legacy `function_call`, and reasoning that is not
/// text.
pub fn count_message(message: &Message, media: &MediaCosts, words: &dyn Fn(&str) -> u64) -> u64 {
    let name = message.speaker.as_deref().map_or(0, |name| words(name).saturating_add(NAME_TOKENS));
    [words(message.role.name()), name, count_blocks(&message.blocks, media, words), count_extra(&message.extra, words)]
        .into_iter()
        .fold(MESSAGE_TOKENS, u64::saturating_add)
}

fn count_blocks(blocks: &[Block], media: &MediaCosts, words: &dyn Fn(&str) -> u64) -> u64 {
    blocks.iter().map(|block| count_block(block, media, words)).fold(0, u64::saturating_add)
}

fn count_block(block: &Block, media: &MediaCosts, words: &dyn Fn(&str) -> u64) -> u64 {
    match block {
        Block::Text { text, .. } | Block::Refusal { text, .. } | Block::Reasoning { text, .. } => words(text),
        Block::ToolCall { id, name, arguments, .. } => {
            [id, name, arguments].into_iter().map(|text| words(text)).fold(CALL_TOKENS, u64::saturating_add)
        }
        Block::ToolResult { id, content, .. } => {
            [words(id), count_blocks(content, media, words)].into_iter().fold(CALL_TOKENS, u64::saturating_add)
        }
        Block::Media { value } => media.tokens(value, words),
        Block::Other { slot: Slot::ToolCalls, value } => words(&value.to_string()).saturating_add(CALL_TOKENS),
        Block::Other { slot: Slot::Content, value } => words(&value.to_string()),
    }
}

fn count_extra(extra: &Map<String, Value>, words: &dyn Fn(&str) -> u64) -> u64 {
    let counted = ["function_call", "reasoning", "reasoning_content", "reasoning_details", "tool_calls"];
    let values = counted.into_iter().filter_map(|name| extra.get(name)).filter(|value| !value.is_null());
    values.map(|value| words(&value.to_string()).saturating_add(CALL_TOKENS)).fold(0, u64::saturating_add)
}
