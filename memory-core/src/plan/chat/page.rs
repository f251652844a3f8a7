//! Where a page of rows ends.

use crate::fields::Fields;
use crate::filter::Filter;
use crate::message::StoredMessage;
use crate::store::chat::Page;

/// The capacity that suffices for most pages, in rows.
const PAGE: usize = 64;

/// Returns the rows from the edge on up to the page's bounds; those at one number are never split.
pub(crate) fn take<'a>(rows: impl Iterator<Item = &'a StoredMessage>, page: &Page) -> Vec<&'a StoredMessage> {
    let Page { edge: _, limit, tokens, view: _, filter } = page;
    let mut taken: Vec<&StoredMessage> = Vec::with_capacity(PAGE.min(*limit));
    let (mut sum, mut is_full) = (0u64, false);
    for row in rows {
        if is_full && taken.last().is_some_and(|last| last.seq != row.seq) {
            break;
        }
        if filter.as_ref().is_some_and(|filter| !matches(filter, row)) {
            continue;
        }
        sum = sum.saturating_add(row.tokens);
        taken.push(row);
        is_full |= taken.len() >= *limit || tokens.is_some_and(|budget| sum > budget);
    }
    taken
}

fn matches(filter: &Filter, row: &StoredMessage) -> bool {
    row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
}
