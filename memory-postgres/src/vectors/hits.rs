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
    let (hits, end) = distinct(sought.query, nearest.pieces);
    Ok(Answer { hits, is_done: is_all || end != End::Pieces, unindexed })
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
        let (hits, end) = distinct(sought.query, approximate::search(connection, sought, owner.id).await?);
        // That a piece lies below the floor says nothing here: the index may have missed some that lie above.
        if end == End::Limit {
            return Ok(hits);
        }
    }
    let mut count = sought.count();
    loop {
        count = count.saturating_mul(8);
        let found = exact::search(connection, sought, Reach::All, count).await?;
        let Some(nearest) = found.nearest else { return Ok(Vec::new()) };
        let is_all = nearest.is_all;
        let (hits, end) = distinct(sought.query, nearest.pieces);
        if is_all || end != End::Pieces {
            return Ok(hits);
        }
    }
}

/// Where hits end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// As many were found as were asked for.
    Limit,
    /// The next piece lies below the floor. No further one lies above it, if the pieces are all of the nearest.
    Floor,
    /// There are no more pieces.
    Pieces,
}

/// Returns one hit per item, at its nearest piece, and where they end.
fn distinct(query: &VectorQuery, mut pieces: Vec<Near>) -> (Vec<VectorHit>, End) {
    pieces.sort_by(|a, b| {
        let order = b.similarity.total_cmp(&a.similarity).then_with(|| b.fields.at.cmp(&a.fields.at));
        order.then_with(|| a.item.cmp(&b.item)).then_with(|| a.piece.cmp(&b.piece))
    });
    let (mut seen, mut hits) = (HashSet::new(), Vec::new());
    for Near { item, piece, similarity, fields, vector } in pieces {
        if query.floor.is_some_and(|floor| similarity < floor.value()) {
            return (hits, End::Floor);
        }
        if !seen.insert(item.clone()) {
            continue;
        }
        let piece = u32::try_from(piece).unwrap_or(u32::MAX);
        hits.push(VectorHit { item, piece, similarity: Similarity::new(similarity), fields, vector });
        if hits.len() == query.limit {
            return (hits, End::Limit);
        }
    }
    (hits, End::Pieces)
}

#[cfg(test)]
mod tests {
    use memory_core::vector::EmbeddingSpace;
    use memory_core::{Fields, Filter, ItemId, MessageId, Seq, SessionId, Timestamp};

    use super::*;

    fn near(number: u8, similarity: f32) -> Near {
        let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
        let item = ItemId::Message(MessageId::of_content(&[number]));
        Near { item, piece: 0, similarity, fields, vector: None }
    }

    fn query(limit: usize, floor: Option<f32>) -> VectorQuery {
        let space = EmbeddingSpace { model: "m".to_owned(), dimension: 2, normalised: true, recipe: "1".to_owned() };
        let (vector, floor) = (vec![1.0, 0.0], floor.map(Similarity::new));
        VectorQuery { space, vector, filter: Filter::All, limit, floor, with_vectors: false }
    }

    #[test]
    fn hits_that_end_at_the_floor_have_not_reached_the_limit() {
        let table = [
            (2, None, 2, End::Limit),
            (9, None, 3, End::Pieces),
            (2, Some(0.5), 2, End::Limit),
            (3, Some(0.5), 2, End::Floor),
            (9, Some(0.0), 3, End::Pieces),
        ];
        for (limit, floor, count, promised) in table {
            let pieces = vec![near(3, 0.1), near(2, 0.7), near(1, 0.9), near(2, 0.8)];
            let (hits, end) = distinct(&query(limit, floor), pieces);
            assert_eq!((hits.len(), end), (count, promised), "{limit} above {floor:?}");
        }
    }
}
