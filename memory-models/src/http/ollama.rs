//! Ollama's own API.
//!
//! Shapes: <https://docs.ollama.com/api/chat>, <https://docs.ollama.com/api/embed>, streams and their errors
//! <https://docs.ollama.com/api/streaming>, <https://docs.ollama.com/api/errors>.

use std::sync::Arc;

use memory_core::message::{Block, Role};
use memory_core::model::TokenCounter;
use memory_core::window::HeuristicCounter;
use memory_core::{Error, Message, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::chat::HttpChat;
use super::client::{Client, KeyIn};
use super::config::HttpConfig;
use super::dialect::{Asked, ChatDialect, EmbedDialect, Placed, Progress, answer, embed_body, number};
use super::embedder::EmbedderOptions;
use super::error::Fault;
use super::framing::Framing;
use crate::chat::{Answer, StopReason, Usage};

/// How many texts and tokens are embedded at once.
const BATCH: (usize, u64) = (32, 30_000);
/// The smallest window that is asked for.
const LEAST_WINDOW: u64 = 8_192;
/// The tokens that are left for an answer without a bound. A model that thinks needs them: it ends where the window does.
const ROOM: u64 = 8_192;
/// The tokens by which a model's template frames a message, beside those that are counted.
const FRAME: u64 = 8;

static CHAT: ChatDialect =
    ChatDialect { path: &["api", "chat"], framing: Framing::Lines, body: chat_body, whole, event };
static EMBED: EmbedDialect = EmbedDialect { name: "ollama", path: &["api", "embed"], body: embed_body, read };

/// Ollama by its own API. Cheap to clone; clones share their connections and bounds.
///
/// ```no_run
/// use memory_models::Ollama;
///
/// # async fn example() -> memory_core::Result<()> {
/// let ollama = Ollama::new()?;
/// let chat = ollama.chat("llama3.2");
/// let embedder = ollama.embedder(Ollama::EMBEDDER).open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ollama {
    client: Arc<Client>,
}

impl Ollama {
    /// Where Ollama is asked unless it is said.
    pub const URL: &str = "http://127.0.0.1:11434";
    /// The embedder that is taken unless another is named: 768 numbers.
    pub const EMBEDDER: &str = "nomic-embed-text";

    /// Returns the Ollama of this machine, with the usual patience.
    ///
    /// # Errors
    /// None that is expected.
    pub fn new() -> Result<Self> {
        Self::with_config(HttpConfig::new(Self::URL)?)
    }

    /// Returns an Ollama that is asked as `config` says. Its address ends where `/api` follows.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn with_config(config: HttpConfig) -> Result<Self> {
        Ok(Self { client: Arc::new(Client::new("ollama", config, KeyIn::Bearer, &[])?) })
    }

    /// Returns the chat model of this name. It is sent no images: a request that has some is `Invalid`. So is one that is longer than
    /// the model may hold at once ([`HttpChat::with_window`]): left alone, the server would drop the beginning without a word.
    pub fn chat(&self, model: impl Into<String>) -> HttpChat {
        HttpChat::new(Arc::clone(&self.client), model, &CHAT)
    }

    /// Returns the embedder of this name, to be opened.
    pub fn embedder(&self, model: impl Into<String>) -> EmbedderOptions {
        EmbedderOptions::new(Arc::clone(&self.client), model.into(), &EMBED, BATCH)
    }
}

fn chat_body(asked: &Asked<'_>) -> Result<Value> {
    let Asked { model, request, is_streamed, window: _ } = *asked;
    let messages = request.messages.iter().map(message).collect::<Result<Vec<Value>>>()?;
    let mut options = serde_json::Map::new();
    if let Some(tokens) = request.max_tokens {
        options.insert("num_predict".to_owned(), tokens.into());
    }
    if let Some(temperature) = request.temperature {
        options.insert("temperature".to_owned(), number(temperature));
    }
    options.insert("num_ctx".to_owned(), window(asked)?.into());
    // A model may hold less than it is asked to. Newer servers then refuse what is too long, and end an answer that has no room.
    Ok(json!({
        "model": model,
        "messages": messages,
        "stream": is_streamed,
        "options": options,
        "truncate": false,
        "shift": false
    }))
}

