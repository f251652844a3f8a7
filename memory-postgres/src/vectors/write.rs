//! Putting and deleting the vectors of an owner.

use memory_core::store::text::Deletion;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Error, ItemId, Result, Scope, Version};
use pgvector::Vector;
use sqlx::postgres::PgConnection;

use super::table::Table;
use crate::error::{Attempt, Doing};
use crate::index::columns::{self, Columns};
use crate::index::owner::{number, version, whole};
use crate::index::{Incoming, Owner, key, newest};
use crate::statement::fill;

/// The place of the number of rows among an owner's totals.
const ROWS: usize = 0;

const PUT: &str = "put vectors";

/// Returns the entry with its vectors at unit length.
///
/// # Errors
/// `Invalid` for an entry without pieces, or with a vector that does not belong to the space.
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

/// Deletes the pieces that the entries replace: all pieces of their items that are not newer.
async fn delete_older(
    connection: &mut PgConnection,
    owner: &Owner,
    table: &Table,
    entries: &[&Incoming<Vec<Vector>>],
) -> Attempt<i64> {
    let items: Vec<_> = entries.iter().map(|entry| key::encode(&entry.item)).collect();
    let (epochs, revisions): (Vec<_>, Vec<_>) =
        entries.iter().map(|entry| (whole(entry.version.epoch.0), whole(entry.version.revision))).unzip();
    let text = "DELETE FROM {table} AS old USING unnest($3, $4, $5) AS new (item, epoch, revision) \
         WHERE old.scope = $1 AND old.owner = $2 AND old.item = new.item \
         AND (old.epoch, old.revision) <= (new.epoch, new.revision)";
    let mut sql = fill(text, &[("table", &table.table)]);
    let delete = sql.build().bind(owner.scope.key()).bind(owner.id).bind(items).bind(epochs).bind(revisions);
    let deleted = delete.execute(connection).await.doing(PUT)?;
    Ok(whole(deleted.rows_affected()))
}

/// Inserts the pieces of items of which no newer ones are left.
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
    let text = "INSERT INTO {table} (scope, owner, item, piece, epoch, revision, embedding, {names}) \
         SELECT $15, $16, new.item, new.piece, new.epoch, new.revision, new.embedding, {selected} \
         FROM unnest($17, $18, $19, $20, $21, {values}) \
         AS new (item, piece, epoch, revision, embedding, {names}) WHERE NOT EXISTS \
         (SELECT 1 FROM {table} AS old WHERE old.scope = $15 AND old.owner = $16 AND old.item = new.item)";
    let (names, selected, values) = (columns::NAMES, columns::SELECTED, columns::VALUES);
    let holes = [("table", table.table.as_str()), ("names", names), ("selected", selected), ("values", values)];
    let mut sql = fill(text, &holes);
    let insert = columns.bind(sql.build()).bind(owner.scope.key()).bind(owner.id);
    let insert = insert.bind(items).bind(pieces).bind(epochs).bind(revisions).bind(embeddings);
    let inserted = insert.execute(connection).await.doing(PUT)?;
    Ok(whole(inserted.rows_affected()))
}

/// Returns the versions of the items that are stored.
pub(super) async fn versions(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    items: &[ItemId],
) -> Attempt<Vec<(ItemId, Version)>> {
    let Some(owner) = number(connection, scope, &table.name).await? else { return Ok(Vec::new()) };
    let text = "SELECT DISTINCT item, epoch, revision FROM {table} WHERE scope = $1 AND owner = $2 AND item = ANY ($3)";
    let mut sql = fill(text, &[("table", &table.table)]);
    let items: Vec<_> = items.iter().map(key::encode).collect();
    let rows = sql.build_query_as().bind(scope.key()).bind(owner).bind(items).fetch_all(connection);
    let rows: Vec<(Vec<u8>, i64, i64)> = rows.await.doing("read versions")?;
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
    // Every item has a first piece.
    let text = "SELECT item, epoch, revision FROM {table} \
         WHERE scope = $1 AND owner = $2 AND item > $3 AND piece = 0 ORDER BY item LIMIT $4";
    let mut sql = fill(text, &[("table", &table.table)]);
    // The bytes of an item are never empty.
    let rows = sql.build_query_as().bind(scope.key()).bind(owner).bind(after.map(key::encode).unwrap_or_default());
    let rows: Vec<(Vec<u8>, i64, i64)> = rows.bind(limit).fetch_all(connection).await.doing("list the items")?;
    rows.into_iter().map(|(item, epoch, revision)| Ok((key::decode(&item)?, version(epoch, revision)?))).collect()
}

/// An owner with deleted rows.
pub(super) struct Shrunk {
    /// The owner's number.
    pub(super) owner: i64,
    before: i64,
    after: i64,
}

impl Shrunk {
    /// Returns whether the owner had more than `rows`, and no longer does.
    pub(super) fn is_below(&self, rows: i64) -> bool {
        self.before > rows && self.after <= rows
    }
}

/// Deletes items of an owner, or the messages and spans of a session, up to the versions given. Records outlive the session in
/// which they were made.
pub(super) async fn delete(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    what: &Deletion,
) -> Attempt<Option<Shrunk>> {
    let Some(owner) = Owner::find(connection, scope, &table.name).await? else { return Ok(None) };
    let table = [("table", table.table.as_str())];
    let (scope, number) = (scope.key(), owner.id);
    let deleted = match what {
        Deletion::Items(items) => {
            let (items, bounds): (Vec<_>, Vec<_>) = key::bounds(items).into_iter().unzip();
            let (epochs, revisions): (Vec<_>, Vec<_>) = bounds.into_iter().unzip();
            let text = "DELETE FROM {table} AS item USING unnest($3, $4, $5) AS gone (item, epoch, revision) \
                 WHERE item.scope = $1 AND item.owner = $2 AND item.item = gone.item \
                 AND (item.epoch, item.revision) <= (gone.epoch, gone.revision)";
            let mut sql = fill(text, &table);
            let delete = sql.build().bind(scope).bind(number).bind(items).bind(epochs).bind(revisions);
            delete.execute(&mut *connection).await
        }
        Deletion::Session(session, through) => {
            let text = "DELETE FROM {table} AS item WHERE item.scope = $1 AND item.owner = $2 \
                 AND (item.session = $3 AND item.item < $4 OR item.item >= $5 AND item.item < $6) \
                 AND (item.epoch, item.revision) <= ($7, $8)";
            let mut sql = fill(text, &table);
            let spans = key::spans(session);
            let delete = sql.build().bind(scope).bind(number).bind(session.name().as_bytes());
            let delete = delete.bind(key::BEHIND_MESSAGES).bind(spans.start).bind(spans.end);
            delete.bind(whole(through.epoch.0)).bind(whole(through.revision)).execute(&mut *connection).await
        }
    };
    let deleted = deleted.doing("delete vectors")?;
    remove_rows(connection, owner, whole(deleted.rows_affected())).await.map(Some)
}

/// Subtracts rows from the owner's total.
pub(super) async fn remove_rows(connection: &mut PgConnection, mut owner: Owner, rows: i64) -> Attempt<Shrunk> {
    let before = owner.total(ROWS);
    owner.set_total(ROWS, before - rows);
    owner.save(connection).await?;
    Ok(Shrunk { owner: owner.id, before, after: before - rows })
}
