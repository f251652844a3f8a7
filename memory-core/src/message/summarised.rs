//! How often what a row stands for was summarised: its metadata says it where that is not once, so that merging summaries hides none.

use serde_json::Value;

use super::{Message, StoredMessage};

/// The member of the metadata that holds the count.
const COUNT: &str = "summarised";

impl StoredMessage {
    /// Returns how often what it stands for was summarised: never for an ordinary message, and once for a summary that says nothing.
    pub(crate) fn summarised(&self) -> u64 {
        let said = self.message.as_ref().and_then(|message| message.metadata.get(COUNT).and_then(Value::as_u64));
        match self.covers {
            Some(_) => said.unwrap_or_else(|| u64::from(!self.is_archive())),
            None => 0,
        }
    }
}

impl Message {
    /// Says how often `rows` were summarised, for which it is to stand: once more than before if it has words.
    #[must_use]
    pub(crate) fn standing_for(self, rows: &[StoredMessage]) -> Self {
        let itself = u64::from(!self.blocks.is_empty());
        let count = rows.iter().map(StoredMessage::summarised).fold(itself, u64::saturating_add);
        if count == itself { self } else { self.with_metadata(COUNT, count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Seq, SeqRange};
    use crate::message::Role;
    use crate::time::Timestamp;

    fn row(message: Message) -> StoredMessage {
        StoredMessage::of_tests(2, 10, message)
    }

    fn behind(message: Message) -> StoredMessage {
        StoredMessage { covers: Some(SeqRange { first: Seq(1), last: Seq(2) }), ..row(message) }
    }

    #[test]
    fn a_summary_of_summaries_counts_itself_and_them_and_what_has_no_words_counts_them_alone() {
        let said = || Message::new(Role::Assistant, "Roses.", Timestamp(0));
        let wordless = || Message::of_blocks(Role::Assistant, Vec::new(), Timestamp(0));
        let plain = said().standing_for(&[row(said()), row(said())]);
        assert!(plain.metadata.is_empty() && row(plain.clone()).summarised() == 0);
        assert_eq!(behind(plain.clone()).summarised(), 1);
        let merged = said().standing_for(&[behind(plain.clone()), behind(plain), row(said())]);
        assert_eq!(behind(merged.clone()).summarised(), 3);
        assert_eq!(behind(wordless().standing_for(&[row(said())])).summarised(), 0);
        assert_eq!(behind(wordless().standing_for(&[behind(merged.clone())])).summarised(), 3);
        // A message that only says so is none.
        assert_eq!(row(merged).summarised(), 0);
    }
}
