//! What an extractor may not answer. A pure function: an answer is refused whole.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::message::{Message, Trust};
use crate::record::StoredRecord;
use crate::window::telling_words;

use super::{Effect, ExtractRequest, Operation};

/// The most operations of one answer.
const OPERATIONS: usize = 32;
/// The longest name or value of a slot, in bytes.
const SLOT_BYTES: usize = 255;
/// The kind of what is not true yet: it may begin after it was said.
const PLAN: &str = "plan";

/// Returns `Ok` if all operations are allowed.
///
/// # Errors
/// `Invalid`, without payload, if one is not.
pub(crate) fn check(operations: &[Operation], request: &ExtractRequest) -> Result<()> {
    if operations.len() > OPERATIONS {
        return Err(Error::invalid(format!(
            "an extractor may answer {OPERATIONS} operations, not {}",
            operations.len()
        )));
    }
    operations.iter().try_for_each(|operation| check_one(operation, request))
}

fn check_one(operation: &Operation, request: &ExtractRequest) -> Result<()> {
    let refuse = |why: &str| Err(Error::invalid(format!("an extractor answered {why}")));
    let sources = sources(operation, request);
    if sources.is_empty() || sources.len() != operation.sources.len() {
        return refuse("a fact whose source it was not given");
    }
    let texts: Vec<String> = sources.iter().map(|message| message.text()).collect();
    let quote = operation.quote.trim();
    if quote.is_empty() || !texts.iter().any(|text| text.contains(quote)) {
        return refuse("a quote that stands in no source");
    }
    let is_short = |text: &String| (1..=SLOT_BYTES).contains(&text.len());
    if operation.slot.as_ref().is_some_and(|slot| !is_short(&slot.name) || !is_short(&slot.value)) {
        return refuse("a slot that is empty or too long");
    }
    if operation.valid_from.zip(operation.valid_to).is_some_and(|(from, to)| from > to) {
        return refuse("a fact that ends before it begins");
    }
    let said = sources.iter().map(|message| message.at).max();
    if operation.kind != PLAN && operation.valid_from > said {
        return refuse("a fact that begins after it was said");
    }
    let replaced = operation.effect.replaced();
    let known = replaced.map(|id| request.known.iter().find(|stored| stored.record.id == id));
    match known {
        Some(None) => return refuse("a record to be replaced that it was not given"),
        Some(Some(StoredRecord { record, .. })) if record.is_pinned() || record.trust() == Trust::System => {
            return refuse("a record to be replaced that is pinned or the application's");
        }
        Some(Some(stored)) if stored.record.trust() > trust(operation, request) => {
            return refuse("a record to be replaced that has more trust than its sources");
        }
        _ => {}
    }
    if matches!(operation.effect, Effect::Retract(_)) {
        return Ok(());
    }
    if operation.text.trim().is_empty() || operation.kind.trim().is_empty() {
        return refuse("a fact without text or kind");
    }
    let speakers = sources.iter().filter_map(|message| message.speaker.as_deref());
    let said: HashSet<&str> = texts.iter().map(String::as_str).chain(speakers).flat_map(words).collect();
    let is_said = |word: &String| said.contains(word.as_str());
    let words = telling_words(&operation.text)
        .into_iter()
        .chain(operation.entities.iter().flat_map(|name| words(name).map(str::to_owned)));
    if !words.into_iter().all(|word| is_said(&word)) {
        return refuse("a number or name that no source has");
    }
    Ok(())
}

/// Returns the messages that an operation names as its sources.
fn sources<'a>(operation: &Operation, request: &'a ExtractRequest) -> Vec<&'a Message> {
    let named = request.messages.iter().filter(|row| operation.sources.contains(&row.id));
    named.filter_map(|row| row.message.as_deref()).collect()
}

/// Returns the lowest trust of an operation's sources.
fn trust(operation: &Operation, request: &ExtractRequest) -> Trust {
    sources(operation, request).iter().map(|message| message.trust).min().unwrap_or(Trust::Untrusted)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|character: char| !character.is_alphanumeric()));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests;
