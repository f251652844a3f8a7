//! Broken reads.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::MemChat;
use memory_core::store::chat::{ChatStore as _, Edge, FoundMessages, Page, SessionState, Slice, View};
use memory_core::{Block, Fields, MessageId, Result, Scope, Seq, SessionId, StoredMessage};

use crate::chat_stores::{Break, caught};

/// Declares a store whose pages are changed by a function, and the scenarios that catch it.
macro_rules! broken_read {
    ($(#[$doc:meta])* $name:ident, $test:ident by $by:expr, |$inner:ident, $call:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        struct $name;

        #[async_trait]
        impl Break for $name {
            async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
                let ($inner, $call) = (inner, (scope, session, page));
                $body
            }
        }

        #[tokio::test]
        async fn $test() {
            caught($name, &$by).await;
        }
    };
}

broken_read!(
    /// Gives the newest first.
    ReversesPages, a_store_that_reverses_pages_is_caught by ["reads_oldest_first_from_every_edge"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.messages.reverse();
        Ok(slice)
    }
);

broken_read!(
    /// Gives one row more than asked for.
    GivesOneMore, a_store_that_gives_one_row_more_is_caught
    by ["reads_oldest_first_from_every_edge", "a_limit_of_zero_gives_the_state_alone", "s2_9_reads_any_history_as_the_model_does"],
    |inner, call| inner.read(call.0, call.1, &Page { limit: call.2.limit.saturating_add(1), ..call.2.clone() }).await
);

broken_read!(
    /// Takes the row at the edge along.
    TakesTheEdge, a_store_that_takes_the_edge_along_is_caught
    by ["pages_from_either_end_give_every_row_once", "edges_beyond_the_ends_give_nothing_or_all"],
    |inner, call| {
        let edge = match call.2.edge {
            Edge::After(seq) => Edge::After(Seq(seq.0.saturating_sub(1))),
            Edge::Before(seq) => Edge::Before(Seq(seq.0.saturating_add(1))),
            Edge::Newest => Edge::Newest,
        };
        inner.read(call.0, call.1, &Page { edge, ..call.2.clone() }).await
    }
);

broken_read!(
    /// Orders by time.
    OrdersByTime, a_store_that_orders_by_time_is_caught by ["s0_2_orders_by_number_and_not_by_time"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.messages.sort_by_key(|row| row.message.as_ref().map(|message| message.at));
        Ok(slice)
    }
);

broken_read!(
    /// Counts tokens in 63 bits, and from 0 again where they are full.
    CountsAnew, a_store_whose_counts_begin_anew_is_caught by ["no_sum_of_token_counts_begins_anew"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.state.active_tokens &= i64::MAX as u64;
        Ok(slice)
    }
);

broken_read!(
    /// Filters what the limit has left.
    FiltersAfterTheLimit, a_store_that_filters_after_the_limit_is_caught
    by ["filters_before_it_limits", "s2_9_reads_any_history_as_the_model_does"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, &Page { filter: None, ..call.2.clone() }).await?;
        if let Some(filter) = &call.2.filter {
            slice.messages.retain(|row| {
                row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
            });
        }
        Ok(slice)
    }
);

broken_read!(
    /// Stops in front of the row that crosses the tokens.
    StopsTooEarly, a_store_that_stops_in_front_of_the_budget_is_caught
    by ["stops_behind_the_row_that_crosses_the_tokens"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        let sum: u64 = slice.messages.iter().map(|row| row.tokens).sum();
        if call.2.tokens.is_some_and(|tokens| sum > tokens) {
            slice.messages.pop();
        }
        Ok(slice)
    }
);

broken_read!(
    /// Leaves forgotten messages out of the log.
    HidesMarkers, a_store_that_hides_markers_is_caught
    by ["a_forgotten_message_leaves_an_empty_marker"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.messages.retain(|row| row.message.is_some());
        Ok(slice)
    }
);

broken_read!(
    /// Shows the originals of summaries in the window.
    ShowsOriginals, a_store_that_shows_what_is_archived_is_caught
    by ["views_show_the_window_the_log_or_everything", "a_fold_archives_a_stretch_behind_its_summary"],
    |inner, call| {
        let view = if call.2.view == View::Active { View::Log } else { call.2.view };
        inner.read(call.0, call.1, &Page { view, ..call.2.clone() }).await
    }
);

broken_read!(
    /// Finds the instructions at the head alone.
    PinsTheHeadAlone, a_store_that_pins_the_head_alone_is_caught
    by ["a_pinned_page_has_every_active_instruction_and_the_newest_summary", "s2_9_reads_any_history_as_the_model_does"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        if call.2.view == View::Pinned {
            slice.messages.retain(|row| row.seq <= Seq(8));
        }
        Ok(slice)
    }
);

