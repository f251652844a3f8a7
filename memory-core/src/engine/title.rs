//! What a conversation is called: its title, else the first words of a person.

use crate::error::Result;
use crate::message::{Message, Role};
use crate::window::makes_calls;

use super::handle::Session;
use super::past::{HistoryEdge, HistoryPage};

/// How many messages are read from the beginning, and up to how many tokens.
const FIRST: usize = 16;
const TOKENS: u64 = 16_000;

/// How many characters of somebody's words are a title.
const WORDS: usize = 60;

/// What a conversation is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// The words, on one line.
    pub text: String,
    /// Whether somebody called it that. Else these are the first words of a person or, where none speaks, of the model.
    pub is_given: bool,
}

impl Session {
    /// Returns what the conversation is called: the title that its newest message has ([`Message::title`]), else one of its
    /// first messages, else their first words; none if they have none. Reads one message and, if that has no title, the first
    /// sixteen, whatever the conversation's length. A branch inherits its title.
    pub async fn title(&self) -> Result<Option<Title>> {
        let line = |text: &str| self.scoped().inner().analysis.excerpt("", text, WORDS).text;
        let given = |messages: &[&Message]| {
            let title = messages.iter().find_map(|message| message.title());
            title.map(|title| Title { text: line(title), is_given: true })
        };
        let last = self.history(HistoryEdge::Newest, 1).await?;
        if let Some(title) = given(&said_in(&last)) {
            return Ok(Some(title));
        }
        let first = self.forwards(None, FIRST, Some(TOKENS)).await?;
        let messages = said_in(&first);
        if let Some(title) = given(&messages) {
            return Ok(Some(title));
        }
        let said = |message: &&&Message| !message.text().trim().is_empty();
        let of_person = messages.iter().filter(said).find(|message| message.role == Role::User);
        let first = of_person.or_else(|| {
            messages.iter().filter(said).find(|message| message.role == Role::Assistant && !makes_calls(message))
        });
        Ok(first.map(|message| Title { text: line(&message.text()), is_given: false }))
    }
}

fn said_in(page: &HistoryPage) -> Vec<&Message> {
    page.messages.iter().filter_map(|row| row.message.as_deref()).collect()
}
