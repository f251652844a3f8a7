//! Searching a text index.

mod evidence;

use memory_core::rank::{Bm25, TermWeights};
use memory_core::text::{TextHit, TextHits, TextQuery};
use memory_core::{Result, Scope, Unit};
use sqlx::SqliteConnection;

use super::segment::damaged;
use super::statistics;
use super::tail;
use crate::error::Doing;
use crate::index::rows::json_keys;
use crate::index::{Candidate, Chosen, Owner, best};
use crate::posting::{decode_documents, visit_postings};

use evidence::{Evidence, Query};

/// Reads the documents of each segment.
pub(super) const SEGMENTS: &str =
    "SELECT segment, documents FROM text_segment WHERE owner = ? AND unit = ? ORDER BY segment";

/// Reads the posting lists of a query's terms: the segment, the term's place in the query, the list.
pub(super) const LISTS: &str = "SELECT segment.segment, wanted.key, list.postings \
     FROM text_segment AS segment CROSS JOIN json_each(?) AS wanted CROSS JOIN text_posting AS list \
     WHERE segment.owner = ? AND segment.unit = ? \
     AND list.owner = segment.owner AND list.segment = segment.segment AND list.term = wanted.value \
     ORDER BY segment.segment";

const DOING: &str = "search the posting lists";

/// Returns the evidence for a query of one owner.
pub(super) async fn search(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    query: &TextQuery,
) -> Result<TextHits> {
    let TextQuery { terms, unit, filter, limit } = query;
    let Some(owner) = Owner::find(connection, scope, name).await? else {
        return Ok(TextHits { containing: vec![0; terms.len()], ..TextHits::default() });
    };
    let totals = statistics::load(connection, owner.id).await?.get(unit).copied().unwrap_or_default();
    let query = Query::new(terms);
    let mut evidence = Evidence::new(terms.len());
    read_segments(connection, owner.id, *unit, &query, &mut evidence).await?;
    for document in tail::load(connection, owner.id, *unit).await? {
        evidence.read_tail(&query, &document).map_err(damaged)?;
    }
    let documents = u64::try_from(totals.documents).unwrap_or(0);
    let mean_length = if documents == 0 { 0.0 } else { (totals.length as f64 / documents as f64) as f32 };
    let containing = evidence.containing().to_vec();
    let weights = TermWeights::new(&Bm25::default(), documents, mean_length, &containing);
    let candidates = evidence.candidates(&weights);
    let chosen = best(connection, owner.id, filter, *limit, candidates).await?;
    let hits = chosen.into_iter().map(|chosen| hit(&evidence, chosen)).collect();
    Ok(TextHits { documents, mean_length, containing, hits })
}

fn hit(evidence: &Evidence, chosen: Chosen) -> TextHit {
    let Chosen { candidate: Candidate { place, .. }, item, fields, block: _ } = chosen;
    let (own, near, length) = evidence.counts(place);
    TextHit { item, own, near, length, fields }
}

async fn read_segments(
    connection: &mut SqliteConnection,
    owner: i64,
    unit: Unit,
    query: &Query<'_>,
    evidence: &mut Evidence,
) -> Result<()> {
    let lists = read_lists(connection, owner, unit, query).await?;
    let mut lists = lists.iter().peekable();
    let rows: Vec<(i64, Vec<u8>)> =
        sqlx::query_as(SEGMENTS).bind(owner).bind(unit.name()).fetch_all(connection).await.doing(DOING)?;
    for (segment, documents) in rows {
        let documents = decode_documents(&documents).map_err(damaged)?;
        while let Some((_, term, list)) = lists.next_if(|(of, ..)| *of == segment) {
            visit_postings(list, |posting| evidence.note(*term, posting)).map_err(damaged)?;
        }
        evidence.end_segment(&documents).map_err(damaged)?;
    }
    Ok(())
}

/// Returns the posting lists of the query's terms: the segment, the term's place in the query, the list.
async fn read_lists(
    connection: &mut SqliteConnection,
    owner: i64,
    unit: Unit,
    query: &Query<'_>,
) -> Result<Vec<(i64, u32, Vec<u8>)>> {
    sqlx::query_as(LISTS)
        .bind(json_keys(query.terms()))
        .bind(owner)
        .bind(unit.name())
        .fetch_all(connection)
        .await
        .doing(DOING)
}
