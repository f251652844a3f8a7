//! Unfolding: shows the messages under a summary in its place, if they fit.

use crate::id::{MessageId, Seq, SeqRange};
use crate::message::StoredMessage;
use crate::window::Ledger;

use super::shown::Shown;

/// The newest messages under the summaries of a window, merged with the messages that the window holds.
#[derive(Debug)]
pub(crate) struct Under {
    /// The messages under summaries, oldest first, with their archive marks removed.
    pub(crate) rows: Vec<StoredMessage>,
    /// These and the messages of the window, in the order of their numbers.
    places: Vec<(Seq, Slot)>,
    /// The ledger of `places`.
    ledger: Ledger,
    summaries: Vec<Summary>,
    /// Whether `places` begin with the first message of the session.
    is_whole: bool,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The index of a message under a summary.
    Under(usize),
    /// The index of a row of the window.
    Row(usize),
}

#[derive(Debug)]
struct Summary {
    id: MessageId,
    tokens: u64,
    /// The place at which its messages begin; none if not all of them can be shown.
    begins: Option<usize>,
}

impl Under {
    /// Merges the messages under `summaries` with the `rows` of the window. `log` holds the newest messages of the session up
    /// to the newest of `summaries`, and `number` the number of a row in it; 0 is that of rows which stand before the session. `is_whole`
    /// tells whether these are all that stand there. Returns none if no message under a summary can be shown.
    pub(crate) fn new<'a>(
        log: Vec<StoredMessage>,
        rows: &[StoredMessage],
        summaries: impl Iterator<Item = &'a StoredMessage>,
        number: impl Fn(&StoredMessage) -> Seq,
        is_whole: bool,
    ) -> Option<Self> {
        let from = log.first()?.seq;
        let covering: Vec<(&StoredMessage, SeqRange)> = summaries.filter_map(|row| Some((row, row.covers?))).collect();
        let archived = log.into_iter().filter(|row| row.archived_by.is_some() && row.message.is_some());
        // An archived instruction stays under its summary: no window shows it, so none unfolds it.
        let is_instruction = |row: &StoredMessage| row.message.as_ref().is_some_and(|m| m.is_instruction());
        let (hidden, mut under): (Vec<StoredMessage>, Vec<StoredMessage>) = archived.partition(is_instruction);
        under.retain(|row| row.left().is_none() && covering.iter().any(|(_, covers)| covers.contains(row.seq)));
        under.iter_mut().for_each(|row| row.archived_by = None);
        let messages = rows.iter().enumerate().filter(|(_, row)| row.covers.is_none());
        let messages = messages.map(|(index, row)| (Slot::Row(index), row));
        let mut all: Vec<(Slot, &StoredMessage)> =
            under.iter().enumerate().map(|(index, row)| (Slot::Under(index), row)).chain(messages).collect();
        all.sort_by_key(|(_, row)| number(row));
        let mut ledger = Ledger::default();
        all.iter().for_each(|(_, row)| ledger.push(row));
        let summary = |(row, covers): &(&StoredMessage, SeqRange)| {
            let is_shown = |(index, (_, row)): (usize, &(Slot, &StoredMessage))| {
                covers.contains(number(row)) && ledger.is_in_order(index) && index >= ledger.first_start()
            };
            let is_hidden = hidden.iter().any(|row| covers.contains(row.seq));
            let is_there = covers.first >= from && !is_hidden && all.iter().enumerate().any(is_shown);
            let begins = all.partition_point(|(_, row)| number(row) < covers.first);
            Summary { id: row.id, tokens: row.tokens, begins: is_there.then_some(begins) }
        };
        let summaries = covering.iter().map(summary).collect();
        let places = all.into_iter().map(|(place, row)| (number(row), place)).collect();
        let is_whole = is_whole && from <= Seq(1);
        (!under.is_empty()).then_some(Self { rows: under, places, ledger, summaries, is_whole })
    }

    /// Returns the place of the oldest message with which a tail may begin. The tail, the instructions and the summaries that
    /// stay must fit into `budget` tokens, and the tail must hold the message `first`. Returns none if the tail shows no
    /// message under a summary.
    pub(crate) fn opening(&self, budget: u64, first: Seq) -> Option<usize> {
        let keeps_budget = |start: &usize| {
            let staying = self.summaries.iter().filter(|summary| self.keeps(summary, *start));
            let tokens =
                staying.map(|summary| summary.tokens).fold(self.ledger.tokens_from(*start), u64::saturating_add);
            tokens <= budget
        };
        let latest = self.places.partition_point(|(seq, _)| *seq <= first);
        let opening = self.ledger.starts().take_while(|start| *start < latest).find(keeps_budget)?;
        let shown = self.places.get(opening..)?;
        shown.iter().any(|(_, place)| matches!(place, Slot::Under(_))).then_some(opening)
    }

    /// Returns whether a summary stays before a tail that begins at `opening`.
    pub(crate) fn stays(&self, summary: &StoredMessage, opening: usize) -> bool {
        self.summaries.iter().any(|kept| kept.id == summary.id && self.keeps(kept, opening))
    }

    /// Returns whether a summary stays. It makes way if all its messages are shown, not counting those before which no person
    /// speaks.
    fn keeps(&self, summary: &Summary, opening: usize) -> bool {
        let is_all = self.is_whole && opening == self.ledger.first_start();
        !summary.begins.is_some_and(|begins| opening <= begins || is_all)
    }

    /// Returns the tail that begins at `opening`.
    pub(crate) fn tail(&self, opening: usize) -> impl Iterator<Item = Shown> {
        let shown = (opening..self.ledger.finished()).filter(|index| self.ledger.is_in_order(*index));
        shown.filter_map(|index| self.places.get(index)).map(|(_, place)| match place {
            Slot::Under(index) => Shown::Under(*index),
            Slot::Row(index) => Shown::Row(*index),
        })
    }
}
