//! What a search of one conversation looks at: its newest messages, as many as its capacity allows, and the past that a branch shares.

use crate::engine::handle::Session;
use crate::engine::past::behind;
use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{Seq, Unit};
use crate::message::{Link, StoredMessage};
use crate::store::chat::{Page, Slice, View};

/// How many rows are read at most to count the messages among them. Older rows count as messages, whatever they are.
const ROWS: usize = 1_000;
/// How many rows the first page has at least. Each further one has four times as many.
const PAGE: u64 = 64;

/// What is left of a capacity.
#[derive(Debug)]
struct Room {
    /// The messages that have a place in it.
    messages: u64,
    /// The rows that may still be read to count messages.
    rows: usize,
    /// The rows of the next page.
    page: usize,
}

impl Room {
    /// Returns room for so many messages, which are counted in rows, or only by their numbers.
    fn new(messages: u64, is_counted: bool) -> Self {
        let page = usize::try_from(messages.max(PAGE)).unwrap_or(ROWS);
        Self { messages, rows: if is_counted { ROWS } else { 0 }, page }
    }
}

impl Session {
    /// Returns the filter of what [`Session::search`] looks at.
    pub(super) async fn within(&self) -> Result<Filter> {
        let Slice { state, messages, .. } = self.read(&Page::after(Seq(0), 1, View::Log)).await?;
        let past = match messages.first().and_then(Link::of) {
            Some(link) => self.living(&link).await?.points,
            None => Vec::new(),
        };
        let capacity = self.buffer().capacity_messages;
        let is_counted = capacity.is_some_and(|capacity| state.head.0 > capacity || !past.is_empty());
        let mut room = Room::new(capacity.unwrap_or(u64::MAX), is_counted);
        let is_here = Filter::eq(Field::Session, self.id().name());
        // Seen from its end, whatever was replaced is replaced.
        let own = match self.newest_within(state.head, Seq(u64::MAX), &mut room).await? {
            Filter::All => is_here,
            newest => is_here.and(Filter::Or(vec![Filter::eq(Field::Unit, Unit::Record.name()), newest])),
        };
        let mut within = vec![own];
        for point in &past {
            if room.messages == 0 {
                break;
            }
            let there = self.scoped().session(&point.session);
            let newest = there.newest_within(point.at, point.at, &mut room).await?;
            let inherited = Filter::eq(Field::Session, point.session.name());
            let shared = Filter::range(Field::Seq, None, Some(number(behind(point.at))));
            within.push(inherited.and(shared).and(newest));
        }
        Ok(if within.len() == 1 { within.remove(0) } else { Filter::Or(within) })
    }

    /// Returns the filter of the numbers of the newest messages up to `last` that have a place in `room`, and takes the place from it.
    /// Instructions and what was forgotten take none, nor does what was replaced for a branch that leaves the conversation at `fork`.
    async fn newest_within(&self, last: Seq, fork: Seq, room: &mut Room) -> Result<Filter> {
        let mut first = behind(last);
        while room.messages > 0 && first > Seq(1) && room.rows > 0 {
            let page = Page::before(first, room.page.min(room.rows), View::Log);
            let rows = self.read(&page).await?.messages;
            if rows.is_empty() {
                break;
            }
            room.page = room.page.saturating_mul(4);
            room.rows = room.rows.saturating_sub(rows.len());
            for row in rows.into_iter().rev() {
                if room.messages == 0 {
                    break;
                }
                first = row.seq;
                room.messages -= u64::from(is_said(row.seen_at(fork)));
            }
        }
        // The numbers of what is too old to be counted.
        let older = room.messages.min(first.0.saturating_sub(1));
        room.messages -= older;
        first = Seq(first.0.saturating_sub(older));
        Ok(if first > Seq(1) { Filter::range(Field::Seq, Some(number(first)), None) } else { Filter::All })
    }
}

fn is_said(row: StoredMessage) -> bool {
    !row.is_replaced() && row.message.is_some_and(|message| !message.role.is_instruction())
}

fn number(seq: Seq) -> Scalar {
    Scalar::Int(i64::try_from(seq.0).unwrap_or(i64::MAX))
}
