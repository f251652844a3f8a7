//! Searching the vectors of an owner: all of them, or candidates from its own index.

use std::collections::HashSet;

use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::Similarity;
use sqlx::postgres::PgConnection;

use super::approximate;
use super::exact::{self, Reach};
use super::pieces::{Near, Sought};
use crate::error::Attempt;
use crate::index::show;

/// The answer of a search.
pub(super) struct Answer {
    pub(super) hits: Vec<VectorHit>,
    /// Whether it is final.
    pub(super) is_done: bool,
    /// The owner's number and how many vectors it has, if its own index is missing.
    pub(super) unindexed: Option<(i64, i64)>,
}

/// Compares all vectors of an owner that has few, in one statement, which suffices for most searches.
pub(super) async fn first(connection: &mut PgConnection, sought: &Sought<'_>, exact_below: i64) -> Attempt<Answer> {
    let found = exact::search(connection, sought, Reach::Few(exact_below), sought.count()).await?;
    let Some(owner) = found.owner else { return Ok(Answer { hits: Vec::new(), is_done: true, unindexed: None }) };
    let is_unindexed = owner.is_many && !owner.is_indexed && sought.table.is_indexable;
    let unindexed = is_unindexed.then_some((owner.id, owner.rows));
    let Some(nearest) = found.nearest else { return Ok(Answer { hits: Vec::new(), is_done: false, unindexed }) };
    let is_all = nearest.is_all;
    let (hits, is_full) = distinct(sought.query, nearest.pieces);
    Ok(Answer { hits, is_done: is_full || is_all, unindexed })
}

/// Asks the owner's own index, if there is one and the limit is not too large. If that does not suffice, compares all vectors,
/// asking for more and more pieces while several of one item take up the limit.
pub(super) async fn further(
    connection: &mut PgConnection,
    sought: &Sought<'_>,
    exact_below: i64,
) -> Attempt<Vec<VectorHit>> {
    show(connection, sought.scope).await?;
    let known = exact::search(connection, sought, Reach::Few(exact_below), 1).await?;
    if let (Some(owner), None, true) = (known.owner, known.nearest, sought.query.limit <= approximate::MOST_HITS) {
        let (hits, is_full) = distinct(sought.query, approximate::search(connection, sought, owner.id).await?);
        if is_full {
            return Ok(hits);
        }
    }
    let mut count = sought.count();
    loop {
        count = count.saturating_mul(8);
        let found = exact::search(connection, sought, Reach::All, count).await?;
        let Some(nearest) = found.nearest else { return Ok(Vec::new()) };
        let is_all = nearest.is_all;
        let (hits, is_full) = distinct(sought.query, nearest.pieces);
        if is_full || is_all {
            return Ok(hits);
        }
    }
}

/// Returns one hit per item, at its nearest piece, and whether the limit is reached.
fn distinct(query: &VectorQuery, mut pieces: Vec<Near>) -> (Vec<VectorHit>, bool) {
    pieces.sort_by(|a, b| {
        let order = b.similarity.total_cmp(&a.similarity).then_with(|| b.fields.at.cmp(&a.fields.at));
        order.then_with(|| a.item.cmp(&b.item)).then_with(|| a.piece.cmp(&b.piece))
    });
    let (mut seen, mut hits) = (HashSet::new(), Vec::new());
    for Near { item, piece, similarity, fields, vector } in pieces {
        if query.floor.is_some_and(|floor| similarity < floor.value()) {
            return (hits, true);
        }
        if !seen.insert(item.clone()) {
            continue;
        }
        let piece = u32::try_from(piece).unwrap_or(u32::MAX);
        hits.push(VectorHit { item, piece, similarity: Similarity::new(similarity), fields, vector });
        if hits.len() == query.limit {
            return (hits, true);
        }
    }
    (hits, false)
}
