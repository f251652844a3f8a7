//! What a model answers: read as data, and refused whole where it is anything else than it was asked for.

use std::collections::HashSet;

use memory_core::extract::{Effect, Operation, SLOT, Slot, VALUE};
use memory_core::{Error, Record, Result, Timestamp};
use serde::Deserialize;

use super::shown::{Line, Shown, text_of};

/// The longest answer that is read, in bytes.
const ANSWER_BYTES: usize = 64 << 10;
/// The longest text of a fact, in bytes.
const TEXT_BYTES: usize = 1_000;
/// Words that may begin a sentence with a capital letter although nobody said them: they are no names.
const OPENINGS: [&str; 14] =
    ["a", "an", "he", "her", "his", "i", "it", "my", "she", "the", "their", "they", "this", "user"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    op: Op,
    replaces: Option<usize>,
    kind: Option<Kind>,
    text: Option<String>,
    slot: Option<FoundSlot>,
    valid_from: Option<String>,
    valid_to: Option<String>,
    sources: Vec<usize>,
    quote: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Add,
    Change,
    Correct,
    Retract,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Fact,
    Preference,
    Event,
    Plan,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FoundSlot {
    name: String,
    value: String,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Event => "event",
            Self::Plan => "plan",
        }
    }
}

/// Returns the operations of an answer about what was shown.
///
/// # Errors
/// `Invalid`, without a word of the answer, if it is not what was asked for.
pub(super) fn read(text: &str, shown: &Shown<'_>) -> Result<Vec<Operation>> {
    if text.len() > ANSWER_BYTES {
        return Err(refused("more than is read"));
    }
    // The parser's own text would quote the answer.
    let found: Vec<Found> =
        serde_json::from_str(unfenced(text)).map_err(|_| refused("no list of operations as it was asked for"))?;
    found.into_iter().map(|found| operation(found, shown)).collect()
}

/// Returns what stands in the one fence around an answer, by which many models mark JSON; the answer if there is none.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let opened = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inside = opened.and_then(|rest| rest.strip_suffix("```")).filter(|rest| rest.starts_with(['\n', '\r']));
    inside.map_or(text, str::trim)
}

fn operation(found: Found, shown: &Shown<'_>) -> Result<Operation> {
    let Found { op, replaces, kind, text, slot, valid_from, valid_to, sources, quote } = found;
    let lines: Option<Vec<&Line<'_>>> = sources.iter().map(|number| shown.line(*number)).collect();
    let lines = lines.filter(|lines| !lines.is_empty()).ok_or_else(|| refused("a source that it was not given"))?;
    let record = replaces
        .map(|number| shown.candidate(number).ok_or_else(|| refused("a record that it was not given")))
        .transpose()?;
    let (valid_from, valid_to) =
        (valid_from.as_deref().map(time).transpose()?, valid_to.as_deref().map(time).transpose()?);
    let (sources, entities) = (lines.iter().map(|line| line.id).collect(), Vec::new());
    if let (Op::Retract, Some(record)) = (op, record) {
        let (effect, kind, text) = (Effect::Retract(record.id), record.kind.clone(), String::new());
        return Ok(Operation { effect, kind, text, slot: None, entities, valid_from: None, valid_to, sources, quote });
    }
    let (Some(kind), Some(text)) = (kind, text) else { return Err(refused("a fact without kind or text")) };
    if text.len() > TEXT_BYTES || !names_nobody_new(&text, &lines) {
        return Err(refused("a text that is too long or begins with a name that no source has"));
    }
    let slot = slot.map(|FoundSlot { name, value }| Slot { name, value });
    let effect = match (op, record) {
        (Op::Add, None) => {
            said_again(slot.as_ref(), &lines, shown).map_or(Effect::Add, |known| Effect::Confirm(known.id))
        }
        (Op::Change, Some(record)) => Effect::Change(record.id),
        (Op::Correct, Some(record)) => Effect::Correct(record.id),
        _ => return Err(refused("an operation that does not go with its record")),
    };
    let said = lines.iter().map(|line| line.message.at).max();
    let begins = said.filter(|said| valid_to.is_none_or(|end| *said <= end));
    let valid_from = valid_from.or(begins);
    Ok(Operation { effect, kind: kind.name().to_owned(), text, slot, entities, valid_from, valid_to, sources, quote })
}

/// Returns the known record that fills the same slot with the same value, and is trusted no less than what says so again: in other
/// words it would be told twice.
fn said_again<'a>(slot: Option<&Slot>, lines: &[&Line<'_>], shown: &Shown<'a>) -> Option<&'a Record> {
    let slot = slot?;
    let trust = lines.iter().map(|line| line.trust).min()?;
    let fills = |record: &&Record| {
        let (name, value) = (text_of(record, SLOT), text_of(record, VALUE));
        name == slot.name && value.to_lowercase() == slot.value.to_lowercase() && record.trust() >= trust
    };
    shown.known().find(fills)
}

/// Returns whether no sentence of a text begins with a name that no source has. All other names the memory looks for itself: there it
/// cannot be told whether a capital letter means a name.
fn names_nobody_new(text: &str, lines: &[&Line<'_>]) -> bool {
    let said: HashSet<String> = lines.iter().flat_map(|line| line.words()).collect();
    let mut begins = true;
    text.split_whitespace().all(|raw| {
        let is_first = std::mem::replace(&mut begins, raw.ends_with(['.', '!', '?', ':', '…']));
        let word = raw.split(|character: char| !character.is_alphanumeric()).find(|part| !part.is_empty());
        let Some(word) = word.filter(|word| is_first && word.starts_with(char::is_uppercase)) else { return true };
        let word = word.to_lowercase();
        OPENINGS.contains(&word.as_str()) || said.contains(&word)
    })
}

/// Returns the moment of a time of RFC 3339.
///
/// # Errors
/// `Invalid` for any other text, also for one that means a time.
fn time(text: &str) -> Result<Timestamp> {
    let wrong = || refused("a time that is not RFC 3339");
    if !is_rfc3339(text) {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

/// Returns whether a text has the shape `2024-05-17T18:30:00.5+01:00`. The numbers are looked at by whoever reads it.
fn is_rfc3339(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let has_offset = |offset: &str| is_like(offset, "+00:00") || is_like(offset, "-00:00");
    let behind = |(clock, offset)| has_offset(offset).then_some(clock);
    let split = || time.len().checked_sub("+00:00".len()).and_then(|place| time.split_at_checked(place));
    let Some(clock) = time.strip_suffix('Z').or_else(|| split().and_then(behind)) else { return false };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_like(date, "0000-00-00") && is_like(clock, "00:00:00") && is_fraction
}

/// Returns whether a text has a digit where `shape` has one, and else the same.
fn is_like(text: &str, shape: &str) -> bool {
    let is_alike = |(byte, of): (u8, u8)| if of == b'0' { byte.is_ascii_digit() } else { byte == of };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_alike)
}

/// Returns that an answer is refused. It tells no word of the answer.
pub(super) fn refused(what: &str) -> Error {
    Error::invalid(format!("the model that finds facts answered {what}"))
}

#[cfg(test)]
mod tests;
