//! Searching: candidates in rounds, until none that was not fetched could be a hit.

mod candidate;
mod pieces;
mod round;

use ::qdrant_client::qdrant::{
    Condition, CountPoints, DenseVector, Filter, MultiDenseVector, Query, QueryBatchPoints, QueryPoints, Range,
    SearchParams, VectorInput, query, vector_input,
};
use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::normalise;
use memory_core::{Epoch, Error, Result, Scope};

use super::index::Index;
use super::tombstone;
use crate::error::{incomplete, unsupported};
use crate::filter::{Clause, Compiled, compile};
use crate::point::{EPOCH, FIELDS, ITEM, OWNER, PIECES, is_of, tombstone_id};
use candidate::Candidate;
use round::{Next, Round};

const DOING: &str = "search vectors";

/// The server leaves out what is exactly as near as its threshold; this is below any difference that counts.
const BELOW_FLOOR: f32 = 1e-6;

/// Returns the hits of a query that was checked.
pub(super) async fn search(index: &Index, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    let VectorQuery { space: _, vector, filter, limit, floor, with_vectors } = query;
    let sought = normalise(vector).ok_or_else(|| Error::invalid("a vector without length has no direction"))?;
    let Compiled { clause, is_exact } = compile(filter)?;
    if clause == Clause::Never {
        return Ok(Vec::new());
    }
    let condition = clause.condition();
    let mut round = Round::first(*limit, !is_exact || is_small(index, scope).await?);
    loop {
        let request = question(index, scope, &sought, condition.as_ref(), query, &round);
        let (below, found) = ask(index, scope, request).await?;
        round.since = round.since.max(below);
        let (count, farthest) = (found.len(), found.last().map(|candidate| candidate.similarity));
        let is_hit = |candidate: &Candidate| {
            candidate.epoch >= below
                && floor.is_none_or(|floor| candidate.similarity >= floor)
                && (is_exact || filter.matches(&candidate.fields))
        };
        let mut hits: Vec<Candidate> = found.into_iter().filter(is_hit).collect();
        hits.sort_by(Candidate::order);
        match round.next(*limit, count, farthest, &hits) {
            Next::Done => {
                hits.truncate(*limit);
                return pieces::hits(index, &sought, hits, *with_vectors).await;
            }
            Next::Again(next) => round = next,
            Next::TooMany => return Err(unsupported("rank more than 100,000 candidates of one search")),
        }
    }
}

/// Returns whether the owner has so few items that all of them are looked at.
async fn is_small(index: &Index, scope: &Scope) -> Result<bool> {
    if index.sizes.is_small(scope.key()) {
        return Ok(true);
    }
    let request = CountPoints {
        collection_name: index.collection.name.clone(),
        filter: Some(Filter::must([is_of(scope)])),
        // An estimate: it comes from the index over owners.
        exact: Some(false),
        read_consistency: index.collection.reads(),
        ..CountPoints::default()
    };
    let is_small = index.server.count("count an owner's items", request).await? <= index.server.config().exact_below;
    if is_small {
        index.sizes.note_small(scope.key());
    }
    Ok(is_small)
}

/// Returns the request for the candidates of a round, and in the same message for the owner's tombstone.
fn question(
    index: &Index,
    scope: &Scope,
    sought: &[f32],
    condition: Option<&Condition>,
    query: &VectorQuery,
    round: &Round,
) -> QueryBatchPoints {
    let mut must = vec![is_of(scope)];
    if round.since > Epoch(0) {
        let since = Range { gte: Some(round.since.0 as f64), ..Range::default() };
        must.push(Condition::range(EPOCH, since));
    }
    must.extend(condition.cloned());
    let name = &index.collection.name;
    let candidates = QueryPoints {
        collection_name: name.clone(),
        query: Some(nearest(sought)),
        filter: Some(Filter::must(must)),
        params: Some(SearchParams { exact: Some(round.is_exact), ..SearchParams::default() }),
        score_threshold: query.floor.map(|floor| floor.value() - BELOW_FLOOR),
        limit: Some(round.fetch as u64),
        with_vectors: Some(query.with_vectors.into()),
        with_payload: Some(vec![OWNER, ITEM, EPOCH, PIECES, FIELDS].into()),
        ..QueryPoints::default()
    };
    let tombstone = QueryPoints {
        collection_name: name.clone(),
        filter: Some(Filter::must([Condition::has_id([tombstone_id(scope)])])),
        limit: Some(1),
        with_payload: Some(true.into()),
        ..QueryPoints::default()
    };
    QueryBatchPoints {
        collection_name: name.clone(),
        query_points: vec![candidates, tombstone],
        read_consistency: index.collection.reads(),
        ..QueryBatchPoints::default()
    }
}

fn nearest(sought: &[f32]) -> Query {
    let one = MultiDenseVector { vectors: vec![DenseVector { data: sought.to_vec() }] };
    let input = VectorInput { variant: Some(vector_input::Variant::MultiDense(one)) };
    Query { variant: Some(query::Variant::Nearest(input)) }
}

/// Returns the epoch below which everything is erased, and the candidates, nearest first.
async fn ask(index: &Index, scope: &Scope, request: QueryBatchPoints) -> Result<(Epoch, Vec<Candidate>)> {
    let mut answers = index.server.query(DOING, request).await?.into_iter();
    let (Some(found), Some(buried)) = (answers.next(), answers.next()) else { return Err(incomplete(DOING)) };
    let below = buried.result.into_iter().next().map_or(Ok(Epoch(0)), |point| tombstone::below(point.payload))?;
    let candidates = found.result.into_iter().map(|point| Candidate::read(scope, point));
    Ok((below, candidates.collect::<Result<_>>()?))
}
