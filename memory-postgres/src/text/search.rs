//! Searching a text index.
//!
//! One statement reads the owner's statistics, the posting lists of the query's terms, and the documents in them, which are
//! ranked here with core's weights. A second one reads the items of the best documents, and filters.

use memory_core::posting::{Document, Evidence, Query, Totals, decode_documents, visit_postings};
use memory_core::rank::Bm25;
use memory_core::store::text::{TextHit, TextHits, TextQuery};
use memory_core::{Scope, Timestamp};
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use super::segment::damaged;
use super::select::{Chosen, SearchedOwner, best};
use super::statistics::places;
use crate::error::{Attempt, Doing};

const DOING: &str = "search the posting lists";

/// Reads an owner (`kind` 0), the documents of its segments (3), the lists of the query's terms (2) and the documents of the
/// tail (1): all of one snapshot, in the order in which they are processed.
///
/// It first sets the owner for row-level security. Limits and offsets keep the order of the parts: the planner never merges
/// them, and each needs the answers of those before it.
const READ: &str = "WITH shown AS MATERIALIZED (SELECT set_config('memory.scope', $1, true) AS scope), \
     mine AS MATERIALIZED (SELECT found.* FROM shown CROSS JOIN LATERAL (SELECT id, next, \
     coalesce(totals[$4], 0) AS documents, coalesce(totals[$5], 0) AS length FROM index_owner \
     WHERE scope = shown.scope AND name = $2 AND NOT buried LIMIT 1) AS found), \
     parts AS MATERIALIZED (SELECT segment.segment, segment.documents FROM mine CROSS JOIN LATERAL (\
     SELECT segment, documents FROM text_segment WHERE scope = $1 AND owner = mine.id AND unit = $3 OFFSET 0) AS segment) \
     SELECT 0::int8 AS kind, id AS a, documents AS b, length AS c, next AS d, NULL::bytea AS bytes FROM mine \
     UNION ALL SELECT 1, tail.item, tail.length, tail.at, 0, tail.terms FROM mine CROSS JOIN LATERAL (\
     SELECT item, length, at, terms FROM text_tail WHERE scope = $1 AND owner = mine.id AND unit = $3 OFFSET 0) AS tail \
     UNION ALL SELECT 2, parts.segment, wanted.place, 0, 0, list.postings FROM mine CROSS JOIN parts \
     CROSS JOIN unnest($6) WITH ORDINALITY AS wanted (term, place) CROSS JOIN LATERAL (\
     SELECT postings FROM text_posting WHERE scope = $1 AND owner = mine.id AND segment = parts.segment \
     AND term = wanted.term OFFSET 0) AS list \
     UNION ALL SELECT 3, segment, 0, 0, 0, documents FROM parts \
     ORDER BY kind, a, b";

/// Returns the evidence for a query of one owner; none if the owner's index was written between two statements.
pub(super) async fn search(
    connection: &mut PgConnection,
    scope: &Scope,
    name: &str,
    query: &TextQuery,
) -> Attempt<Option<TextHits>> {
    let TextQuery { terms, unit, filter, limit } = query;
    let [documents, length, _] = places(*unit).map(|place| place as i32 + 1);
    let rows = sqlx::query(READ)
        .bind(scope.key())
        .bind(name)
        .bind(unit.name().as_bytes())
        .bind(documents)
        .bind(length)
        .bind(terms.iter().map(|term| term.as_str()).collect::<Vec<_>>())
        .fetch_all(&mut *connection)
        .await
        .doing(DOING)?;
    let Some((mine, rows)) = rows.split_first() else {
        return Ok(Some(TextHits { containing: vec![0; terms.len()], ..TextHits::default() }));
    };
    let [owner, documents, length] = numbers(mine)?;
    let state = SearchedOwner { scope, owner, next: mine.try_get("d").doing(DOING)? };
    let totals = Totals { documents, length, tail_bytes: 0 };
    let evidence = weigh(&Query::new(terms), terms.len(), rows)?;
    let containing = evidence.containing().to_vec();
    let candidates = evidence.candidates(&Bm25::default(), totals.count(), totals.mean_length());
    let Some(chosen) = best(connection, state, filter, *limit, candidates).await? else { return Ok(None) };
    let counts = evidence.counts(chosen.iter().map(|chosen| chosen.candidate.place));
    let hit =
        |(Chosen { candidate: _, item, fields }, (own, near, length))| TextHit { item, own, near, length, fields };
    let hits = chosen.into_iter().zip(counts).map(hit).collect();
    Ok(Some(TextHits { documents: totals.count(), mean_length: totals.mean_length(), containing, hits }))
}

/// Takes in the rows of [`READ`] after the first.
fn weigh(query: &Query<'_>, terms: usize, rows: &[PgRow]) -> Attempt<Evidence> {
    let mut evidence = Evidence::new(terms);
    let mut lists = Vec::new();
    for row in rows {
        let kind: i64 = row.try_get("kind").doing(DOING)?;
        let [first, second, third] = numbers(row)?;
        // Borrowed, because a copy of every list would cost as much as reading it.
        let bytes: &[u8] = row.try_get("bytes").doing(DOING)?;
        match kind {
            1 => {
                let length = u32::try_from(second).unwrap_or(u32::MAX);
                let document = Document { slot: 0, item: first, length, at: Timestamp(third) };
                evidence.read_tail(query, document, bytes).map_err(damaged)?;
            }
            2 => lists.push((first, u32::try_from(second - 1).unwrap_or(u32::MAX), bytes)),
            _ => {
                let documents = decode_documents(bytes).map_err(damaged)?;
                let from = lists.partition_point(|(segment, ..)| *segment < first);
                let of_segment = lists.iter().skip(from).take_while(|(segment, ..)| *segment == first);
                for (_, term, list) in of_segment {
                    visit_postings(list, |posting| evidence.note(*term, posting)).map_err(damaged)?;
                }
                evidence.end_segment(&documents).map_err(damaged)?;
            }
        }
    }
    Ok(evidence)
}

fn numbers(row: &PgRow) -> Attempt<[i64; 3]> {
    let number = |name: &str| row.try_get::<i64, _>(name).doing(DOING);
    Ok([number("a")?, number("b")?, number("c")?])
}
