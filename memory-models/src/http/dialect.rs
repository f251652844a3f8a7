//! What the wires of vendors differ in.

use memory_core::Result;
use serde_json::{Value, json};

use super::error::Fault;
use super::framing::Framing;
use crate::chat::{Answer, ChatRequest, StopReason, Usage};

/// What a chat model is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// The model's name.
    pub(super) model: &'a str,
    pub(super) request: &'a ChatRequest,
    /// Whether the answer is to be streamed.
    pub(super) is_streamed: bool,
    /// The most tokens that the model may hold at once, on a wire where the request says it.
    pub(super) window: u64,
}

/// How a vendor's chat models are asked, and how they answer.
#[derive(Debug)]
pub(super) struct ChatDialect {
    pub(super) path: &'static [&'static str],
    pub(super) framing: Framing,
    /// Returns the body of a request.
    pub(super) body: fn(&Asked<'_>) -> Result<Value>,
    /// Reads an answer that came as a whole.
    pub(super) whole: fn(&[u8]) -> Result<Answer, Fault>,
    /// Reads an event of a stream, and returns the words that it adds.
    pub(super) event: fn(&str, &mut Progress) -> Result<String, Fault>,
}

/// What is known of an answer that is streamed.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Option<Usage>,
    /// Whether some of it was a refusal.
    pub(super) is_refusal: bool,
    /// Whether the stream has said that it is whole.
    pub(super) is_ended: bool,
}

/// What a server gave, each with the place of what it was given for.
pub(super) type Placed<T> = Result<Vec<(usize, T)>, Fault>;

/// How a vendor's embedders are asked, and how they answer.
#[derive(Debug)]
pub(super) struct EmbedDialect {
    /// Its name in recipes.
    pub(super) name: &'static str,
    pub(super) path: &'static [&'static str],
    /// Returns the body of a request to the model of this name, for vectors of so many numbers if that is said.
    pub(super) body: fn(&str, &[&str], Option<usize>) -> Value,
    /// Reads the vectors, each with its place among the texts.
    pub(super) read: fn(&[u8]) -> Placed<Vec<f32>>,
}

/// How a server of rerankers is asked, and how it answers.
#[derive(Debug)]
pub(super) struct RerankDialect {
    pub(super) path: &'static [&'static str],
    /// How many texts it takes at once.
    pub(super) batch: usize,
    /// Returns the body of a request to the model of this name.
    pub(super) body: fn(&str, &str, &[&str]) -> Value,
    /// Reads the scores, each with the place of its text.
    pub(super) read: fn(&[u8]) -> Placed<f32>,
}

/// Puts what a server gave for each place in order.
///
/// # Errors
/// Unless there is exactly one for each of `count` places.
pub(super) fn in_order<T>(given: Vec<(usize, T)>, count: usize) -> Result<Vec<T>, Fault> {
    if given.len() != count {
        return Err(Fault::Garbled("it has more or fewer items than were asked for"));
    }
    let mut places: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    for (place, item) in given {
        match places.get_mut(place) {
            Some(free @ None) => *free = Some(item),
            _ => return Err(Fault::Garbled("an index occurs twice, or is none that was asked for")),
        }
    }
    places.into_iter().collect::<Option<_>>().ok_or(Fault::Garbled("an index is missing"))
}

/// Returns a number as it is written, and not as the nearest of twice its precision.
pub(super) fn number(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// Returns the body by which OpenAI and Ollama are asked to embed, for vectors of so many numbers if that is said.
pub(super) fn embed_body(model: &str, texts: &[&str], shortened: Option<usize>) -> Value {
    let mut body = json!({ "model": model, "input": texts });
    if let (Some(members), Some(numbers)) = (body.as_object_mut(), shortened) {
        members.insert("dimensions".to_owned(), numbers.into());
    }
    body
}

/// Reads an answer, unless it tells an error.
pub(super) fn answer<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Fault> {
    Fault::told_in(bytes).map_or_else(|| json(bytes), Err)
}

/// Reads JSON.
pub(super) fn json<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => Fault::Cut,
        serde_json::error::Category::Syntax => Fault::Garbled("it is no JSON"),
        _ => Fault::Garbled("it lacks what it must have, or has something else in its place"),
    })
}
