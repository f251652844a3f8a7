//! Reading pages and single messages. A usual page is one script: one answer over one state of the session.

use memory_core::error::Result;
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use memory_core::store::chat::{Edge, FoundMessages, Page, SessionState, Slice, View};
use memory_core::{Fields, Filter};

use super::session;
use crate::client::{Call, Redis};
use crate::error::damaged;
use crate::reply::Reply;
use crate::row;
use crate::script;

const READ: &str = "read messages";

/// The most rows and bytes of one step. What is larger is read in several.
const STEP: usize = 512;
const STEP_BYTES: usize = 4 << 20;

/// How many ids one step looks up at the most.
const IDS: usize = 256;

/// How often a page of several steps is begun anew because the session changed meanwhile.
const MOST_TRIES: usize = 8;

/// Reads a page of a session.
pub(super) async fn page(redis: &Redis, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
    let mut reader = Reader { redis, scope, session, page };
    for _ in 1..MOST_TRIES {
        if let Some(slice) = reader.read(false).await? {
            return Ok(slice);
        }
    }
    // A session that changes all the while is read as each step finds it, and the page says so.
    reader.read(true).await?.ok_or_else(|| damaged("a page has no end"))
}

struct Reader<'a> {
    redis: &'a Redis,
    scope: &'a Scope,
    session: &'a SessionId,
    page: &'a Page,
}

/// What one step reads.
struct Step {
    state: SessionState,
    has_more: bool,
    rows: Vec<StoredMessage>,
}

impl Reader<'_> {
    /// Reads the page; none if the session changed between two steps, unless `is_content` with that.
    async fn read(&mut self, is_content: bool) -> Result<Option<Slice>> {
        let Page { edge, limit, tokens, view: _, filter } = self.page;
        let mut edge = *edge;
        let (mut first_state, mut is_torn): (Option<SessionState>, bool) = (None, false);
        let mut taken: Vec<StoredMessage> = Vec::new();
        let mut sum = 0u64;
        loop {
            let wanted = match filter {
                // How many will match is not known.
                Some(_) if *limit > 0 => STEP,
                Some(_) => 0,
                None => STEP.min(limit.saturating_sub(taken.len())),
            };
            let budget = tokens.filter(|_| filter.is_none()).map(|tokens| tokens.saturating_sub(sum));
            let ceiling = first_state.as_ref().map_or(script::LARGEST, |state| state.head.0);
            let Step { state, has_more, rows } = self.step(edge, wanted, budget, ceiling).await?;
            let is_changed = |first: &SessionState| (first.fence, first.revision) != (state.fence, state.revision);
            is_torn |= first_state.as_ref().is_some_and(is_changed);
            if is_torn && !is_content {
                return Ok(None);
            }
            let state = first_state.get_or_insert(state);
            if let Some(last) = rows.last() {
                edge = match edge {
                    Edge::Newest | Edge::Before(_) => Edge::Before(last.seq),
                    Edge::After(_) => Edge::After(last.seq),
                };
            }
            let is_full = self.take(rows, &mut taken, &mut sum);
            if is_full || !has_more {
                if !matches!(edge, Edge::After(_)) {
                    taken.reverse();
                }
                return Ok(Some(Slice { state: state.clone(), messages: taken, complete: !is_torn }));
            }
        }
    }

    /// Takes rows up to the page's bounds, and returns whether they are reached; rows at one number are never split.
    fn take(&self, rows: Vec<StoredMessage>, taken: &mut Vec<StoredMessage>, sum: &mut u64) -> bool {
        let Page { edge: _, limit, tokens, view, filter } = self.page;
        let mut is_full = false;
        for row in rows {
            if is_full && taken.last().is_some_and(|last| last.seq != row.seq) {
                break;
            }
            let is_hidden = *view == View::Pinned && !is_pinned(&row);
            if is_hidden || filter.as_ref().is_some_and(|filter| !matches(filter, &row)) {
                continue;
            }
            *sum = sum.saturating_add(row.tokens);
            taken.push(row);
            is_full |= taken.len() >= *limit || tokens.is_some_and(|budget| *sum > budget);
        }
        is_full
    }

    /// Reads up to `wanted` rows from an edge on.
    async fn step(&self, edge: Edge, wanted: usize, budget: Option<u64>, ceiling: u64) -> Result<Step> {
        let view = match self.page.view {
            View::Active => "active",
            View::Pinned => "pinned",
            View::Log => "log",
            View::All => "all",
        };
        let (side, seq) = match edge {
            Edge::Newest => ("before", Seq(script::LARGEST)),
            Edge::Before(seq) => ("before", seq),
            Edge::After(seq) => ("after", seq),
        };
        let budget = budget.map_or_else(|| "-".to_owned(), |budget| budget.to_string());
        let call = Call::new(&script::READ, self.redis.keys().owner(self.scope))
            .arg(self.session.key())
            .arg(view)
            .arg(side)
            .number(seq.0.min(script::LARGEST))
            .number(wanted)
            .arg(budget)
            .number(ceiling)
            .number(STEP_BYTES);
        let mut reply = self.redis.run(&call, READ).await?;
        let state = session::state(reply.list()?, self.session)?;
        let has_more = reply.number()? > 0;
        let (places, rows) = (reply.list()?.texts()?, reply.list()?.all_bytes()?);
        let marks = if reply.len() > 0 { reply.list()?.all_bytes()? } else { Vec::new() };
        let mut marks = marks.into_iter().chain(std::iter::repeat(None));
        let mut read = Vec::with_capacity(rows.len());
        for (place, row) in places.iter().zip(rows) {
            let row = row.ok_or_else(|| damaged("a row is missing"))?;
            let mark = marks.next().flatten();
            read.push(row::read(self.session, place, &row, mark.as_deref())?);
        }
        Ok(Step { state, has_more, rows: read })
    }
}

/// Returns whether a row is what the key of instructions says. A server that was killed may have named one there that is none.
fn is_pinned(row: &StoredMessage) -> bool {
    row.covers.is_some() || row.message.as_ref().is_some_and(|message| message.role.is_instruction())
}

fn matches(filter: &Filter, row: &StoredMessage) -> bool {
    row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
}

/// Reads messages by id, in the order of `ids`.
pub(super) async fn get(redis: &Redis, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
    let (mut rows, mut rest) = (Vec::new(), ids);
    while !rest.is_empty() {
        let some = rest.iter().take(IDS).map(|id| id.0.as_bytes().to_vec());
        let call = Call::new(&script::GET, redis.keys().owner(scope)).number(STEP_BYTES).args(some);
        let entries = redis.run(&call, READ).await?.list()?.lists()?;
        if entries.is_empty() {
            return Err(damaged("no id was looked up"));
        }
        // Where the rows are large, a step answers for some of the ids.
        rest = rest.get(entries.len()..).unwrap_or_default();
        for entry in entries {
            rows.extend(found(entry)?);
        }
    }
    Ok(FoundMessages::of(rows))
}

fn found(mut entry: Reply) -> Result<Option<StoredMessage>> {
    if entry.len() == 0 {
        return Ok(None);
    }
    let session = SessionId::from_key(&entry.text()?).map_err(|_| damaged("no session has this key"))?;
    let place = entry.text()?;
    let row = entry.bytes()?.ok_or_else(|| damaged("a row is missing"))?;
    let mark = if entry.len() > 0 { entry.bytes()? } else { None };
    row::read(&session, &place, &row, mark.as_deref()).map(Some)
}