broken_read!(
    /// Pins an instruction that a summary stands for.
    PinsTheArchived, a_store_that_pins_what_is_archived_is_caught
    by ["a_pinned_page_follows_folds_and_what_is_forgotten", "s2_9_reads_any_history_as_the_model_does"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        if call.2.view == View::Pinned {
            let log = inner.read(call.0, call.1, &Page { view: View::Log, ..call.2.clone() }).await?.messages;
            let is_archived = |row: &StoredMessage| {
                row.archived_by.is_some() && row.message.as_ref().is_some_and(|message| message.role.is_instruction())
            };
            slice.messages.extend(log.into_iter().filter(is_archived));
            slice.messages.sort_by_key(|row| row.seq);
        }
        Ok(slice)
    }
);

broken_read!(
    /// Pins every summary.
    PinsEverySummary, a_store_that_pins_every_summary_is_caught
    by ["a_pinned_page_has_every_active_instruction_and_the_newest_summary"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        if call.2.view == View::Pinned {
            let window = inner.read(call.0, call.1, &Page { view: View::Active, ..call.2.clone() }).await?.messages;
            slice.messages.retain(|row| row.covers.is_none());
            slice.messages.extend(window.into_iter().filter(|row| row.covers.is_some()));
            slice.messages.sort_by_key(|row| row.seq);
        }
        Ok(slice)
    }
);

broken_read!(
    /// Puts summaries in front of what they cover.
    PutsSummariesFirst, a_store_that_puts_summaries_first_is_caught
    by ["folds_of_folds_are_undone_one_by_one", "never_splits_rows_that_stand_at_one_number"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.messages.sort_by_key(|row| (row.seq, row.covers.is_none()));
        Ok(slice)
    }
);

fn without_nul(row: &mut StoredMessage) {
    let Some(message) = &mut row.message else { return };
    for block in &mut Arc::make_mut(message).blocks {
        if let Block::Text { text, .. } = block {
            *text = text.replace('\0', "");
        }
    }
}

broken_read!(
    /// Drops signs that its database does not like.
    DropsNul, a_store_that_drops_signs_is_caught by ["keeps_every_message_byte_for_byte"],
    |inner, call| {
        let mut slice = inner.read(call.0, call.1, call.2).await?;
        slice.messages.iter_mut().for_each(without_nul);
        Ok(slice)
    }
);

/// Gives what is found in the order of numbers.
#[derive(Clone, Debug)]
struct GetsInOrderOfNumbers;

#[async_trait]
impl Break for GetsInOrderOfNumbers {
    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let mut found = inner.get(scope, ids).await?;
        found.messages.sort_by_key(|row| row.seq);
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_gets_in_another_order_is_caught() {
    caught(GetsInOrderOfNumbers, &["gets_in_the_order_of_the_ids"]).await;
}

/// Does not tell what was forgotten.
#[derive(Clone, Debug)]
struct TellsNothingForgotten;

#[async_trait]
impl Break for TellsNothingForgotten {
    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let mut found = inner.get(scope, ids).await?;
        found.forgotten.clear();
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_tells_nothing_forgotten_is_caught() {
    caught(TellsNothingForgotten, &["tells_which_ids_were_forgotten"]).await;
}

/// Finds no summaries.
#[derive(Clone, Debug)]
struct LosesSummaries;

#[async_trait]
impl Break for LosesSummaries {
    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let mut found = inner.get(scope, ids).await?;
        found.messages.retain(|row| row.covers.is_none());
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_finds_no_summaries_is_caught() {
    caught(LosesSummaries, &["gets_rows_as_a_page_shows_them", "a_fold_archives_a_stretch_behind_its_summary"]).await;
}

/// Lists sessions from the named one on, that one included.
#[derive(Clone, Debug)]
struct ListsTheNamedOne;

#[async_trait]
impl Break for ListsTheNamedOne {
    async fn sessions(
        &self,
        inner: &MemChat,
        scope: &Scope,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionState>> {
        let mut all = inner.sessions(scope, None, usize::MAX).await?;
        all.retain(|state| after.is_none_or(|after| state.session >= *after));
        all.truncate(limit);
        Ok(all)
    }
}

#[tokio::test]
async fn a_list_of_sessions_that_repeats_one_is_caught() {
    let by = ["pages_through_sessions"];
    caught(ListsTheNamedOne, &by).await;
}
