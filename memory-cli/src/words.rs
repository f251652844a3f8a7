//! Contexts and receipts as lines for people, and as JSON.

use std::collections::HashMap;

use memory::receipt::{PartKind, SearchReceipt, Stage};
use memory::{Content, Context, ItemId, Message, Scoped, edge};
use serde_json::{Value, json};

use crate::cli::Dialect;
use crate::failure::{Failure, Outcome};
use crate::hits::{Question, write_item};
use crate::output::Output;
use crate::visible::visible;

/// Writes a context and its receipt for people: what is recalled as a list, not as the block that a model is sent.
pub(crate) async fn write_context(
    context: &Context,
    words: &str,
    scoped: &Scoped,
    output: &mut Output,
) -> Result<(), Failure> {
    for part in &context.parts {
        if part.kind == PartKind::Recalled {
            write_recalled(context, &format!("{}, recalled", part.message.author()), words, scoped, output).await?;
            continue;
        }
        let what = match part.kind {
            PartKind::Synopsis => ", synopsis",
            PartKind::Summary => ", summary",
            PartKind::Query => ", query",
            _ => "",
        };
        // A name has no lines, what was said may have some.
        let author = visible(&part.message.author());
        output.said(0, &format!("[{author}{what}] {}", said(&part.message)))?;
    }
    output.line("-- receipt")?;
    Ok(output.told(&context.receipt)?)
}

/// Writes what was recalled for a context, under a head.
pub(crate) async fn write_recalled(
    context: &Context,
    head: &str,
    words: &str,
    scoped: &Scoped,
    output: &mut Output,
) -> Result<(), Failure> {
    let items = recalled(context, scoped).await?;
    let question = Question { words, analysis: scoped.memory().analysis() };
    output.line(&format!("[{head}] {} {}:", items.len(), plural(items.len(), "item")))?;
    items.iter().try_for_each(|item| write_item("  ", item, question, output))
}

/// Writes a context as it is sent to a model, and nothing else.
pub(crate) fn write_sent(context: &Context, dialect: Dialect, output: &mut Output) -> Result<(), Failure> {
    match dialect {
        Dialect::Openai => output.json(&context.to_openai())?,
        Dialect::Anthropic => output.json(&context.to_anthropic())?,
        Dialect::Text => context.messages().try_for_each(|message| output.whole(&line(message)))?,
    }
    Ok(())
}

/// Returns the recalled items of a context, in its order. One that was forgotten since is left out.
async fn recalled(context: &Context, scoped: &Scoped) -> Result<Vec<Content>, Failure> {
    let recalled = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled);
    // Ids are unique within an owner: what others share is not read as this one's.
    let included = recalled.filter(|included| included.shared_by.is_none());
    let items: Vec<&ItemId> = included.map(|included| &included.item).collect();
    let (mut messages, mut records) = (Vec::new(), Vec::new());
    for item in &items {
        match item {
            ItemId::Message(id) => messages.push(*id),
            ItemId::Record(id) => records.push(*id),
            ItemId::Span(..) => {}
        }
    }
    let (messages, records) = tokio::try_join!(scoped.messages(&messages), scoped.get(&records))?;
    let messages = messages.into_iter().map(|row| (ItemId::Message(row.id), Content::Message(row)));
    let records = records.into_iter().map(|stored| (ItemId::Record(stored.record.id), Content::Record(stored)));
    let mut read: HashMap<ItemId, Content> = messages.chain(records).collect();
    Ok(items.into_iter().filter_map(|item| read.remove(item)).collect())
}

/// Returns the word for so many of something.
pub(crate) fn plural(count: impl TryInto<u64>, one: &str) -> String {
    if count.try_into().is_ok_and(|count| count == 1) { one.to_owned() } else { format!("{one}s") }
}

/// Returns a number with the word for so many.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {}", plural(count, one))
}

/// How many entries of a list are shown to people who do not say.
const LISTED: usize = 20;

/// Returns how many entries a list has at the most: `wished`, of which 0 means all.
pub(crate) fn listed(wished: Option<usize>, output: &Output) -> usize {
    match wished {
        None if !output.is_json() => LISTED,
        None | Some(0) => usize::MAX,
        Some(number) => number,
    }
}

/// Returns the last line of a list: how many there are, and how to see those that are not shown.
pub(crate) fn list_end(shown: usize, total: usize, one: &str) -> String {
    let what = plural(total, one);
    if shown < total { format!("{shown} of {total} {what}: -n 0 lists all") } else { format!("{total} {what}") }
}

/// Returns a context as JSON: the messages as they are sent, and the receipt.
pub(crate) fn context_json(context: &Context, dialect: Option<Dialect>) -> Value {
    match dialect {
        Some(Dialect::Text) => {
            let text = context.messages().map(line).collect::<Vec<_>>().join("\n");
            json!({ "text": text, "receipt": context.receipt })
        }
        dialect => edge::context(context, dialect == Some(Dialect::Anthropic)),
    }
}

fn line(message: &Message) -> String {
    format!("[{}] {}", visible(&message.author()), said(message))
}

/// Returns what a message says, calls included.
pub(crate) fn said(message: &Message) -> String {
    let text = message.text();
    if text.is_empty() { message.to_openai().to_string() } else { text }
}

/// Returns how a search ended: in part where something that may hold an answer was not asked.
pub(crate) fn outcome(receipt: &SearchReceipt) -> Outcome {
    let is_asked = |stage| matches!(stage, Stage::Embed | Stage::Text | Stage::Vector | Stage::Chat | Stage::Records);
    if receipt.degraded.iter().any(|degraded| is_asked(degraded.stage)) { Outcome::Partial } else { Outcome::Done }
}
