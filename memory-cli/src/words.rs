//! Hits, contexts and receipts as lines for people, and as JSON.

use memory::engine::{
    Content, Context, ContextReceipt, Degraded, FoldShown, Found, Hit, LeftOut, PartKind, Reason, SearchReceipt, Stage,
};
use memory::{ItemId, Message, Timestamp};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::{Output, brief, visible};

/// Characters of a hit's text that are shown.
const SHOWN: usize = 300;

/// Returns a hit as lines for people: who said it, where and when, then the beginning of the text.
fn hit_lines(place: usize, hit: &Hit, explain: bool) -> Vec<String> {
    let text = brief(&hit.content.text(), SHOWN);
    let mut lines = vec![format!("{place}. {}", origin(&hit.content)), format!("   {text}")];
    if explain {
        let signals = &hit.signals;
        let leg = |name: &str, value: Option<f32>, rank: Option<usize>| match (value, rank) {
            (Some(value), Some(rank)) => format!("{name} {value:.3} (place {rank})"),
            _ => format!("{name} none"),
        };
        let words = leg("words", signals.text, signals.text_rank);
        let meaning = leg("meaning", signals.cosine, signals.vector_rank);
        lines.push(format!("   score {:.3}: {words}, {meaning}; id {}", signals.score, id(&hit.item)));
    }
    lines
}

/// Returns who said something, where and when.
pub(crate) fn origin(content: &Content) -> String {
    match content {
        Content::Message(row) => {
            let Some(message) = &row.message else { return "forgotten".to_owned() };
            let place = format!("{} #{}", row.session.name(), row.seq.0);
            format!("{}  {place}  {}", minute(message.at), speaker(message))
        }
        Content::Record(stored) => {
            let record = &stored.record;
            let tags =
                if record.tags().is_empty() { String::new() } else { format!(" [{}]", record.tags().join(", ")) };
            format!("{}  {}{tags}", minute(record.created_at()), record.kind)
        }
    }
}

/// Writes hits for people.
pub(crate) fn write_found(found: &Found, explain: bool, output: &mut Output) -> Result<(), Failure> {
    for (place, hit) in (1..).zip(&found.hits) {
        for line in hit_lines(place, hit, explain) {
            output.line(&line)?;
        }
    }
    if found.hits.is_empty() {
        output.line("nothing found")?;
    }
    let receipt = &found.receipt;
    if explain {
        let (by_words, by_meaning) = (receipt.text_candidates, receipt.vector_candidates);
        let took = millis(receipt.took_micros);
        output.line(&format!("sought     {}", receipt.terms.join(" ")))?;
        if let Some(speaker) = &receipt.speaker {
            output.line(&format!("said by    {speaker}"))?;
        }
        if !receipt.times.is_empty() {
            output.line(&format!("said in    {}", receipt.times.join(", ")))?;
        }
        output.line(&format!("candidates {by_words} by words, {by_meaning} by meaning; took {took}"))?;
        if receipt.dropped_at_hydration > 0 {
            output.line(&format!("dropped    {} whose content is gone", receipt.dropped_at_hydration))?;
        }
    }
    for line in troubles(receipt) {
        output.line(&line)?;
    }
    Ok(())
}

/// Returns a hit as JSON.
pub(crate) fn hit_json(hit: &Hit) -> Value {
    let mut value = match &hit.content {
        Content::Message(row) => {
            let message = row.message.as_deref();
            json!({
                "unit": "message", "session": row.session.name(), "seq": row.seq,
                "role": message.map(|message| message.role), "speaker": message.and_then(|m| m.speaker.as_deref()),
                "at": message.map(|message| message.at.to_string()), "trust": message.map(|message| message.trust),
                "agent": message.and_then(|message| message.agent.as_deref()),
                "runs": message.map(|message| message.run.iter().collect::<Vec<_>>()),
            })
        }
        Content::Record(stored) => {
            let record = &stored.record;
            json!({
                "unit": "record", "kind": record.kind, "tags": record.tags(), "at": record.created_at().to_string(),
                "session": record.sessions().first(), "trust": record.trust(), "version": stored.version, "agent": record.agent,
                "runs": record.runs(),
            })
        }
    };
    if let Value::Object(members) = &mut value {
        members.insert("id".to_owned(), json!(id(&hit.item)));
        members.insert("text".to_owned(), json!(hit.content.text()));
        members.insert("signals".to_owned(), json!(hit.signals));
    }
    value
}

/// Returns the id by which `memory forget` knows an item.
fn id(item: &ItemId) -> String {
    match item {
        ItemId::Message(id) => id.to_string(),
        ItemId::Record(id) => id.to_string(),
        ItemId::Span(..) => item.key(),
    }
}

/// Writes a context and its receipt for people.
pub(crate) fn write_context(context: &Context, output: &mut Output) -> Result<(), Failure> {
    for message in messages(context) {
        output.said(&message)?;
    }
    output.line("-- receipt")?;
    for line in receipt(&context.receipt) {
        output.line(&line)?;
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
        format!("[{}{what}] {}", visible(&speaker(&part.message)), said(&part.message))
    });
    messages.collect()
}

/// Returns what a message says, calls included.
fn said(message: &Message) -> String {
    let text = message.text();
    if text.is_empty() { message.to_openai().to_string() } else { text }
}

fn speaker(message: &Message) -> String {
    match &message.speaker {
        Some(name) => format!("{name} ({})", message.role.name()),
        None => message.role.name().to_owned(),
    }
}

