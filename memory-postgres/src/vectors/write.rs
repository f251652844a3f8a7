//! Putting and deleting the vectors of an owner.

use memory_core::store::text::Deletion;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Error, ItemId, Result, Scope, Version};
use pgvector::Vector;
use sqlx::QueryBuilder;
use sqlx::postgres::PgConnection;

use super::table::Table;
use crate::error::{Attempt, Doing};
use crate::index::columns::{self, Columns};
use crate::index::owner::{number, version, whole};
use crate::index::{Incoming, Owner, key, newest};

/// Where an owner's totals have the number of rows.
const ROWS: usize = 0;

const PUT: &str = "put vectors";

/// Returns the entry with its vectors at unit length.
///
/// # Errors
/// `Invalid` for an entry without pieces, or with one that the space does not take.
pub(super) fn prepare(space: &EmbeddingSpace, entry: &VectorEntry) -> Result<Incoming<Vec<Vector>>> {
    let VectorEntry { item, version, pieces, fields } = entry;
    if pieces.is_empty() {
        return Err(Error::invalid("an entry needs at least one vector"));
    }
    let mut content = Vec::with_capacity(pieces.len());
    for piece in pieces {
        space.check_vector(piece)?;
        content.push(Vector::from(normalise(piece).unwrap_or_default()));
    }
    Ok(Incoming { item: item.clone(), version: *version, fields: fields.clone(), content })
}

/// Puts entries of an owner, and returns the owner's number with the rows that it now has.
pub(super) async fn put(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    entries: &[Incoming<Vec<Vector>>],
) -> Attempt<(i64, i64)> {
    let mut owner = Owner::intern(connection, scope, &table.name).await?;
    let below = owner.below;
    let entries = newest(entries.iter().filter(|entry| whole(entry.version.epoch.0) >= below));
    let rows = owner.total(ROWS);
    if entries.is_empty() {
        return Ok((owner.id, rows));
    }
    let deleted = delete_older(connection, &owner, table, &entries).await?;
    let inserted = insert(connection, &owner, table, &entries).await?;
    if inserted != deleted {
        owner.set_total(ROWS, rows + inserted - deleted);
        owner.save(connection).await?;
    }
    Ok((owner.id, owner.total(ROWS)))
}

/// Deletes what the entries replace: all pieces of their items that are not newer.
async fn delete_older(
    connection: &mut PgConnection,
    owner: &Owner,
    table: &Table,
    entries: &[&Incoming<Vec<Vector>>],
) -> Attempt<i64> {
    let items: Vec<_> = entries.iter().map(|entry| key::encode(&entry.item)).collect();
    let (epochs, revisions): (Vec<_>, Vec<_>) =
        entries.iter().map(|entry| (whole(entry.version.epoch.0), whole(entry.version.revision))).unzip();
    let mut sql = QueryBuilder::new("DELETE FROM ");
    sql.push(&table.table).push(" AS old USING unnest(").push_bind(items).push(", ").push_bind(epochs).push(", ");
    sql.push_bind(revisions).push(") AS new (item, epoch, revision) WHERE old.scope = ").push_bind(owner.scope.key());
    sql.push(" AND old.owner = ").push_bind(owner.id).push(" AND old.item = new.item");
    sql.push(" AND (old.epoch, old.revision) <= (new.epoch, new.revision)");
    let deleted = sql.build().execute(connection).await.doing(PUT)?;
    Ok(whole(deleted.rows_affected()))
}

/// Inserts the pieces of items of which nothing newer was left.
async fn insert(
    connection: &mut PgConnection,
    owner: &Owner,
    table: &Table,
    entries: &[&Incoming<Vec<Vector>>],
) -> Attempt<i64> {
    let (mut items, mut pieces, mut epochs, mut revisions) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut embeddings, mut columns) = (Vec::new(), Columns::default());
    for Incoming { item, version, fields, content } in entries.iter().copied() {
        for (piece, embedding) in (0_i64..).zip(content) {
            items.push(key::encode(item));
            pieces.push(piece);
            epochs.push(whole(version.epoch.0));
            revisions.push(whole(version.revision));
            embeddings.push(embedding.clone());
            columns.add(fields);
        }
    }
    let mut sql = QueryBuilder::new("INSERT INTO ");
    sql.push(&table.table).push(" (scope, owner, item, piece, epoch, revision, embedding, ").push(columns::NAMES);
    sql.push(") SELECT ").push_bind(owner.scope.key()).push(", ").push_bind(owner.id);
    sql.push(", new.item, new.piece, new.epoch, new.revision, new.embedding, ").push(columns::SELECTED);
    sql.push(" FROM unnest(").push_bind(items).push(", ").push_bind(pieces).push(", ").push_bind(epochs).push(", ");
    sql.push_bind(revisions).push(", ").push_bind(embeddings).push(", ");
    columns.push(&mut sql);
    sql.push(") AS new (item, piece, epoch, revision, embedding, ").push(columns::NAMES);
    sql.push(") WHERE NOT EXISTS (SELECT 1 FROM ").push(&table.table).push(" AS old WHERE old.scope = ");
    sql.push_bind(owner.scope.key()).push(" AND old.owner = ").push_bind(owner.id).push(" AND old.item = new.item)");
    let inserted = sql.build().execute(connection).await.doing(PUT)?;
    Ok(whole(inserted.rows_affected()))
}

