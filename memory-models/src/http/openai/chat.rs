//! Chat completions.
//!
//! Shapes: <https://platform.openai.com/docs/api-reference/chat/create>, streams
//! <https://platform.openai.com/docs/api-reference/chat-streaming>.

use std::borrow::Cow;

use memory_core::message::{Block, to_openai};
use memory_core::{Message, Result, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chat::{Answer, StopReason, Usage};
use crate::http::dialect::{Asked, ChatDialect, Progress, answer, number};
use crate::http::error::Fault;
use crate::http::framing::Framing;

const PATH: &[&str] = &["chat", "completions"];
/// What ends a stream.
const DONE: &str = "[DONE]";

/// OpenAI itself.
pub(super) static OWN: ChatDialect = ChatDialect { path: PATH, framing: Framing::Events, body: own, whole, event };
/// Servers that are compatible with it.
pub(super) static COMPATIBLE: ChatDialect =
    ChatDialect { path: PATH, framing: Framing::Events, body: compatible, whole, event };

fn own(asked: &Asked<'_>) -> Result<Value> {
    Ok(body(asked, "max_completion_tokens"))
}

/// Others know neither the newer name of the bound nor the newer name of instructions.
fn compatible(asked: &Asked<'_>) -> Result<Value> {
    let mut body = body(asked, "max_tokens");
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    for message in messages.into_iter().flatten() {
        if let Some(role) = message.get_mut("role").filter(|role| **role == "developer") {
            *role = "system".into();
        }
    }
    Ok(body)
}

fn body(asked: &Asked<'_>, bound: &str) -> Value {
    let Asked { model, request, is_streamed, window: _ } = *asked;
    let messages: Vec<Cow<'_, Message>> = request.messages.iter().map(named).collect();
    let mut body = json!({ "model": model, "messages": to_openai(messages.iter().map(|message| &**message)) });
    if let Some(members) = body.as_object_mut() {
        if let Some(tokens) = request.max_tokens {
            members.insert(bound.to_owned(), tokens.into());
        }
        if let Some(temperature) = request.temperature {
            members.insert("temperature".to_owned(), number(temperature));
        }
        if is_streamed {
            members.insert("stream".to_owned(), true.into());
            members.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
    }
    body
}

/// Returns a message as it may be sent. A user with a name that the API refuses is named in the words, as on the other wires. Of
/// others as much of the name is sent as may be: a model that reads names in its own words would write them too.
fn named(message: &Message) -> Cow<'_, Message> {
    let refused = message.speaker.as_deref().filter(|speaker| message.role != Role::Function && !is_name(speaker));
    let Some(speaker) = refused else { return Cow::Borrowed(message) };
    let mut sent = message.clone();
    sent.speaker = None;
    if message.role != Role::User {
        let legal = speaker.replace(|character: char| !is_of_name(character), "_");
        sent.speaker = Some(legal).filter(|name| is_name(name) && name.contains(|character: char| character != '_'));
        return Cow::Owned(sent);
    }
    let words = sent.blocks.iter_mut().find_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    });
    if let Some(text) = words {
        *text = format!("{speaker}: {text}");
    }
    Cow::Owned(sent)
}

/// Returns whether the API takes a name: `^[a-zA-Z0-9_-]{1,64}$`.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_of_name)
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

#[derive(Deserialize)]
struct Completion {
    // Some servers end a stream with `null` in place of an empty list.
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Said>,
    delta: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Said {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl Tokens {
    fn usage(self) -> Option<Usage> {
        Some(Usage { input: self.prompt_tokens?, output: self.completion_tokens.unwrap_or(0) })
    }
}

impl Said {
    /// Returns the words, and whether they refuse.
    fn words(self) -> (String, bool) {
        let refusal = self.refusal.filter(|refusal| !refusal.is_empty());
        let is_refusal = refusal.is_some();
        (self.content.unwrap_or_default() + &refusal.unwrap_or_default(), is_refusal)
    }
}

/// Returns why an answer ended.
///
/// # Errors
/// `Cut` if the server ended it before the model did: DeepSeek has `insufficient_system_resource`, vLLM `abort`.
fn reason(name: &str) -> Result<StopReason, Fault> {
    Ok(match name {
        "stop" => StopReason::End,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        "tool_calls" | "function_call" => StopReason::Tool,
        "insufficient_system_resource" | "abort" | "error" => return Err(Fault::Cut),
        _ => StopReason::Other,
    })
}

fn whole(bytes: &[u8]) -> Result<Answer, Fault> {
    let completion: Completion = answer(bytes)?;
    let choice = completion.choices.and_then(|choices| choices.into_iter().next());
    let choice = choice.ok_or(Fault::Garbled("it has no choice"))?;
    let said = choice.message.ok_or(Fault::Garbled("its choice has no message"))?;
    let (text, is_refusal) = said.words();
    let stop = choice.finish_reason.map_or(Ok(StopReason::Other), |name| reason(&name))?;
    let stop = if is_refusal { StopReason::Refused } else { stop };
    Ok(Answer { text, stop, usage: completion.usage.and_then(Tokens::usage) })
}

fn event(data: &str, progress: &mut Progress) -> Result<String, Fault> {
    if data.trim() == DONE {
        progress.is_ended = true;
        return Ok(String::new());
    }
    let chunk: Completion = answer(data.as_bytes())?;
    progress.usage = chunk.usage.and_then(Tokens::usage).or(progress.usage);
    let Some(choice) = chunk.choices.and_then(|choices| choices.into_iter().next()) else { return Ok(String::new()) };
    let (words, is_refusal) = choice.delta.unwrap_or_default().words();
    if is_refusal {
        progress.is_refusal = true;
    }
    // Some gateways write an empty reason into every chunk.
    if let Some(name) = choice.finish_reason.filter(|name| !name.is_empty()) {
        progress.stop = Some(if progress.is_refusal { StopReason::Refused } else { reason(&name)? });
    }
    Ok(words)
}
