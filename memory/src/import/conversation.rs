//! A conversation of another program, as its messages and what is left out of it name it.

use memory_core::Message;
use memory_core::message::TITLE;

use super::refusal::named;

/// A conversation under way: the name of its session, and its title if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversation<'a> {
    pub(super) session: &'a str,
    pub(super) title: Option<&'a str>,
}

impl<'a> Conversation<'a> {
    /// The most characters of a title that are kept: each message bears it.
    const TITLE: usize = 300;

    /// Returns the conversation `session`, with the beginning of its title.
    pub(super) fn new(session: &'a str, title: Option<&'a str>) -> Self {
        let cut = |title: &'a str| match title.char_indices().nth(Self::TITLE) {
            Some((end, _)) => title.get(..end).unwrap_or(title),
            None => title,
        };
        Self { session, title: title.map(str::trim).filter(|title| !title.is_empty()).map(cut) }
    }

    /// Returns how a person finds it: by its title, and by the name of its session, which stands in the file.
    pub(super) fn shown(self) -> String {
        let session = named(self.session);
        match self.title.filter(|title| *title != self.session) {
            Some(title) => format!("{} ({session})", named(title)),
            None => session,
        }
    }

    /// Gives a message the title, if there is one.
    pub(super) fn entitle(self, message: Message) -> Message {
        match self.title {
            Some(title) => message.with_metadata(TITLE, title),
            None => message,
        }
    }
}
