//! What an extractor may not answer. A pure function: an answer is refused whole.

use crate::error::{Error, Result};
use crate::message::{Message, Role, Trust};
use crate::record::StoredRecord;

use super::again::{gives_no_more, says_no_more};
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
    if let Effect::Confirm(id) = operation.effect {
        let is_known = request.known.iter().any(|stored| stored.record.id == id);
        return if is_known { Ok(()) } else { refuse("a record to be confirmed that it was not given") };
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
    let gives_more = operation.slot.as_ref().is_some_and(|slot| !gives_no_more(&slot.value, &sources));
    if gives_more || !says_no_more(&operation.text, &operation.entities, &sources) {
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
    sources(operation, request).into_iter().map(trust_of).min().unwrap_or(Trust::Untrusted)
}

/// Returns how far what a message says may be believed. A person's that holds results of tools is believed no more than these,
/// whoever has stored it.
pub(crate) fn trust_of(message: &Message) -> Trust {
    let holds_results = message.role == Role::User && message.results().next().is_some();
    if holds_results { message.trust.min(Trust::Tool) } else { message.trust }
}

#[cfg(test)]
mod tests;
