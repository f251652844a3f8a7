//! The receipt of a window: how many rows went in, why the others did not, and what is shown for each summary.

use crate::engine::recall::shown::Shown;
use crate::engine::recall::window::{Fitted, Window};
use crate::engine::receipt::{Fold, FoldShown, History};
use crate::id::ItemId;
use crate::message::StoredMessage;

impl Window {
    /// Counts the rows of the window that went in, and those that did not, by reason.
    pub(crate) fn history(&self, fitted: &Fitted) -> History {
        let is_unfolded = |shown: &&Shown| matches!(shown, Shown::Under(_));
        let is_inherited = |row: &&StoredMessage| !self.is_own(row);
        let (inherited, tokens) = self.inherited();
        History {
            window_messages: self.state.active_messages.saturating_sub(self.archives).saturating_add(inherited),
            window_tokens: self.state.active_tokens.saturating_add(tokens),
            inherited: fitted.shown.iter().filter_map(|shown| self.row(shown)).filter(is_inherited).count() as u64,
            kept_messages: fitted.shown.len() as u64,
            kept_tokens: fitted.tokens,
            unfolded: fitted.shown.iter().filter(is_unfolded).count() as u64,
            truncated: fitted.truncated,
            instructions_left_out: self.instructions_left_out.len() as u64,
            instructions_unread: self.lacks_instructions || self.lacks_past_instructions(),
            ..self.unshown(fitted)
        }
    }

    /// Counts the rows of the window that are not in `fitted`, by reason.
    pub(crate) fn unshown(&self, fitted: &Fitted) -> History {
        let mut history = History::default();
        let mut is_shown = vec![false; self.rows.len()];
        for shown in &fitted.shown {
            if let Shown::Row(index) | Shown::Copy(index, _) = shown
                && let Some(place) = is_shown.get_mut(*index)
            {
                *place = true;
            }
        }
        let has_summary = fitted.shown.iter().any(|shown| matches!(shown, Shown::Summary));
        let makes_way = |row: &StoredMessage| self.is_unfolded(row, fitted);
        let read = (self.rows.len() + self.instructions_left_out.len()) as u64;
        let own_summary = self.summary.as_ref().is_some_and(|summary| self.is_own(summary));
        let read = read + u64::from(own_summary) + self.archives;
        let all = self.state.active_messages.saturating_add(self.inherited().0);
        history.no_room = all.saturating_sub(read);
        history.no_room += u64::from(self.summary.as_ref().is_some_and(|row| !has_summary && !makes_way(row)));
        for (index, row) in self.rows.iter().enumerate().filter(|(index, _)| is_shown.get(*index) == Some(&false)) {
            let opens = index < self.ledger.first_start();
            let why = match row.covers {
                Some(_) if makes_way(row) => continue,
                Some(_) => &mut history.no_room,
                None if is_untrusted(row) => &mut history.untrusted,
                // At the edge of what was read, its call is older and did not fit.
                None if !self.ledger.is_paired(index) && (self.is_whole() || !opens) => &mut history.unpaired,
                None if index >= self.ledger.finished() => &mut history.unfinished,
                None if self.is_whole() && opens => &mut history.no_start,
                None => &mut history.no_room,
            };
            *why += 1;
        }
        if fitted.is_by_count {
            history.outside = std::mem::take(&mut history.no_room);
        }
        history
    }

    /// Returns whether the messages under a summary are shown in its place.
    fn is_unfolded(&self, row: &StoredMessage, fitted: &Fitted) -> bool {
        self.shows_under(row, fitted)
            && !fitted.shown.iter().any(|shown| self.row(shown).is_some_and(|s| s.id == row.id))
    }

    fn shows_under(&self, summary: &StoredMessage, fitted: &Fitted) -> bool {
        let Some(covers) = summary.covers else { return false };
        let unfolded = fitted.shown.iter().filter(|shown| matches!(shown, Shown::Under(_)));
        unfolded.filter_map(|shown| self.row(shown)).any(|row| covers.contains(row.seq))
    }

    /// Returns what the context shows for each summary of the window.
    pub(crate) fn folds(&self, fitted: &Fitted) -> Vec<Fold> {
        let fold = |summary: &StoredMessage| {
            let covers = summary.covers?;
            let is_shown = fitted.shown.iter().filter_map(|shown| self.row(shown)).any(|row| row.id == summary.id);
            let shown = match (is_shown, self.shows_under(summary, fitted)) {
                (true, true) => FoldShown::Both,
                (true, false) => FoldShown::Summary,
                (false, true) => FoldShown::Messages,
                (false, false) => FoldShown::Nothing,
            };
            Some(Fold { summary: ItemId::Message(summary.id), first: covers.first, last: covers.last, shown })
        };
        self.summaries().filter_map(fold).collect()
    }
}

/// Returns whether a row has an instruction's role without the trust for it.
fn is_untrusted(row: &StoredMessage) -> bool {
    row.message.as_ref().is_some_and(|message| message.role.is_instruction() && !message.is_instruction())
}
