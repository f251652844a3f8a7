//! Anthropic's Messages API.
//!
//! Shapes: <https://platform.claude.com/docs/en/api/messages>, streams
//! <https://platform.claude.com/docs/en/build-with-claude/streaming>, errors <https://platform.claude.com/docs/en/api/errors>.

use std::sync::Arc;

use memory_core::Result;
use memory_core::message::to_anthropic;
use serde::Deserialize;
use serde_json::Value;

use super::chat::HttpChat;
use super::client::{Client, KeyIn};
use super::config::HttpConfig;
use super::dialect::{Asked, ChatDialect, Progress, answer, number};
use super::error::Fault;
use super::framing::Framing;
use crate::chat::{Answer, StopReason, Usage};

/// The bound of an answer, which this API demands, unless the request has one.
const MAX_TOKENS: u64 = 8_192;

static DIALECT: ChatDialect = ChatDialect { path: &["messages"], framing: Framing::Events, body, whole, event };

/// Anthropic, and servers that are compatible with its Messages API. Cheap to clone; clones share their connections and bounds.
///
/// ```no_run
/// use memory_models::Anthropic;
///
/// # fn example(key: &str) -> memory_core::Result<()> {
/// let chat = Anthropic::new(key)?.chat("claude-sonnet-4-5");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Anthropic {
    client: Arc<Client>,
}

impl Anthropic {
    /// Where Anthropic itself is asked.
    pub const URL: &str = "https://api.anthropic.com/v1";

    /// Returns Anthropic itself, with the usual patience.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn new(key: impl Into<String>) -> Result<Self> {
        Self::with_config(HttpConfig::new(Self::URL)?.with_key(key))
    }

    /// Returns Anthropic, or a server that is compatible, asked as `config` says. Its address ends where `/messages` follows, usually
    /// with `/v1`. The key goes into the header `x-api-key`.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn with_config(config: HttpConfig) -> Result<Self> {
        let version = [("anthropic-version", "2023-06-01")];
        let client = Client::new("anthropic", config, KeyIn::Header("x-api-key"), &version)?;
        Ok(Self { client: Arc::new(client) })
    }

    /// Returns the chat model of this name. An answer has at most 8,192 tokens unless the request says otherwise.
    pub fn chat(&self, model: impl Into<String>) -> HttpChat {
        HttpChat::new(Arc::clone(&self.client), model, &DIALECT)
    }
}

fn body(asked: &Asked<'_>) -> Result<Value> {
    let Asked { model, request, is_streamed, window: _ } = *asked;
    let mut body = to_anthropic(request.messages.iter());
    if let Some(members) = body.as_object_mut() {
        members.insert("model".to_owned(), model.into());
        members.insert("max_tokens".to_owned(), request.max_tokens.unwrap_or(MAX_TOKENS).into());
        if let Some(temperature) = request.temperature {
            members.insert("temperature".to_owned(), number(temperature));
        }
        if is_streamed {
            members.insert("stream".to_owned(), true.into());
        }
    }
    Ok(body)
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Default, Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Tokens {
    /// Returns the usage, with what is not told taken from what was told before.
    fn usage(&self, before: Option<Usage>) -> Option<Usage> {
        let cached =
            self.cache_creation_input_tokens.unwrap_or(0).saturating_add(self.cache_read_input_tokens.unwrap_or(0));
        let input = self.input_tokens.map(|tokens| tokens.saturating_add(cached));
        let input = input.or(before.map(|usage| usage.input))?;
        let output = self.output_tokens.or(before.map(|usage| usage.output)).unwrap_or(0);
        Some(Usage { input, output })
    }
}

fn reason(name: &str) -> StopReason {
    match name {
        "end_turn" | "stop_sequence" => StopReason::End,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        "tool_use" => StopReason::Tool,
        _ => StopReason::Other,
    }
}

fn whole(bytes: &[u8]) -> Result<Answer, Fault> {
    let message: Message = answer(bytes)?;
    let stop = message.stop_reason.ok_or(Fault::Garbled("it has no reason to end"))?;
    let words = message.content.into_iter().filter(|block| block.kind == "text").filter_map(|block| block.text);
    let text = words.collect();
    Ok(Answer { text, stop: reason(&stop), usage: message.usage.and_then(|tokens| tokens.usage(None)) })
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Message>,
    content_block: Option<Block>,
    delta: Option<Delta>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    stop_reason: Option<String>,
}

fn event(data: &str, progress: &mut Progress) -> Result<String, Fault> {
    let event: Event = answer(data.as_bytes())?;
    let tokens = event.usage.or(event.message.and_then(|message| message.usage));
    progress.usage = tokens.and_then(|tokens| tokens.usage(progress.usage)).or(progress.usage);
    let words = match (event.kind.as_str(), event.delta, event.content_block) {
        ("content_block_start", _, Some(block)) if block.kind == "text" => block.text,
        ("content_block_delta", Some(delta), _) if delta.kind.as_deref() == Some("text_delta") => delta.text,
        ("message_delta", Some(delta), _) => {
            progress.stop = delta.stop_reason.as_deref().map(reason).or(progress.stop);
            None
        }
        ("message_stop", ..) => {
            progress.is_ended = true;
            None
        }
        // Events may be added: what is not known is passed over, as is what the model thinks.
        _ => None,
    };
    Ok(words.unwrap_or_default())
}
