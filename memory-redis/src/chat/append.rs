//! Appending.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::scope::Scope;
use memory_core::store::chat::{Append, Appended, NewMessage, Placement};
use memory_core::time::Timestamp;

use super::session;
use crate::client::{Call, Redis};
use crate::error::damaged;
use crate::keys::{padded, sortable};
use crate::reply::Reply;
use crate::row::Row;
use crate::script;

const APPEND: &str = "append messages";

/// The largest sum of tokens that the server counts up to. It stands for all that are larger.
const MOST_TOKENS: u64 = i64::MAX as u64;

/// A batch, encoded.
struct Batch {
    /// The rows of the messages, each once.
    rows: Vec<Row>,
    /// For each message of the call, which of the rows it is, and whether it is a repetition.
    places: Vec<(usize, bool)>,
    /// Up to [`MOST_TOKENS`].
    tokens: u64,
    latest: Timestamp,
}

/// Appends a batch to a session.
pub(super) async fn append(redis: &Redis, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
    let Append { fence, asked, messages } = batch;
    let Batch { rows, places, tokens, latest } = encode(session, messages)?;
    let mut call = Call::change(&script::APPEND, redis.keys().owner(scope)).arg(session.key());
    call = match fence {
        Some(fence) => call.arg(padded(fence.epoch)).number(fence.generation),
        None => call.arg("-").arg("-"),
    };
    call = call.number(tokens).arg(sortable(latest)).number(*asked).args(rows.into_iter().map(|row| row.bytes));
    let durability = redis.truth().await?;
    // In the caller's task: the script is the only step that writes messages, so whoever goes away leaves all or nothing.
    let mut reply = redis.change(scope, call, APPEND).await?;
    let state = session::state(reply.list()?, session)?;
    let placed = if reply.len() > 0 { Some(reply.list()?) } else { None };
    let unique = placements(placed, state.head, places.iter().filter(|(_, is_repeated)| !is_repeated).count())?;
    let placements = places.iter().map(|(place, is_repeated)| match unique.get(*place).copied() {
        Some(Placement::Added(seq)) if *is_repeated => Ok(Placement::Already(seq)),
        placement => placement.ok_or_else(|| damaged("an answer names too few messages")),
    });
    Ok(Appended { placements: placements.collect::<Result<_>>()?, state, durability })
}

/// Returns what became of each of `count` messages; an answer that names none says that all are new.
fn placements(placed: Option<Reply>, head: Seq, count: usize) -> Result<Vec<Placement>> {
    let Some(placed) = placed else { return Ok(Vec::new()) };
    let before = head.0.saturating_sub(count as u64);
    if placed.len() == 0 {
        return Ok((1..=count as u64).map(|number| Placement::Added(Seq(before + number))).collect());
    }
    let placed = placed.texts()?;
    let mut next = head.0.saturating_sub(placed.iter().filter(|placed| *placed == "+").count() as u64);
    let placements = placed.iter().map(|placed| {
        if placed == "+" {
            next += 1;
            return Ok(Placement::Added(Seq(next)));
        }
        session::placement(placed)
    });
    placements.collect()
}

/// Encodes the messages, and finds those that a batch holds twice.
fn encode(session: &SessionId, messages: &[NewMessage]) -> Result<Batch> {
    let mut seen: HashMap<MessageId, usize> = HashMap::with_capacity(messages.len());
    let mut rows: Vec<Row> = Vec::with_capacity(messages.len());
    let mut places = Vec::with_capacity(messages.len());
    let (mut tokens, mut latest) = (0u64, Timestamp(i64::MIN));
    for new in messages {
        let row = Row::new(session, new, None)?;
        match seen.entry(row.id) {
            Entry::Vacant(free) => {
                places.push((*free.insert(rows.len()), false));
                rows.push(row);
                tokens = tokens.saturating_add(new.tokens);
                latest = latest.max(new.message.at);
            }
            Entry::Occupied(first) => {
                if rows.get(*first.get()).is_none_or(|first| first.digest != row.digest) {
                    return Err(Error::IdConflict { id: row.id.to_string() });
                }
                places.push((*first.get(), true));
            }
        }
    }
    Ok(Batch { rows, places, tokens: tokens.min(MOST_TOKENS), latest })
}