/// Returns a receipt as lines for people: tokens by part, what is in, what is not and why.
fn receipt(receipt: &ContextReceipt) -> Vec<String> {
    let tokens = &receipt.tokens;
    let parts = [
        ("instructions", tokens.instructions),
        ("summaries", tokens.summaries),
        ("history", tokens.history),
        ("recalled", tokens.recalled),
        ("query", tokens.query),
        ("kept free", tokens.reserved),
    ];
    let parts = parts.iter().filter(|(_, tokens)| *tokens > 0).map(|(name, tokens)| format!("{name} {tokens}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let parts = if parts.is_empty() { parts } else { format!(": {parts}") };
    let all = tokens.limit + tokens.reserved;
    let mut lines = vec![format!("tokens    {} of {all} by {}{parts}", tokens.total, receipt.counter)];
    lines.push(format!("window    {}", window(receipt)));
    lines.extend(folds(receipt));
    let found = receipt.included.iter().filter(|included| included.signals.is_some());
    let (recalled, in_window): (Vec<_>, Vec<_>) = found.partition(|included| included.part == PartKind::Recalled);
    let terms = receipt.search.terms.join(" ");
    if !terms.is_empty() {
        let (recalled, in_window) = (recalled.len(), in_window.len());
        lines.push(format!("recalled  {recalled} items beside {in_window} in the window, sought by: {terms}"));
    }
    if let Some(left_out) = left_out(&receipt.search.left_out) {
        lines.push(format!("left out  {left_out}"));
    }
    lines.extend(troubles(&receipt.search));
    if receipt.recounted > 0 {
        lines.push(format!("recounted {} messages that another counter had counted", receipt.recounted));
    }
    if !receipt.complete {
        lines.push("degraded  the conversation was read without its primary store".to_owned());
    }
    lines.push(format!("took      {}", millis(receipt.took_micros)));
    lines
}

fn window(receipt: &ContextReceipt) -> String {
    let history = &receipt.history;
    let mut text = format!("{} of {} messages", history.kept_messages, history.window_messages);
    if let (Some(first), Some(last)) = (history.first, history.last) {
        text.push_str(&format!(" (numbers {} to {})", first.0, last.0));
    }
    let told = [
        (history.unfolded, "in place of summaries or beside them"),
        (history.no_room, "older ones did not fit"),
        (history.no_start, "with no person before them"),
        (history.unpaired, "calls or results without the other half"),
        (history.unfinished, "that wait for results"),
        (history.instructions_left_out, "instructions did not fit"),
        (history.truncated, "lost their middle to fit"),
    ];
    for (count, what) in told.iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!("; {count} {what}"));
    }
    if history.instructions_unread {
        text.push_str("; older instructions were not read");
    }
    text
}

/// Returns what stands for the stretches that were folded, a line each.
fn folds(receipt: &ContextReceipt) -> impl Iterator<Item = String> {
    receipt.folds.iter().map(|fold| {
        let shown = match fold.shown {
            FoldShown::Summary => "a summary",
            FoldShown::Messages => "all their messages",
            FoldShown::Both => "a summary and the newest of them",
            FoldShown::Nothing => "nothing, for want of room",
        };
        format!("folded    numbers {} to {}: {shown}", fold.first.0, fold.last.0)
    })
}

fn left_out(left_out: &[LeftOut]) -> Option<String> {
    let reasons = [
        (Reason::NoRoom, "for want of room"),
        (Reason::BelowLimit, "less like the query"),
        (Reason::Gone, "gone meanwhile"),
        (Reason::Unread, "because they could not be read"),
    ];
    let count = |reason| left_out.iter().filter(|item| item.reason == reason).count();
    let counts = reasons.map(|(reason, why)| (count(reason), why));
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then_some(told)
}

/// Returns what went wrong in a search, and which part of the query was not sought, as lines for people.
fn troubles(receipt: &SearchReceipt) -> Vec<String> {
    let stage = |degraded: &Degraded| json!(degraded.stage).as_str().unwrap_or_default().to_owned();
    let told = receipt.degraded.iter().map(|degraded| format!("degraded  {}: {}", stage(degraded), degraded.why));
    let (sought, left_out) = (receipt.terms.len(), receipt.terms_left_out);
    let long = (left_out > 0).then(|| format!("sought    the {sought} rarest of {} terms", sought + left_out));
    told.chain(long).collect()
}

/// Returns how a search ended: in part where something that may hold an answer was not asked.
pub(crate) fn outcome(receipt: &SearchReceipt) -> Outcome {
    let is_asked = |stage| matches!(stage, Stage::Embed | Stage::Text | Stage::Vector | Stage::Chat | Stage::Records);
    if receipt.degraded.iter().any(|degraded| is_asked(degraded.stage)) { Outcome::Partial } else { Outcome::Done }
}

/// Returns a time to the minute.
pub(crate) fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) if !text.starts_with(['@', '-', '+']) => format!("{day} {minute}"),
        _ => text,
    }
}

/// Returns a time span in milliseconds.
fn millis(micros: u64) -> String {
    format!("{:.1} ms", micros as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_minute() {
        let at = |text: &str| minute(text.parse().unwrap());
        assert_eq!(at("2025-05-03T08:14:31Z"), "2025-05-03 08:14");
        assert_eq!(at("@9223372036854775807"), "@9223372036854775807");
    }
}
