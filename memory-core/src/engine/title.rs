//! What a conversation is called: its title, else the first words of a person.

use tokio::try_join;

use crate::error::Result;
use crate::id::Seq;
use crate::message::{Message, Role};
use crate::store::chat::{Edge, Page, View};

use super::handle::Session;

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
    /// first messages, else their first words; none if they have none. Reads two pages, whatever the conversation's length.
    pub async fn title(&self) -> Result<Option<Title>> {
        let last = Page { edge: Edge::Newest, limit: 1, tokens: None, view: View::Log, filter: None };
        let first = Page::after(Seq(0), FIRST, View::Log).within(TOKENS);
        let (last, first) = try_join!(self.read(&last), self.read(&first))?;
        let messages: Vec<&Message> = first.messages.iter().filter_map(|row| row.message.as_deref()).collect();
        let newest = last.messages.iter().filter_map(|row| row.message.as_deref());
        let line = |text: &str| self.scoped().inner().analysis.excerpt("", text, WORDS).text;
        if let Some(title) = newest.chain(messages.iter().copied()).find_map(Message::title) {
            return Ok(Some(Title { text: line(title), is_given: true }));
        }
        let said = |message: &&&Message| !message.text().trim().is_empty();
        let of_person = messages.iter().filter(said).find(|message| message.role == Role::User);
        let first = of_person.or_else(|| {
            messages
                .iter()
                .filter(said)
                .find(|message| message.role == Role::Assistant && message.calls().next().is_none())
        });
        Ok(first.map(|message| Title { text: line(&message.text()), is_given: false }))
    }
}
