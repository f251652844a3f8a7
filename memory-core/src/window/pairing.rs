//! Pairing calls with results: which of them a message holds, and so where it may stand in a context.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::message::{Block, Message, Role, Slot, StoredMessage};

/// An id that a call and its result share; none in dialects without ids (`function_call`, Ollama).
pub(super) type CallId<'a> = Option<&'a str>;

/// Where a row may stand in a context.
#[derive(Debug, PartialEq)]
pub(super) enum Standing<'a> {
    /// Nowhere: it is forgotten or archived, or stands for what was archived without a summary.
    Absent,
    /// At the head, always.
    Instruction,
    /// Anywhere, also first.
    Summary,
    /// Anywhere, also first: a person speaks.
    Start,
    /// Anywhere but first.
    Reply,
    /// Anywhere but first, and only with the results of these calls right after it.
    Call(Vec<CallId<'a>>),
    /// Only right after the message with these calls, or after other results of it.
    Result(Vec<CallId<'a>>),
    /// Nowhere: it holds both results and calls, has an instruction's role without the trust for it, or all of it stands aside.
    Tangled,
}

impl<'a> Standing<'a> {
    pub(super) fn of(row: &'a StoredMessage) -> Self {
        let Some(message) = row.message.as_deref().filter(|_| row.is_active()) else { return Self::Absent };
        if row.covers.is_some() {
            return if row.is_archive() { Self::Absent } else { Self::Summary };
        }
        if message.role.is_instruction() {
            return if message.is_instruction() { Self::Instruction } else { Self::Tangled };
        }
        if message.is_aside() {
            return Self::Tangled;
        }
        if has_only_words(message) {
            return if message.role == Role::User { Self::Start } else { Self::Reply };
        }
        let mut calls = calls(message);
        let mut results = results(message);
        // A message may hold both a call and its result: some providers run tools themselves.
        results.retain(|result| !answer(&mut calls, *result));
        match (calls.is_empty(), results.is_empty()) {
            (true, true) if message.role == Role::User => Self::Start,
            (true, true) => Self::Reply,
            (false, true) => Self::Call(calls),
            (true, false) => Self::Result(results),
            (false, false) => Self::Tangled,
        }
    }
}

/// Returns whether a person or the model says something in the row, also beside results: it is no step before a reply, no summary, and
/// nothing outside the conversation.
pub(crate) fn speaks(row: &StoredMessage) -> bool {
    match Standing::of(row) {
        Standing::Start | Standing::Reply => true,
        Standing::Result(_) => row.message.as_deref().is_some_and(has_words_of_person),
        _ => false,
    }
}

/// Returns whether a turn may begin with the row, because a person speaks in it and no result stands beside.
pub(crate) fn begins_turn(row: &StoredMessage) -> bool {
    Standing::of(row) == Standing::Start
}

/// Returns whether a person's message with results holds words beside them, as Anthropic's dialect allows.
fn has_words_of_person(message: &Message) -> bool {
    let is_said = |block: &Block| matches!(block, Block::Text { text, .. } if !text.trim().is_empty());
    message.role == Role::User && message.blocks.iter().any(is_said)
}

/// Returns whether something stands aside in a message that can stand before its words: calls and results answer one another, so
/// that the message may stand where it did.
pub(crate) fn can_unfold(message: &Message) -> bool {
    let mut calls: Vec<_> = message.aside.iter().filter_map(call_id).collect();
    let mut results = message.aside.iter().filter_map(result_id).map(Some);
    !message.aside.is_empty()
        && !message.role.is_result()
        && results.all(|result| answer(&mut calls, result))
        && calls.is_empty()
}

/// Returns whether the message makes a call, in any dialect.
pub(crate) fn makes_calls(message: &Message) -> bool {
    !has_only_words(message) && !calls(message).is_empty()
}

/// Returns whether the message answers a call, in any dialect.
pub(crate) fn answers_calls(message: &Message) -> bool {
    !has_only_words(message) && !results(message).is_empty()
}

/// Returns whether the message certainly has neither calls nor results, like most, so that nothing needs collecting.
fn has_only_words(message: &Message) -> bool {
    let is_words = |block: &Block| matches!(block, Block::Text { .. } | Block::Media { .. } | Block::Reasoning { .. });
    !message.role.is_result() && message.extra.is_empty() && message.blocks.iter().all(is_words)
}

/// Removes the call that `result` answers and returns whether there is one. A result without id answers the first call.
pub(super) fn answer<T: AsRef<str>>(calls: &mut Vec<Option<T>>, result: CallId<'_>) -> bool {
    let is_answered = |call: &Option<T>| result.is_none() || call.as_ref().map(T::as_ref) == result;
    let found = calls.iter().position(is_answered);
    if let Some(index) = found {
        calls.remove(index);
    }
    found.is_some()
}

fn calls(message: &Message) -> Vec<CallId<'_>> {
    let mut calls: Vec<_> = message.blocks.iter().filter_map(call_id).collect();
    calls.extend(message.legacy_call().map(|_| None));
    calls
}

fn call_id(block: &Block) -> Option<CallId<'_>> {
    match block {
        Block::ToolCall { id, .. } => Some(Some(id)),
        Block::Other { slot: Slot::ToolCalls, value } => Some(value.get("id").and_then(Value::as_str)),
        Block::Other { slot: Slot::Content, value } => member(value, "tool_use", "id").map(Some),
        _ => None,
    }
}

/// Returns a member of a block in Anthropic's dialect, which is kept as received.
fn member<'a>(value: &'a Value, kind: &str, member: &str) -> Option<&'a str> {
    let is_one = value.get("type").is_some_and(|found| found == kind);
    value.get(member).filter(|_| is_one).and_then(Value::as_str)
}

fn results(message: &Message) -> Vec<CallId<'_>> {
    let results: Vec<_> = message.blocks.iter().filter_map(result_id).map(Some).collect();
    if results.is_empty() && message.role.is_result() { vec![None] } else { results }
}

fn result_id(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { id, .. } => Some(id),
        Block::Other { slot: Slot::Content, value } => member(value, "tool_result", "tool_use_id"),
        _ => None,
    }
}