/// Returns the window to ask for: the smallest that holds the request and its answer. A server that is asked for another one loads
/// the model anew, so that each is twice the one before it.
///
/// # Errors
/// `Invalid` if the request does not fit into the largest.
fn window(asked: &Asked<'_>) -> Result<u64> {
    let Asked { model: _, request, is_streamed: _, window: most } = *asked;
    let sizes = request.messages.iter().map(|message| HeuristicCounter.count(message).saturating_add(FRAME));
    let (tokens, room) = (sizes.fold(0, u64::saturating_add), request.max_tokens.unwrap_or(ROOM));
    if tokens.saturating_add(room.min(most / 4)) > most {
        let what = format!("a request of about {tokens} tokens is too long for a model that may hold {most} at once");
        return Err(Error::invalid(what));
    }
    let needed = tokens.saturating_add(room).max(LEAST_WINDOW);
    Ok(needed.checked_next_power_of_two().unwrap_or(most).min(most))
}

/// Returns a message in Ollama's shape: its words as one text, and calls with arguments that are objects.
fn message(message: &Message) -> Result<Value> {
    let (mut words, mut calls): (Vec<String>, Vec<Value>) = Default::default();
    for block in &message.blocks {
        match block {
            Block::Media { .. } => {
                let what = "the API of Ollama is sent no media here: ask Ollama by the API that is OpenAI's";
                return Err(Error::invalid(what));
            }
            Block::ToolCall { name, arguments, .. } => {
                let arguments = serde_json::from_str(arguments).ok().filter(Value::is_object).unwrap_or(json!({}));
                calls.push(json!({ "function": { "name": name, "arguments": arguments } }));
            }
            Block::Reasoning { .. } => {}
            block => words.push(Message::of_blocks(message.role, vec![block.clone()], message.at).text()),
        }
    }
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool | Role::Function => "tool",
    };
    let words = words.join("\n");
    let named = message.speaker.as_ref().filter(|_| message.role == Role::User);
    let content = named.map_or(words.clone(), |speaker| format!("{speaker}: {words}"));
    let mut value = json!({ "role": role, "content": content });
    if let Some(members) = value.as_object_mut().filter(|_| !calls.is_empty()) {
        members.insert("tool_calls".to_owned(), calls.into());
    }
    Ok(value)
}

#[derive(Deserialize)]
struct Reply {
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: String,
}

impl Reply {
    fn stop(&self) -> Option<StopReason> {
        // Early versions give no reason.
        match self.done_reason.as_deref() {
            _ if !self.done => None,
            Some("stop") | None => Some(StopReason::End),
            Some("length") => Some(StopReason::Length),
            Some(_) => Some(StopReason::Other),
        }
    }

    fn usage(&self) -> Option<Usage> {
        // What a cache held is not counted, so there may be no number.
        let output = self.eval_count?;
        Some(Usage { input: self.prompt_eval_count.unwrap_or(0), output })
    }
}

fn whole(bytes: &[u8]) -> Result<Answer, Fault> {
    let reply: Reply = answer(bytes)?;
    let (stop, usage) = (reply.stop().ok_or(Fault::Garbled("it does not say that it is done"))?, reply.usage());
    let said = reply.message.ok_or(Fault::Garbled("it has no message"))?;
    Ok(Answer { text: said.content, stop, usage })
}

fn event(data: &str, progress: &mut Progress) -> Result<String, Fault> {
    let reply: Reply = answer(data.as_bytes())?;
    if let Some(stop) = reply.stop() {
        (progress.stop, progress.usage, progress.is_ended) = (Some(stop), reply.usage(), true);
    }
    Ok(reply.message.map(|said| said.content).unwrap_or_default())
}

#[derive(Deserialize)]
struct Embeddings {
    embeddings: Vec<Vec<f32>>,
}

fn read(bytes: &[u8]) -> Placed<Vec<f32>> {
    let list: Embeddings = answer(bytes)?;
    Ok(list.embeddings.into_iter().enumerate().collect())
}
