//! The best candidates that match a filter.

#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use memory_core::{Fields, Filter, ItemId, Result, Timestamp};
use sqlx::{QueryBuilder, SqliteConnection};

use super::corrupt;
use super::items::read_key;
use super::rows::json_numbers;
use crate::error::{BACKEND, Doing};
use crate::filter::{Place, push_filter};

/// An item that may be an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    pub(crate) at: Timestamp,
    /// The item's number.
    pub(crate) item: i64,
    /// Where the caller keeps what else is known of it.
    pub(crate) place: usize,
}

/// An item that is an answer.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: Candidate,
    pub(crate) item: ItemId,
    pub(crate) fields: Fields,
    /// The block that holds it.
    pub(crate) block: Option<i64>,
}

/// Candidates are ordered by what is known without a look at the item; equal ones are told apart by the item.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Returns the `limit` best candidates that match: highest score first, ties by newer `at`, then by item.
///
/// Most filters let most items pass, so the best candidates are tried first. If too few of them match, the filter is
/// resolved once, into the set of all items that do: so a selective filter costs one scan and never starves the answer.
pub(crate) async fn best(
    connection: &mut SqliteConnection,
    owner: i64,
    filter: &Filter,
    limit: usize,
    candidates: Vec<Candidate>,
) -> Result<Vec<Chosen>> {
    let mut heap = BinaryHeap::from(candidates);
    if *filter == Filter::All {
        return all(connection, owner, limit, &mut heap).await;
    }
    let first = take(&mut heap, limit.saturating_mul(2).saturating_add(32));
    let mut chosen = matching(connection, owner, filter, &first).await?;
    if chosen.len() < limit && !heap.is_empty() {
        let passing = resolve(connection, owner, filter).await?;
        heap.retain(|candidate| passing.contains(&candidate.item));
        let missing = limit - chosen.len();
        chosen.extend(all(connection, owner, missing, &mut heap).await?);
    }
    chosen.truncate(limit);
    Ok(chosen)
}

async fn all(
    connection: &mut SqliteConnection,
    owner: i64,
    limit: usize,
    heap: &mut BinaryHeap<Candidate>,
) -> Result<Vec<Chosen>> {
    let taken = take(heap, limit);
    let mut chosen = matching(connection, owner, &Filter::All, &taken).await?;
    if chosen.len() < taken.len() {
        return Err(corrupt("a search finds an item that is not there"));
    }
    chosen.truncate(limit);
    Ok(chosen)
}

/// Takes the `count` best candidates, and those that tie with the last of them.
fn take(heap: &mut BinaryHeap<Candidate>, count: usize) -> Vec<Candidate> {
    let mut taken: Vec<Candidate> = Vec::with_capacity(count.min(heap.len()));
    while let Some(next) = heap.peek() {
        if taken.len() >= count && taken.last() != Some(next) {
            break;
        }
        taken.extend(heap.pop());
    }
    taken
}

/// Returns those of the candidates that match, in order.
async fn matching(
    connection: &mut SqliteConnection,
    owner: i64,
    filter: &Filter,
    candidates: &[Candidate],
) -> Result<Vec<Chosen>> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = QueryBuilder::new("SELECT item.id, item.item, item.fields, item.block FROM json_each(");
    sql.push_bind(json_numbers(candidates.iter().map(|candidate| candidate.item)));
    sql.push(") AS wanted CROSS JOIN index_item AS item WHERE item.owner = ").push_bind(owner);
    sql.push(" AND item.id = wanted.value AND ");
    push_filter(&mut sql, Place::Index, filter)?;
    let rows: Vec<(i64, String, Vec<u8>, Option<i64>)> =
        sql.build_query_as().fetch_all(connection).await.doing("read the items")?;
    let mut rows: HashMap<_, _> =
        rows.into_iter().map(|(id, item, fields, block)| (id, (item, fields, block))).collect();
    let mut chosen = Vec::with_capacity(rows.len());
    for candidate in candidates {
        if let Some((item, fields, block)) = rows.remove(&candidate.item) {
            let (item, fields) = (read_key(&item)?, Fields::decode(BACKEND, &fields)?);
            chosen.push(Chosen { candidate: *candidate, item, fields, block });
        }
    }
    chosen.sort_by(|a, b| Reverse(a.candidate).cmp(&Reverse(b.candidate)).then_with(|| a.item.cmp(&b.item)));
    Ok(chosen)
}

/// Returns the numbers of all items that match.
async fn resolve(connection: &mut SqliteConnection, owner: i64, filter: &Filter) -> Result<HashSet<i64>> {
    let mut sql = QueryBuilder::new("SELECT item.id FROM index_item AS item WHERE item.owner = ");
    sql.push_bind(owner).push(" AND ");
    push_filter(&mut sql, Place::Index, filter)?;
    let ids: Vec<i64> = sql.build_query_scalar().fetch_all(connection).await.doing("filter the items")?;
    Ok(ids.into_iter().collect())
}
