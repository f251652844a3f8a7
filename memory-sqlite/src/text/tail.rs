//! The rows of tails: the newest documents of a unit, each with its own terms.

use std::collections::{BTreeMap, HashSet};

use memory_core::posting::{Cut, Shape, TailDocument, Totals};
use memory_core::{Result, Timestamp, Unit};
use sqlx::SqliteConnection;

use super::segment::Segment;
use crate::error::Doing;
use crate::index::rows::{Packed, insert, json_numbers};
use crate::index::{Owner, corrupt};

/// Reads the documents of a tail, packed into one row.
pub(super) const LOAD: &str = "SELECT group_concat(item || ' ' || stamp || ' ' || length || ' ' || at || ' ' || \
     length(terms), ' '), CAST(group_concat(CAST(terms AS TEXT), '') AS BLOB) FROM text_tail WHERE owner = ? AND unit = ?";

/// With each further so many documents a tail may be longer by its usual length: folds become rarer as they take longer.
const GROWTH: i64 = 5_000;

/// How many times its usual length a tail may have. Each search for new words reads it.
const LONGEST: i64 = 4;

const DOING: &str = "write the newest documents";

/// Which items were folded into which segment.
pub(super) type Folded = BTreeMap<i64, Vec<i64>>;

/// Adds new documents to the tail, and folds the oldest ones if it grows too long.
pub(super) async fn add(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    shape: Shape,
    (unit, totals): (Unit, &mut Totals),
    new: &[TailDocument],
) -> Result<Folded> {
    let shape = Shape { tail: shape.tail * (totals.documents / GROWTH).clamp(1, LONGEST), ..shape };
    if totals.add(new, &shape) {
        store(connection, owner.id, unit, new).await?;
        return Ok(Folded::new());
    }
    let stored = load(connection, owner.id, unit).await?;
    let Cut { old, fresh } = totals.cut(stored, new, &shape);
    let folded = fold(connection, owner, shape, unit, &old).await?;
    delete(connection, owner.id, unit, old.iter().map(|document| document.item)).await?;
    store(connection, owner.id, unit, &fresh).await?;
    Ok(folded)
}

async fn fold(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    shape: Shape,
    unit: Unit,
    documents: &[TailDocument],
) -> Result<Folded> {
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
            return Err(corrupt("a segment with room has none"));
        }
        let items = rest.iter().take(taken).map(|document| document.item);
        folded.entry(segment.number).or_default().extend(items);
        rest = later;
    }
    Ok(folded)
}

/// Returns the documents of the tail.
pub(super) async fn load(connection: &mut SqliteConnection, owner: i64, unit: Unit) -> Result<Vec<TailDocument>> {
    let read = sqlx::query_as(LOAD).bind(owner).bind(unit.name());
    let packed: Packed = read.fetch_one(connection).await.doing("read the newest documents")?;
    let documents: Option<Vec<TailDocument>> = packed.rows::<4>()?.into_iter().map(document).collect();
    documents.ok_or_else(|| corrupt("the newest documents have numbers that are none"))
}

fn document(([item, stamp, length, at], terms): ([&str; 4], &[u8])) -> Option<TailDocument> {
    let (item, stamp, at) = (item.parse().ok()?, stamp.parse().ok()?, Timestamp(at.parse().ok()?));
    Some(TailDocument { item, stamp, length: length.parse().ok()?, at, terms: terms.to_owned() })
}

/// Removes items, also from the totals.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    owner: i64,
    unit: Unit,
    items: &HashSet<i64>,
    totals: &mut Totals,
) -> Result<()> {
    let documents = load(connection, owner, unit).await?;
    let removed: Vec<_> = documents.iter().filter(|document| items.contains(&document.item)).collect();
    if removed.len() < items.len() {
        return Err(corrupt("the newest documents lack one"));
    }
    for document in &removed {
        totals.remove_from_tail(i64::from(document.length), document.bytes());
    }
    delete(connection, owner, unit, items.iter().copied()).await
}

async fn store(connection: &mut SqliteConnection, owner: i64, unit: Unit, documents: &[TailDocument]) -> Result<()> {
    let head = "INSERT INTO text_tail (owner, unit, item, stamp, length, at, terms) ";
    insert(connection, head, documents, |columns, document| {
        let TailDocument { item, stamp, length, at, terms } = document;
        columns.push_bind(owner).push_bind(unit.name()).push_bind(*item).push_bind(*stamp);
        columns.push_bind(*length).push_bind(at.0).push_bind(terms.clone());
    })
    .await
}

async fn delete(
    connection: &mut SqliteConnection,
    owner: i64,
    unit: Unit,
    items: impl Iterator<Item = i64>,
) -> Result<()> {
    let sql = "DELETE FROM text_tail WHERE owner = ? AND unit = ? AND item IN (SELECT value FROM json_each(?))";
    let deleted = sqlx::query(sql).bind(owner).bind(unit.name()).bind(json_numbers(items)).execute(connection).await;
    deleted.map(|_| ()).doing(DOING)
}
