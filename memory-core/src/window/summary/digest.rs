//! What is told of somebody without a model: the beginnings of records, and what the person said of late.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::message::Role;
use crate::model::{SummaryRequest, TokenCounter};

use super::sentences::{SENTENCE, SHORT_SENTENCE, clip, sentences};

/// A line, and where it stands among the others.
struct Line {
    place: usize,
    text: String,
}

/// Returns as many lines as the bound allows: the best records and the newest messages first to go in, records first to stand.
///
/// # Errors
/// `OverBudget` if not even one line fits; `Invalid` if nothing has words.
pub(super) fn digest(request: &SummaryRequest, counter: &dyn TokenCounter) -> Result<String> {
    for most in [SENTENCE, SHORT_SENTENCE] {
        let lines = lines(request, most);
        if lines.is_empty() {
            return Err(Error::invalid("there are no words to tell of"));
        }
        // The more lines, the more tokens: so many fit.
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if counter.count_text(&compose(&lines, middle)) <= request.max_tokens {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if low > 0 {
            return Ok(compose(&lines, low));
        }
    }
    Err(Error::OverBudget { need: request.max_tokens.saturating_add(1), budget: request.max_tokens })
}

/// Returns the lines in the order in which they go in: records and messages in turns, the best and the newest first.
fn lines(request: &SummaryRequest, most: usize) -> Vec<Line> {
    let records = request.records.iter().filter_map(|stored| beginning(&stored.record.text, most));
    let said = request.messages.iter().filter(|row| {
        let is_persons = row.message.as_ref().is_some_and(|message| message.role == Role::User);
        is_persons || row.covers.is_some()
    });
    let said = said.filter_map(|row| beginning(&row.message.as_ref()?.text(), most));
    let mut seen = HashSet::new();
    let (records, mut said): (Vec<String>, Vec<String>) = (records.collect(), said.collect());
    let count = records.len();
    let last = count + said.len();
    said.reverse();
    let records = records.into_iter().enumerate().map(|(place, text)| (place, Line { place, text }));
    let said = said.into_iter().enumerate().map(|(age, text)| (age, Line { place: last - age, text }));
    let mut turns: Vec<(usize, Line)> =
        records.chain(said).filter(|(_, line)| seen.insert(line.text.clone())).collect();
    // Stable, so that in each turn the record comes before the message.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, line)| line).collect()
}

/// Returns the first sentence, shortened; none without words.
fn beginning(text: &str, most: usize) -> Option<String> {
    sentences(text).next().map(|sentence| clip(sentence, most))
}

/// Returns the first `count` lines in their places.
fn compose(lines: &[Line], count: usize) -> String {
    let mut shown: Vec<&Line> = lines.iter().take(count).collect();
    shown.sort_by_key(|line| line.place);
    shown.iter().map(|line| format!("- {}", line.text)).collect::<Vec<_>>().join("\n")
}
