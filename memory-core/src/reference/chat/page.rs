//! Pages of a session. Reading one reads no row before its edge or after its last row.

use std::iter;

use super::session::{Position, Session, index_of};
use crate::id::{Seq, SeqRange};
use crate::message::StoredMessage;
use crate::plan::chat::take;
use crate::store::chat::{Edge, Page, View};

type Rows<'a> = Box<dyn DoubleEndedIterator<Item = &'a StoredMessage> + 'a>;

impl Session {
    /// Returns the rows of the page, oldest first.
    pub(super) fn page(&self, page: &Page) -> Vec<StoredMessage> {
        let head = self.head();
        let (first, last, is_backwards) = match page.edge {
            Edge::Newest => (Seq(1), head, true),
            Edge::Before(seq) => (Seq(1), Seq(seq.0.saturating_sub(1)).min(head), true),
            Edge::After(seq) => (Seq(seq.0.saturating_add(1)), head, false),
        };
        if page.limit == 0 || first > last {
            return Vec::new();
        }
        let rows = self.rows_of(page.view, SeqRange { first, last });
        if is_backwards {
            return take(rows.rev(), page).into_iter().rev().cloned().collect();
        }
        take(rows, page).into_iter().cloned().collect()
    }

    fn rows_of(&self, view: View, SeqRange { first, last }: SeqRange) -> Rows<'_> {
        let range = Position::of_message(first)..=Position::end_of(last);
        if view == View::Pinned {
            let summary = self.summaries.iter().rfind(|(_, row)| row.is_active()).map(|(position, _)| *position);
            let summary = summary.filter(|position| range.contains(position));
            let middle = summary.unwrap_or(*range.end());
            let before = self.instructions.range(*range.start()..middle).copied();
            let after = self.instructions.range(middle..=*range.end()).copied();
            return Box::new(before.chain(summary).chain(after).filter_map(|position| self.get(position)));
        }
        if view == View::Active && !self.is_log() {
            return Box::new(self.active.range(range).filter_map(|position| self.get(*position)));
        }
        let to = index_of(last).map_or(0, |index| index + 1);
        let messages = index_of(first).and_then(|from| self.rows.get(from..to)).unwrap_or_default();
        if view != View::All {
            return Box::new(messages.iter());
        }
        Box::new(messages.iter().flat_map(|row| {
            let here = Position::of_message(row.seq)..=Position::end_of(row.seq);
            iter::once(row).chain(self.summaries.range(here).map(|(_, summary)| summary))
        }))
    }
}
