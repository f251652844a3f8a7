//! Summaries without a model, and the checks that every summary must pass.

mod digest;
mod sentences;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

use super::HeuristicCounter;
use crate::error::{Error, Result};
use crate::message::{Message, Role, StoredMessage};
use crate::model::{Summarizer, Summary, SummaryPurpose, SummaryRequest, TokenCounter, beside};

pub(crate) use sentences::sentences;
use sentences::{SENTENCE, SHORT_SENTENCE, clip};

/// The author that such summaries name.
const BY: &str = "extractive";

/// The most bytes that one token can stand for: a run of blanks.
const BYTES_PER_TOKEN: u64 = 256;

/// Summarises by the first and the last sentence of each message, without a model.
///
/// If that is too long, it takes only the first sentence, shortened, and leaves messages out, the oldest first: those of tools,
/// then of the model, then of persons. It adds texts that must survive and are missing. The same request gives the same
/// summary.
#[derive(Clone, Debug)]
pub struct ExtractiveSummarizer {
    counter: Arc<dyn TokenCounter>,
}

impl ExtractiveSummarizer {
    /// Returns a summariser whose bounds `counter` counts.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter }
    }

    /// Returns the summary of `request`.
    ///
    /// For a synopsis it lists the beginnings of records in their order, then what the person said of late, as much as fits.
    ///
    /// # Errors
    /// [`Error::OverBudget`] if the texts that must survive, or the shortest line, exceed the request's bound.
    pub fn extract(&self, request: &SummaryRequest) -> Result<Summary> {
        if request.purpose != SummaryPurpose::Window {
            let text = digest::digest(request, self.counter.as_ref())?;
            return Ok(Summary { text, by: BY.to_owned() });
        }
        let lines = |most, ends| request.messages.iter().flat_map(move |row| lines_of(row, most, ends)).collect();
        let long: Vec<_> = lines(SENTENCE, 2);
        let text = compose(&long, 0, &request.keep);
        if self.counter.count_text(&text) <= request.max_tokens {
            return Ok(Summary { text, by: BY.to_owned() });
        }
        let short: Vec<_> = lines(SHORT_SENTENCE, 1);
        self.shorten(&short, request)
    }

    /// Leaves out as few lines as the bound demands.
    fn shorten(&self, lines: &[Line], request: &SummaryRequest) -> Result<Summary> {
        let size = |omitted: usize| self.counter.count_text(&compose(lines, omitted, &request.keep));
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if size(middle) <= request.max_tokens {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let text = compose(lines, low, &request.keep);
        let need = if text.is_empty() { size(low.saturating_sub(1)) } else { size(low) };
        if need > request.max_tokens {
            return Err(Error::OverBudget { need, budget: request.max_tokens });
        }
        Ok(Summary { text, by: BY.to_owned() })
    }
}

impl Default for ExtractiveSummarizer {
    fn default() -> Self {
        Self::new(Arc::new(HeuristicCounter))
    }
}

#[async_trait]
impl Summarizer for ExtractiveSummarizer {
    async fn summarize(&self, request: &SummaryRequest) -> Result<Summary> {
        let messages = request.messages.iter().filter_map(|row| row.message.as_deref()).map(Message::encoded_len);
        let bytes: usize = messages.chain(request.records.iter().map(|stored| stored.record.text.len())).sum();
        let (own, request) = (self.clone(), request.clone());
        beside(bytes, "summarizer", "summarise", move || own.extract(&request)).await
    }
}

/// A line of a summary. Lines of a higher rank are left out later.
struct Line {
    text: String,
    rank: u8,
}

/// Returns the lines for a row: a line with the speaker and sentences, or the lines of an earlier summary.
fn lines_of(row: &StoredMessage, most: usize, ends: usize) -> Vec<Line> {
    let Some(message) = &row.message else { return Vec::new() };
    let text = message.text();
    if row.covers.is_some() {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        return lines.map(|line| Line { text: clip(line, most), rank: 3 }).collect();
    }
    let sentences: Vec<_> = sentences(&text).collect();
    let chosen = match (sentences.first(), sentences.last()) {
        (Some(first), Some(last)) if ends > 1 && sentences.len() > 1 => {
            let gap = if sentences.len() > 2 { " … " } else { " " };
            format!("{}{gap}{}", clip(first, most), clip(last, most))
        }
        (Some(first), _) => clip(first, most),
        _ => return Vec::new(),
    };
    let rank = match message.role {
        Role::Tool | Role::Function => 0,
        Role::Assistant => 1,
        Role::User | Role::System | Role::Developer => 2,
    };
    let speaker = message.speaker.as_deref().unwrap_or(message.role.name());
    vec![Line { text: format!("{speaker}: {chosen}"), rank }]
}

/// Returns the lines without the `omitted` least important ones, with the texts of `keep` that they lack.
fn compose(lines: &[Line], omitted: usize, keep: &[String]) -> String {
    let mut order: Vec<_> = (0..lines.len()).collect();
    order.sort_by_key(|index| lines.get(*index).map(|line| line.rank));
    let mut shown = order.split_off(omitted.min(order.len()));
    shown.sort_unstable();
    let mut text: Vec<_> = shown.iter().filter_map(|index| lines.get(*index)).map(|line| line.text.as_str()).collect();
    if lines.is_empty() {
        text.push("(messages without words)");
    }
    complete_summary(&text.join("\n"), keep).0
}

/// Appends the texts of `keep` that the summary lacks, and returns it with how many were added.
pub fn complete_summary(text: &str, keep: &[String]) -> (String, usize) {
    let missing: Vec<_> = keep.iter().filter(|keep| !text.contains(keep.as_str())).map(String::as_str).collect();
    let completed = match (text.trim_end(), missing.is_empty()) {
        (_, true) => text.to_owned(),
        ("", false) => missing.join("; "),
        (text, false) => format!("{text}\n{}", missing.join("; ")),
    };
    (completed, missing.len())
}

/// Checks that a summary is not empty and keeps its bound, and returns its tokens.
///
/// # Errors
/// [`Error::OverBudget`] if it exceeds the bound; [`Error::Invalid`] if it is empty.
pub(crate) fn bounded(text: &str, most: u64, counter: &dyn TokenCounter) -> Result<u64> {
    if text.trim().is_empty() {
        return Err(Error::invalid("the summary is empty"));
    }
    // A summary of megabytes is refused without counting it.
    let least = text.len() as u64 / BYTES_PER_TOKEN;
    let tokens = if least > most { least } else { counter.count_text(text) };
    if tokens > most { Err(Error::OverBudget { need: tokens, budget: most }) } else { Ok(tokens) }
}

/// Checks that a summary may replace `request`'s messages, and returns its tokens. It must not be empty, must keep its bound,
/// must be shorter than the messages, and must hold every text that must survive.
///
/// # Errors
/// [`Error::OverBudget`] if it exceeds the bound; [`Error::Invalid`] if it breaks another rule.
pub fn validate_summary(text: &str, request: &SummaryRequest, counter: &dyn TokenCounter) -> Result<u64> {
    let tokens = bounded(text, request.max_tokens, counter)?;
    let replaced = request.messages.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
    if tokens >= replaced {
        return Err(Error::invalid(format!("the summary has {tokens} tokens, no fewer than what it stands for")));
    }
    let missing = request.keep.iter().filter(|keep| !text.contains(keep.as_str())).count();
    if missing > 0 {
        return Err(Error::invalid(format!("the summary lacks {missing} texts that must survive")));
    }
    Ok(tokens)
}