/// Returns the versions of those of the items that are stored.
pub(super) async fn versions(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    items: &[ItemId],
) -> Attempt<Vec<(ItemId, Version)>> {
    let Some(owner) = number(connection, scope, &table.name).await? else { return Ok(Vec::new()) };
    let mut sql = QueryBuilder::new("SELECT DISTINCT item, epoch, revision FROM ");
    sql.push(&table.table).push(" WHERE scope = ").push_bind(scope.key()).push(" AND owner = ").push_bind(owner);
    sql.push(" AND item = ANY (").push_bind(items.iter().map(key::encode).collect::<Vec<_>>()).push(")");
    let rows: Vec<(Vec<u8>, i64, i64)> = sql.build_query_as().fetch_all(connection).await.doing("read versions")?;
    rows.into_iter().map(|(item, epoch, revision)| Ok((key::decode(&item)?, version(epoch, revision)?))).collect()
}

/// Returns up to `limit` of the items after `after` that are stored, in their order.
pub(super) async fn scan(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    after: Option<&ItemId>,
    limit: i64,
) -> Attempt<Vec<(ItemId, Version)>> {
    let Some(owner) = number(connection, scope, &table.name).await? else { return Ok(Vec::new()) };
    let mut sql = QueryBuilder::new("SELECT item, epoch, revision FROM ");
    sql.push(&table.table).push(" WHERE scope = ").push_bind(scope.key()).push(" AND owner = ").push_bind(owner);
    // No item has no bytes; each has a first piece.
    sql.push(" AND item > ").push_bind(after.map(key::encode).unwrap_or_default());
    sql.push(" AND piece = 0 ORDER BY item LIMIT ").push_bind(limit);
    let rows: Vec<(Vec<u8>, i64, i64)> = sql.build_query_as().fetch_all(connection).await.doing("list the items")?;
    rows.into_iter().map(|(item, epoch, revision)| Ok((key::decode(&item)?, version(epoch, revision)?))).collect()
}

/// An owner of whom rows were deleted.
pub(super) struct Shrunk {
    /// The owner's number.
    pub(super) owner: i64,
    before: i64,
    after: i64,
}

impl Shrunk {
    /// Returns whether the owner had more than `rows`, and has no more of them now.
    pub(super) fn is_below(&self, rows: i64) -> bool {
        self.before > rows && self.after <= rows
    }
}

/// Deletes items of an owner, or the messages and spans of a session: a record outlives the session it was made in.
/// What is newer than the deletion says stays.
pub(super) async fn delete(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    what: &Deletion,
) -> Attempt<Option<Shrunk>> {
    let Some(owner) = Owner::find(connection, scope, &table.name).await? else { return Ok(None) };
    let mut sql = QueryBuilder::new("DELETE FROM ");
    sql.push(&table.table).push(" AS item");
    match what {
        Deletion::Items(items) => {
            let (items, bounds): (Vec<_>, Vec<_>) = key::bounds(items).into_iter().unzip();
            let (epochs, revisions): (Vec<_>, Vec<_>) = bounds.into_iter().unzip();
            sql.push(" USING unnest(").push_bind(items).push(", ").push_bind(epochs).push(", ");
            sql.push_bind(revisions).push(") AS gone (item, epoch, revision) WHERE item.item = gone.item");
            sql.push(" AND (item.epoch, item.revision) <= (gone.epoch, gone.revision)");
        }
        Deletion::Session(session, through) => {
            let spans = key::spans(session);
            sql.push(" WHERE (item.session = ").push_bind(session.name().as_bytes().to_vec());
            sql.push(" AND item.item < ").push_bind(key::BEHIND_MESSAGES);
            sql.push(" OR item.item >= ").push_bind(spans.start).push(" AND item.item < ").push_bind(spans.end);
            sql.push(") AND (item.epoch, item.revision) <= (").push_bind(whole(through.epoch.0)).push(", ");
            sql.push_bind(whole(through.revision)).push(")");
        }
    }
    sql.push(" AND item.scope = ").push_bind(scope.key()).push(" AND item.owner = ").push_bind(owner.id);
    let deleted = sql.build().execute(&mut *connection).await.doing("delete vectors")?;
    remove_rows(connection, owner, whole(deleted.rows_affected())).await.map(Some)
}

/// Takes rows out of the owner's total.
pub(super) async fn remove_rows(connection: &mut PgConnection, mut owner: Owner, rows: i64) -> Attempt<Shrunk> {
    let before = owner.total(ROWS);
    owner.set_total(ROWS, before - rows);
    owner.save(connection).await?;
    Ok(Shrunk { owner: owner.id, before, after: before - rows })
}
