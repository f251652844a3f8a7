//! Hits as people read them: when, who and where, then the passage that matched.

use memory::analysis::{Analysis, Excerpt};
use memory::{Content, Hit, SearchResults, edge};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::line::{Line, Paint};
use crate::output::Output;
use crate::sessions::short;

/// Characters of a passage that are shown: at the most, and on a narrow screen at the least.
const MOST: usize = 300;
const LEAST: usize = 120;

/// Lines that a passage takes on a screen.
const LINES: usize = 3;

/// What was asked, and how the memory reads it.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) words: &'a str,
    pub(crate) analysis: &'a Analysis,
}

impl Question<'_> {
    fn excerpt(self, content: &Content, most: usize) -> Excerpt {
        self.analysis.excerpt(self.words, &content.text(), most)
    }

    /// Returns a hit as JSON, with the passage that matched.
    pub(crate) fn to_json(self, hit: &Hit) -> Value {
        json!(edge::hit(hit, &mut self.analysis.excerpts(self.words)))
    }
}

/// Writes hits for people.
pub(crate) fn write_found(
    found: &SearchResults,
    question: Question<'_>,
    explain: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    for (place, hit) in (1..).zip(&found.hits) {
        write_item(&format!("{place}. "), &hit.content, question, output)?;
        if explain {
            output.painted(&Line::of("   ").painted(Paint::Faint, &hit.signals.to_string()), 3)?;
            output.painted(&Line::of("   ").painted(Paint::Faint, &format!("id {}", hit.item.id())), 3)?;
        }
    }
    if found.hits.is_empty() {
        output.line("nothing found")?;
    }
    if explain {
        return Ok(output.told(&found.receipt)?);
    }
    for line in found.receipt.troubles() {
        output.line(&line)?;
    }
    Ok(())
}

/// Writes an item as a list does: its head behind `lead`, and under it the passage that answers.
pub(crate) fn write_item(
    lead: &str,
    content: &Content,
    question: Question<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let indent = lead.len();
    output.painted(&head(Line::of(lead), content), indent)?;
    let most =
        output.look().width.map_or(MOST, |width| width.saturating_sub(indent).saturating_mul(LINES).clamp(LEAST, MOST));
    let Excerpt { text, matches } = question.excerpt(content, most);
    let passage = Line::of(&" ".repeat(indent)).marked(&text, &matches);
    Ok(output.painted(&passage, indent)?)
}

/// Adds when an item was said, by whom and where: the title of its conversation, and how the conversation is named.
fn head(line: Line, content: &Content) -> Line {
    match content {
        Content::Message(row) => {
            let Some(message) = &row.message else { return line.plain("forgotten") };
            let line = line.painted(Paint::Faint, &message.at.to_minute()).plain("  ");
            let line = line.painted(Paint::of(message.role), &message.author()).plain("  ");
            let place = format!("{} #{}", short(&row.session), row.seq.0);
            match message.title() {
                Some(title) => line.painted(Paint::Bold, title).painted(Paint::Faint, &format!(" ({place})")),
                None => line.plain(&place),
            }
        }
        Content::Record(stored) => {
            let record = &stored.record;
            let line = line.painted(Paint::Faint, &record.created_at().to_minute()).plain("  ").plain(&record.kind);
            if record.tags().is_empty() { line } else { line.plain(&format!(" [{}]", record.tags().join(", "))) }
        }
    }
}
