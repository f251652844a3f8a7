//! The rows of tails: the newest documents of a unit, each with its own terms.

use std::collections::{BTreeMap, HashSet};

use memory_core::posting::{Cut, Shape, TailDocument};
use memory_core::{Timestamp, Unit};
use sqlx::postgres::PgConnection;

use super::segment::Segment;
use super::statistics;
use crate::error::{Attempt, Doing};
use crate::index::{Owner, corrupt};

const DOING: &str = "write the newest documents";

/// Which items were folded into which segment.
pub(super) type Folded = BTreeMap<i64, Vec<i64>>;

/// Adds new documents to the tail, and folds the oldest ones if it grows too long.
pub(super) async fn add(
    connection: &mut PgConnection,
    owner: &mut Owner,
    shape: Shape,
    unit: Unit,
    new: &[TailDocument],
) -> Attempt<Folded> {
    let mut totals = statistics::of(owner, unit);
    if totals.add(new, &shape) {
        statistics::set(owner, unit, totals);
        store(connection, owner, unit, new).await?;
        return Ok(Folded::new());
    }
    let stored = load(connection, owner, unit).await?;
    let Cut { old, fresh } = totals.cut(stored, new, &shape);
    statistics::set(owner, unit, totals);
    let folded = fold(connection, owner, shape, unit, &old).await?;
    delete(connection, owner, unit, old.iter().map(|document| document.item).collect()).await?;
    store(connection, owner, unit, &fresh).await?;
    Ok(folded)
}

async fn fold(
    connection: &mut PgConnection,
    owner: &mut Owner,
    shape: Shape,
    unit: Unit,
    documents: &[TailDocument],
) -> Attempt<Folded> {
    let mut folded = Folded::new();
    let mut rest = documents;
    while !rest.is_empty() {
        // Enough documents for a whole segment make a new one, which saves reading another's lists.
        let mut segment = match rest.len() < shape.documents {
            true => Segment::with_room(connection, owner, shape, unit).await?,
            false => Segment::new(owner, unit),
        };
        let later = segment.fill(connection, owner, shape, rest).await?;
        let taken = rest.len() - later.len();
        if taken == 0 {
            return Err(corrupt("a segment with room has none").into());
        }
        let items = rest.iter().take(taken).map(|document| document.item);
        folded.entry(segment.number).or_default().extend(items);
        rest = later;
    }
    Ok(folded)
}

/// Returns the documents of the tail.
async fn load(connection: &mut PgConnection, owner: &Owner, unit: Unit) -> Attempt<Vec<TailDocument>> {
    let sql = "SELECT item, stamp, length, at, terms FROM text_tail WHERE scope = $1 AND owner = $2 AND unit = $3";
    let rows: Vec<(i64, i64, i64, i64, Vec<u8>)> = sqlx::query_as(sql)
        .bind(owner.scope.key())
        .bind(owner.id)
        .bind(unit.name().as_bytes())
        .fetch_all(connection)
        .await
        .doing("read the newest documents")?;
    let document = |(item, stamp, length, at, terms)| TailDocument {
        item,
        stamp,
        length: u32::try_from(length).unwrap_or(u32::MAX),
        at: Timestamp(at),
        terms,
    };
    Ok(rows.into_iter().map(document).collect())
}

/// Removes items, also from the totals.
pub(super) async fn remove(
    connection: &mut PgConnection,
    owner: &mut Owner,
    unit: Unit,
    items: &HashSet<i64>,
) -> Attempt<()> {
    let sql = "DELETE FROM text_tail WHERE scope = $1 AND owner = $2 AND unit = $3 AND item = ANY ($4) \
         RETURNING length, octet_length(terms)::int8";
    let removed: Vec<(i64, i64)> = sqlx::query_as(sql)
        .bind(owner.scope.key())
        .bind(owner.id)
        .bind(unit.name().as_bytes())
        .bind(items.iter().copied().collect::<Vec<_>>())
        .fetch_all(connection)
        .await
        .doing(DOING)?;
    if removed.len() < items.len() {
        return Err(corrupt("the newest documents lack one").into());
    }
    let mut totals = statistics::of(owner, unit);
    for (length, bytes) in removed {
        totals.remove_from_tail(length, bytes);
    }
    statistics::set(owner, unit, totals);
    Ok(())
}

async fn store(connection: &mut PgConnection, owner: &Owner, unit: Unit, documents: &[TailDocument]) -> Attempt<()> {
    let (mut items, mut stamps, mut lengths, mut times, mut terms) = (vec![], vec![], vec![], vec![], vec![]);
    for TailDocument { item, stamp, length, at, terms: packed } in documents {
        items.push(*item);
        stamps.push(*stamp);
        lengths.push(i64::from(*length));
        times.push(at.0);
        terms.push(packed.as_slice());
    }
    let sql = "INSERT INTO text_tail (scope, owner, unit, item, stamp, length, at, terms) \
         SELECT $1, $2, $3, new.* FROM unnest($4, $5, $6, $7, $8) AS new (item, stamp, length, at, terms)";
    let store = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(unit.name().as_bytes());
    let store = store.bind(items).bind(stamps).bind(lengths).bind(times).bind(terms);
    store.execute(connection).await.doing(DOING).map(|_| ())
}

async fn delete(connection: &mut PgConnection, owner: &Owner, unit: Unit, items: Vec<i64>) -> Attempt<()> {
    let sql = "DELETE FROM text_tail WHERE scope = $1 AND owner = $2 AND unit = $3 AND item = ANY ($4)";
    let delete = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(unit.name().as_bytes());
    delete.bind(items).execute(connection).await.doing(DOING).map(|_| ())
}
