//! Reading a stretch of a session for an index, bounded in messages and in text per read.

use std::sync::Arc;

use crate::analysis::head_of;
use crate::engine::inner::Inner;
use crate::error::Result;
use crate::id::{Seq, SeqRange, SessionId};
use crate::index::{NEIGHBOURS, span_of, span_range};
use crate::message::{Block, StoredMessage};
use crate::scope::Scope;
use crate::store::chat::{Page, SessionState, Slice, View};

/// Rows of the first page.
const FIRST_PAGE: usize = 8;
/// How many times as many rows the next page has, while there are no media.
const GROWTH: usize = 8;
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
    /// Makes one call for a few messages, and a second and third for hundreds. If the messages are long or hold media, reads
    /// small pages and keeps only the text that is searched.
    pub(crate) async fn read_stretch(
        &self,
        scope: &Scope,
        session: &SessionId,
        range: SeqRange,
        around: impl Fn(SeqRange) -> SeqRange,
    ) -> Result<Stretch> {
        let (mut range, mut needed, mut rows_a_page) = (range, around(range), FIRST_PAGE);
        let mut read: Option<(SessionState, Vec<StoredMessage>)> = None;
        loop {
            let next = read.as_ref().and_then(|(_, rows)| rows.last()).map_or(needed.first, |row| behind(row.seq));
            let page = page(next, needed, rows_a_page);
            let Slice { state, messages, .. } = self.bare.chat.read(scope, session, &page).await?;
            // The session was deleted and begun anew between two pages: what was read is gone.
            if read.as_ref().is_some_and(|(first, _)| first.fence != state.fence) {
                read = None;
                continue;
            }
            let (is_long, is_last) = (crosses(&messages), is_last(&messages, &page, needed));
            let (state, mut rows) = read.take().unwrap_or((state, Vec::new()));
            if is_long && range.last > own_span(range) {
                // The first messages may only be here as neighbours of the ones asked for, so the stretch goes beyond them.
                range.last = own_span(range);
                needed = around(range);
            }
            if !is_long && !messages.iter().any(has_media) {
                rows_a_page = rows_a_page.saturating_mul(GROWTH);
            }
            rows.extend(messages.into_iter().map(shortened).take_while(|row| row.seq <= needed.last));
            if is_last || rows.last().is_some_and(|row| row.seq >= needed.last) {
                return Ok(Stretch { range, state, rows });
            }
            read = Some((state, rows));
        }
    }
}

/// Returns the end of the span behind the first neighbours of a range.
fn own_span(range: SeqRange) -> Seq {
    span_range(span_of(Seq(range.first.0.saturating_add(NEIGHBOURS)))).last
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

/// Returns the page of at most `rows` rows from `first` to the end of `needed`. It is empty for a deleted session, whose note
/// ends before its first message.
fn page(first: Seq, needed: SeqRange, rows: usize) -> Page {
    let left = usize::try_from(needed.last.0.saturating_add(1).saturating_sub(first.0)).unwrap_or(usize::MAX);
    Page::after(Seq(first.0.saturating_sub(1)), left.min(rows), View::Log).within(PAGE_TOKENS)
}

/// Returns whether the bound of tokens may have ended a page.
fn crosses(rows: &[StoredMessage]) -> bool {
    rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.tokens)) >= PAGE_TOKENS
}

/// Returns whether no row that is needed comes behind those of a page.
fn is_last(rows: &[StoredMessage], page: &Page, needed: SeqRange) -> bool {
    let is_full = rows.len() >= page.limit || crosses(rows);
    !is_full || rows.last().is_none_or(|row| row.seq >= needed.last)
}

/// Returns whether a message holds what is not text: its tokens do not bound its bytes.
fn has_media(row: &StoredMessage) -> bool {
    row.message.as_ref().is_some_and(|message| message.blocks.iter().any(holds_media))
}

fn holds_media(block: &Block) -> bool {
    match block {
        Block::Media { .. } | Block::Other { .. } => true,
        Block::ToolResult { content, .. } => content.iter().any(holds_media),
        _ => false,
    }
}

/// Returns a row shortened to the text that is searched.
fn shortened(mut row: StoredMessage) -> StoredMessage {
    let holds_media = has_media(&row);
    let Some(message) = row.message.take() else { return row };
    let text = message.text();
    let head = head_of(&text);
    let is_long = head.len() < text.len();
    if !is_long && !holds_media && message.aside.is_empty() {
        row.message = Some(message);
        return row;
    }
    // What a store has read for us is not copied: media take megabytes.
    let mut short = Arc::unwrap_or_clone(message);
    short.aside.clear();
    if is_long {
        // Whoever looks how far it may be believed has to see that it holds results of tools.
        let holds_results = short.results().next().is_some();
        let head = Block::text(head);
        short.blocks = vec![if holds_results { Block::tool_result("", vec![head]) } else { head }];
        short.extra.clear();
    } else {
        drop_media(&mut short.blocks);
    }
    row.message = Some(Arc::new(short));
    row
}

fn drop_media(blocks: &mut Vec<Block>) {
    blocks.retain(|block| !matches!(block, Block::Media { .. } | Block::Other { .. }));
    for block in blocks {
        if let Block::ToolResult { content, .. } = block {
            drop_media(content);
        }
    }
}
