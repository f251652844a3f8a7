//! What a model is shown: which messages and records, how much of them, and how they are written.

use std::fmt::Write as _;

use memory_core::extract::{ExtractRequest, SLOT};
use memory_core::model::TokenCounter as _;
use memory_core::window::HeuristicCounter;
use memory_core::{Block, Message, MessageId, Record, Role, StoredMessage, StoredRecord, Timestamp, Trust};
use serde_json::Value;

use crate::marks::{attribute, escaped};

/// The tokens of the marks around a message or record.
const FRAME: u64 = 32;

/// A message that is shown.
pub(super) struct Line<'a> {
    pub(super) id: MessageId,
    pub(super) message: &'a Message,
    /// How far it may be believed.
    pub(super) trust: Trust,
    /// As much of its words as is shown.
    text: String,
}

/// What is shown in one request.
pub(super) struct Shown<'a> {
    lines: Vec<Line<'a>>,
    /// Records that may be replaced.
    candidates: Vec<&'a Record>,
    /// Records that may not: nothing in `lines` is trusted enough, or nobody may, or it is older.
    fixed: Vec<&'a Record>,
    latest: Timestamp,
}

impl<'a> Line<'a> {
    /// Returns the line of a message of a person or the assistant that has words of its own.
    fn of(row: &'a StoredMessage) -> Option<Self> {
        let message = row.message.as_deref()?;
        let is_said = matches!(message.role, Role::User | Role::Assistant) && row.covers.is_none();
        let text = own_text(message);
        if !is_said || text.trim().is_empty() {
            return None;
        }
        // Beside results of tools a person's words are believed no more than these, whoever has stored them.
        let holds_results = message.results().next().is_some();
        let trust = if holds_results { message.trust.min(Trust::Tool) } else { message.trust };
        Some(Self { id: row.id, message, trust, text })
    }

    fn author(&self) -> &str {
        self.message.speaker.as_deref().unwrap_or(self.message.role.name())
    }

    /// Returns the words of the whole message and of who says it, in small letters.
    pub(super) fn words(&self) -> Vec<String> {
        let role = self.message.role.name().to_owned();
        let texts = [self.message.text(), self.message.speaker.clone().unwrap_or_default(), role];
        let words = texts.iter().flat_map(|text| text.split(|character: char| !character.is_alphanumeric()));
        words.map(str::to_lowercase).collect()
    }
}

impl<'a> Shown<'a> {
    /// Returns what is shown of `request`, within so many tokens each: what people and the assistant have said, and apart from it
    /// what is trusted less, so that this steers nothing that is found in the former. Nothing where no person speaks.
    pub(super) fn all(request: &'a ExtractRequest, tokens: u64) -> Vec<Self> {
        let lines = request.messages.iter().filter_map(Line::of);
        let (own, foreign): (Vec<Line<'a>>, Vec<Line<'a>>) = lines.partition(|line| line.trust >= Trust::Assistant);
        let groups = [(own, Trust::Assistant), (foreign, Trust::Untrusted)];
        let spoken = groups.into_iter().filter(|(lines, _)| lines.iter().any(|line| line.message.role == Role::User));
        spoken.map(|(lines, least)| Self::of(lines, &request.known, least, tokens)).collect()
    }

    /// Returns `lines` with those known records that are trusted `least` or more.
    fn of(mut lines: Vec<Line<'a>>, known: &'a [StoredRecord], least: Trust, tokens: u64) -> Self {
        let latest = lines.iter().map(|line| line.message.at).max().unwrap_or_default();
        let most = lines.iter().map(|line| line.trust).max().unwrap_or(Trust::Untrusted);
        let mut left = tokens / 4;
        let frames = FRAME.saturating_mul(lines.len() as u64);
        shorten(&mut lines, (tokens - left).saturating_sub(frames));
        let (mut candidates, mut fixed) = (Vec::new(), Vec::new());
        for record in known.iter().map(|stored| &*stored.record) {
            let cost = tokens_of(&record.text).saturating_add(tokens_of(&slot_of(record))).saturating_add(FRAME);
            if record.trust() < least || record.doomed || cost > left {
                continue;
            }
            left -= cost;
            // News from before a record do not replace it, nor what is trusted less: an answer that tries is refused whole.
            let begins = record.validity().0.unwrap_or(record.created_at());
            let is_above = record.trust() == Trust::System || record.trust() > most;
            let is_fixed = record.is_pinned() || is_above || begins > latest;
            let list = if is_fixed { &mut fixed } else { &mut candidates };
            list.push(record);
        }
        Self { lines, candidates, fixed, latest }
    }

