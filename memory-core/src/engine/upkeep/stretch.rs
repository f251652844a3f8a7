//! Reading a stretch of a session for an index, bounded in messages and in text per read.

use std::sync::Arc;

use crate::analysis::head_of;
use crate::engine::inner::Inner;
use crate::error::Result;
use crate::id::{Seq, SeqRange, SessionId};
use crate::index::{NEIGHBOURS, span_of, span_range};
use crate::message::{Block, Message, StoredMessage};
use crate::scope::Scope;
use crate::store::chat::{Page, SessionState, Slice, View};

/// A page ends behind the row that crosses this many tokens, about 4 MiB of text.
const PAGE_TOKENS: u64 = 1 << 20;

/// The rows that decide the entries of some messages.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// The messages whose entries can be made: all that were asked for or, if they hold more text than is read at once, those up
    /// to the end of a span.
    pub(crate) range: SeqRange,
    /// The session, as it was when the first row was read.
    pub(crate) state: SessionState,
    /// The rows, with those around them.
    pub(crate) rows: Vec<StoredMessage>,
}

impl Inner {
    /// Reads the messages of `range`, and those rows `around` it that their entries depend on.
    ///
    /// Usually makes one call. If the messages are long, each is shortened to the text that is searched.
    pub(crate) async fn read_stretch(
        &self,
        scope: &Scope,
        session: &SessionId,
        range: SeqRange,
        around: impl Fn(SeqRange) -> SeqRange,
    ) -> Result<Stretch> {
        let needed = around(range);
        let whole = self.chat.store().read(scope, session, &page(needed.first, needed)).await?;
        if is_whole(&whole.messages, needed) {
            return Ok(Stretch { range, state: whole.state, rows: whole.messages });
        }
        drop(whole);
        // The first messages may only be here as neighbours of the ones asked for, so the stretch must go beyond them.
        let own = Seq(range.first.0.saturating_add(NEIGHBOURS));
        let range = SeqRange { last: range.last.min(span_range(span_of(own)).last), ..range };
        let needed = around(range);
        let mut read: Option<Stretch> = None;
        loop {
            let next = read.as_ref().and_then(|read| read.rows.last()).map_or(needed.first, |row| behind(row.seq));
            let Slice { state, messages, .. } = self.chat.store().read(scope, session, &page(next, needed)).await?;
            // The session was deleted and begun anew between two pages: what was read is gone.
            if read.as_ref().is_some_and(|read| read.state.fence != state.fence) {
                read = None;
                continue;
            }
            let is_last = is_whole(&messages, needed);
            let mut stretch = read.take().unwrap_or(Stretch { range, state, rows: Vec::new() });
            stretch.rows.extend(messages.into_iter().map(shortened));
            if is_last {
                return Ok(stretch);
            }
            read = Some(stretch);
        }
    }
}

/// Returns the rows that the entries of the messages in `range` depend on: their spans and neighbours.
pub(crate) fn around(range: SeqRange) -> SeqRange {
    let spans = (span_range(span_of(range.first)).first, span_range(span_of(range.last)).last);
    let first = spans.0.0.min(range.first.0.saturating_sub(NEIGHBOURS)).max(1);
    SeqRange { first: Seq(first), last: Seq(spans.1.0.max(range.last.0.saturating_add(NEIGHBOURS))) }
}

fn behind(seq: Seq) -> Seq {
    Seq(seq.0.saturating_add(1))
}

/// Returns the page of the rows from `first` to the end of `needed`. It is empty for a deleted session, whose note ends before
/// its first message.
fn page(first: Seq, needed: SeqRange) -> Page {
    let rows = usize::try_from(needed.last.0.saturating_add(1).saturating_sub(first.0)).unwrap_or(usize::MAX);
    Page::after(Seq(first.0.saturating_sub(1)), rows, View::Log).within(PAGE_TOKENS)
}

/// Returns whether a page holds all rows `needed` that exist: the bound of tokens did not end it.
fn is_whole(rows: &[StoredMessage], needed: SeqRange) -> bool {
    let tokens = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.tokens));
    tokens < PAGE_TOKENS || rows.last().is_none_or(|row| row.seq >= needed.last)
}

/// Returns a row shortened to the text that is searched.
fn shortened(mut row: StoredMessage) -> StoredMessage {
    let Some(message) = &row.message else { return row };
    let text = message.text();
    let head = head_of(&text);
    if head.len() < text.len() {
        let mut short = Message::clone(message);
        short.blocks = vec![Block::text(head)];
        short.extra.clear();
        row.message = Some(Arc::new(short));
    }
    row
}
