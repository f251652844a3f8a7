//! One filter language, one answer: every store agrees with [`Filter::matches`](memory_core::Filter::matches), before
//! any limit, on random filters over random fields; search stores beside a thousand other owners.

mod conversations;
mod records;
mod texts;
mod vectors;

use std::future::Future;

use memory_core::{Field, Filter, Message, Result, Role, Scope, Timestamp};

use crate::crowd::together;
use crate::generate::{self, Random};
use crate::{Bed, Chat, Records, Scenario, Scene, Subject, Texts, Vectors};

pub(crate) const CHAT: &[Scenario<Chat>] = conversations::TABLE;
pub(crate) const RECORDS: &[Scenario<Records>] = records::TABLE;
pub(crate) const TEXT: &[Scenario<Texts>] = texts::TABLE;
pub(crate) const VECTORS: &[Scenario<Vectors>] = vectors::TABLE;

/// Items that the filters part.
const ITEMS: usize = 150;

/// Filters that are tried.
const FILTERS: usize = 400;
/// Filters that are tried beside other owners.
const FILTERS_BESIDE: usize = 50;

/// Owners beside the one who asks, each with some that match.
const OTHERS: usize = 1_000;
/// How many of them put at once.
const AT_ONCE: usize = 16;

/// Returns a thousand owners beside the one who asks.
fn others<S: Subject>(bed: &Bed<S>) -> Result<Vec<Scope>> {
    (0..OTHERS).map(|number| bed.scope(&format!("ada{number}"))).collect()
}

/// Lets `put` put something of each owner, for a share of them at a time; the shares are numbered from 1.
async fn put_others<T>(owners: Vec<Scope>, put: impl Fn(u64, Vec<Scope>) -> T) -> Scene
where
    T: Future<Output = Scene> + Send + 'static,
{
    let shares = owners.chunks(owners.len().div_ceil(AT_ONCE));
    together((1..).zip(shares).map(|(number, share)| put(number, share.to_vec()))).await
}

/// Returns random filters, as many as asked for, behind the simplest ones and those for values that look alike.
fn filters(random: &mut Random, count: usize) -> Vec<Filter> {
    let simple = [Filter::All, Filter::And(Vec::new()), Filter::Or(Vec::new()), Filter::All.negate()];
    let alike = generate::METADATA_KEYS.iter().flat_map(|key| {
        let field = || Field::Metadata((*key).to_owned());
        [Filter::eq(field(), 1), Filter::eq(field(), "1")]
    });
    let drawn = (0..count).map(|number| generate::filter(random, number % 4));
    simple.into_iter().chain(alike).chain(drawn).collect()
}

/// Returns a limit: one, some, or more than there are items.
fn limit(random: &mut Random) -> usize {
    match random.below(3) {
        0 => 1,
        1 => 1 + random.below(20),
        _ => 2 * ITEMS,
    }
}

/// Returns a message with random fields.
fn message(random: &mut Random) -> Message {
    let fields = generate::fields(random, memory_core::Unit::Message);
    let role = fields.role.unwrap_or(Role::Developer);
    Message {
        speaker: fields.speaker,
        trust: fields.trust,
        sources: fields.sources,
        metadata: fields.metadata,
        agent: fields.agent,
        run: fields.runs.into_iter().next(),
        ..Message::new(role, "text", Timestamp(fields.at.0)).with_id(memory_core::MessageId(random.id()))
    }
}