    /// Returns when the last message was said.
    pub(super) fn latest(&self) -> Timestamp {
        self.latest
    }

    /// Returns the message of a number that the model was given.
    pub(super) fn line(&self, number: usize) -> Option<&Line<'a>> {
        self.lines.get(number.checked_sub(1)?)
    }

    /// Returns the record of a number that the model was given.
    pub(super) fn candidate(&self, number: usize) -> Option<&'a Record> {
        self.candidates.get(number.checked_sub(1)?).copied()
    }

    /// Returns the known records that are shown.
    pub(super) fn known(&self) -> impl Iterator<Item = &'a Record> {
        self.candidates.iter().chain(&self.fixed).copied()
    }

    /// Returns what the model is given.
    pub(super) fn task(&self) -> String {
        let mut task = String::new();
        if self.known().next().is_some() {
            task.push_str("<known>\n");
            for (place, record) in self.candidates.iter().enumerate() {
                write_record(&mut task, &format!(" number=\"{}\"", place + 1), record);
            }
            for record in &self.fixed {
                write_record(&mut task, "", record);
            }
            task.push_str("</known>\n");
        }
        task.push_str("<conversation>\n");
        for (place, line) in self.lines.iter().enumerate() {
            let (number, from, at) = (place + 1, attribute(line.author()), line.message.at);
            let text = escaped(&line.text);
            let _ = writeln!(task, "<message number=\"{number}\" from=\"{from}\" at=\"{at}\">{text}</message>");
        }
        task.push_str("</conversation>\nAnswer with the JSON list alone.");
        task
    }
}

fn write_record(task: &mut String, number: &str, record: &Record) {
    let slot = attribute(&slot_of(record));
    let slot = if slot.is_empty() { String::new() } else { format!(" slot=\"{slot}\"") };
    let _ = writeln!(task, "<record{number}{slot}>{}</record>", escaped(&record.text));
}

/// Returns a text in a record's metadata; empty if there is none.
pub(super) fn text_of(record: &Record, key: &str) -> String {
    record.metadata().get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn slot_of(record: &Record) -> String {
    text_of(record, SLOT)
}

/// Returns what was written by hand, or by the assistant: no calls and results of tools.
fn own_text(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<&str>>().join("\n")
}

fn tokens_of(text: &str) -> u64 {
    HeuristicCounter.count_text(&escaped(text))
}

/// Cuts the longest texts so that all together have at most so many tokens.
fn shorten(lines: &mut [Line<'_>], tokens: u64) {
    let mut sizes: Vec<u64> = lines.iter().map(|line| tokens_of(&line.text)).collect();
    sizes.sort_unstable();
    let (mut left, mut waiting) = (tokens, sizes.len() as u64);
    for size in sizes {
        // What short texts leave is shared by the longer ones.
        let share = left / waiting;
        if size > share {
            lines.iter_mut().for_each(|line| cut(&mut line.text, share));
            return;
        }
        left -= size;
        waiting -= 1;
    }
}

/// Cuts a text so that it has at most so many tokens.
fn cut(text: &mut String, tokens: u64) {
    loop {
        let size = tokens_of(text);
        if size <= tokens {
            return;
        }
        // By what its tokens took so far, and a little less: each turn makes it shorter.
        let bytes = (text.len() as u64).saturating_mul(tokens) / size;
        let bytes = usize::try_from(bytes - bytes / 16).unwrap_or(0).min(text.len().saturating_sub(1));
        text.truncate(text.floor_char_boundary(bytes));
    }
}

#[cfg(test)]
mod tests;
