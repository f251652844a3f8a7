//! Hits, contexts and receipts as lines for people, and as JSON.

use std::fmt::Display;

use memory::receipt::{PartKind, SearchReceipt, Stage};
use memory::{Context, Hit, Message, SearchResults};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::{Output, brief, visible};

/// Characters of a hit's text that are shown.
const SHOWN: usize = 300;

/// Returns a hit as lines for people: who said it, where and when, then the beginning of the text.
fn hit_lines(place: usize, hit: &Hit, explain: bool) -> Vec<String> {
    let text = brief(&hit.content.text(), SHOWN);
    let mut lines = vec![format!("{place}. {}", hit.content), format!("   {text}")];
    lines.extend(explain.then(|| format!("   {}; id {}", hit.signals, hit.item.id())));
    lines
}

/// Writes hits for people.
pub(crate) fn write_found(found: &SearchResults, explain: bool, output: &mut Output) -> Result<(), Failure> {
    for (place, hit) in (1..).zip(&found.hits) {
        for line in hit_lines(place, hit, explain) {
            output.line(&line)?;
        }
    }
    if found.hits.is_empty() {
        output.line("nothing found")?;
    }
    if explain {
        return write_lines(&found.receipt, output);
    }
    for line in found.receipt.troubles() {
        output.line(&line)?;
    }
    Ok(())
}

/// Writes a context and its receipt for people.
pub(crate) fn write_context(context: &Context, output: &mut Output) -> Result<(), Failure> {
    for message in messages(context) {
        output.said(&message)?;
    }
    output.line("-- receipt")?;
    write_lines(&context.receipt, output)
}

/// Writes each line of a text for people.
pub(crate) fn write_lines(text: &impl Display, output: &mut Output) -> Result<(), Failure> {
    for line in text.to_string().lines() {
        output.line(line)?;
    }
    Ok(())
}

/// Returns a context as JSON: the messages as they are sent, and the receipt.
pub(crate) fn context_json(context: &Context) -> Value {
    json!({ "messages": context.to_openai(), "receipt": context.receipt })
}

/// Returns the messages of a context for people; each may have several lines.
fn messages(context: &Context) -> Vec<String> {
    let messages = context.parts.iter().map(|part| {
        let what = match part.kind {
            PartKind::Summary => ", summary",
            PartKind::Recalled => ", recalled",
            PartKind::Query => ", query",
            _ => "",
        };
        // A name has no lines, what was said may have some.
        format!("[{}{what}] {}", visible(&part.message.author()), said(&part.message))
    });
    messages.collect()
}

/// Returns what a message says, calls included.
fn said(message: &Message) -> String {
    let text = message.text();
    if text.is_empty() { message.to_openai().to_string() } else { text }
}

/// Returns how a search ended: in part where something that may hold an answer was not asked.
pub(crate) fn outcome(receipt: &SearchReceipt) -> Outcome {
    let is_asked = |stage| matches!(stage, Stage::Embed | Stage::Text | Stage::Vector | Stage::Chat | Stage::Records);
    if receipt.degraded.iter().any(|degraded| is_asked(degraded.stage)) { Outcome::Partial } else { Outcome::Done }
}
