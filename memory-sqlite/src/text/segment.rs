//! The rows of segments: some thousand documents whose terms are folded into posting lists.
//!
//! A segment's lists are adjacent in the file, so that folding many documents writes few pages.

use std::collections::{BTreeMap, HashSet};

use memory_core::posting::{
    self, Document, Lists, Packed, Shape, Shares, StoredShares, TailDocument, encode_shares, unpack_postings,
};
use memory_core::{Result, Unit};
use sqlx::SqliteConnection;

use super::bucket::{self, Bucket, damaged};
use crate::error::Doing;
use crate::index::Owner;
use crate::index::corrupt;

const READ: &str = "read the posting lists";
const WRITE: &str = "write the posting lists";

/// A segment of the file, without its posting lists.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: i64,
    unit: Unit,
    content: posting::Segment,
    /// Those of each slot.
    shares: Vec<Shares>,
}

impl Segment {
    /// Returns a new segment.
    pub(super) fn new(owner: &mut Owner, unit: Unit) -> Self {
        Self { number: owner.number(), unit, content: posting::Segment::default(), shares: Vec::new() }
    }

    /// Returns the segment numbered `number`.
    pub(super) async fn open(connection: &mut SqliteConnection, owner: i64, unit: Unit, number: i64) -> Result<Self> {
        let sql = "SELECT size, documents, shares FROM text_segment WHERE owner = ? AND unit = ? AND segment = ?";
        let row: Option<(i64, Vec<u8>, Vec<u8>)> = sqlx::query_as(sql)
            .bind(owner)
            .bind(unit.name())
            .bind(number)
            .fetch_optional(connection)
            .await
            .doing(READ)?;
        let (size, documents, shares) = row.ok_or_else(|| corrupt("a segment is missing"))?;
        let content = posting::Segment::decode(size, &documents).map_err(damaged)?;
        let shares = StoredShares::new(shares, content.slots()).map_err(damaged)?.all();
        Ok(Self { number, unit, content, shares })
    }

    /// Returns the segment with the most room, or a new one if none has room.
    pub(super) async fn with_room(
        connection: &mut SqliteConnection,
        owner: &mut Owner,
        shape: Shape,
        unit: Unit,
    ) -> Result<Self> {
        let sql = "SELECT segment FROM text_segment WHERE owner = ? AND unit = ? AND live < ? AND size < ? \
                   ORDER BY live, segment LIMIT 1";
        let roomy = sqlx::query_scalar(sql)
            .bind(owner.id)
            .bind(unit.name())
            .bind(shape.documents as i64)
            .bind(shape.postings)
            .fetch_optional(&mut *connection)
            .await
            .doing(READ)?;
        match roomy {
            Some(number) => Self::open(connection, owner.id, unit, number).await,
            None => Ok(Self::new(owner, unit)),
        }
    }

    /// Adds documents from the front of `documents` until the segment is full, and returns the rest.
    pub(super) async fn fill<'d>(
        &mut self,
        connection: &mut SqliteConnection,
        owner: &Owner,
        shape: Shape,
        documents: &'d [TailDocument],
    ) -> Result<&'d [TailDocument]> {
        let is_new = self.content.live() == 0;
        let (rest, lists) = self.content.fill(&shape, documents).map_err(damaged)?;
        let (mut lists, shares) = lists.packed();
        self.shares.resize(self.content.slots(), Shares::default());
        for (slot, shares) in shares {
            self.shares.get_mut(slot as usize).into_iter().for_each(|place| *place = shares);
        }
        let places = lists.terms().filter(|_| !is_new).map(|term| bucket::place(self.number, term)).collect();
        let buckets = bucket::open(bucket::read(connection, owner.id, &places).await?)?;
        let mut stored = Vec::new();
        for (term, list) in buckets.values().flatten() {
            if lists.holds(term) {
                stored.push((term.clone(), unpack_postings(list).map_err(damaged)?));
            }
        }
        lists.merge(stored);
        self.save(connection, owner, lists, buckets).await?;
        Ok(rest)
    }

    /// Removes items and returns their documents. A segment without documents is deleted.
    pub(super) async fn remove(
        &mut self,
        connection: &mut SqliteConnection,
        owner: &Owner,
        items: &HashSet<i64>,
    ) -> Result<Vec<Document>> {
        let removed = self.content.take(items).map_err(|_| corrupt("a segment lacks a document"))?;
        if self.content.live() == 0 {
            self.drop(connection, owner.id).await?;
            return Ok(removed);
        }
        let buckets = bucket::all(connection, owner.id, self.number).await?;
        let lists = buckets.values().flatten();
        let lists: Vec<(String, Vec<Packed>)> = lists
            .map(|(term, list)| Ok((term.clone(), unpack_postings(list).map_err(damaged)?)))
            .collect::<Result<_>>()?;
        let lists = self.content.prune(&removed, lists);
        for document in &removed {
            self.shares.get_mut(document.slot as usize).into_iter().for_each(|place| *place = Shares::default());
        }
        self.save(connection, owner, lists, buckets).await?;
        Ok(removed)
    }

    /// Writes the documents, and the buckets in which lists change.
    async fn save(
        &self,
        connection: &mut SqliteConnection,
        owner: &Owner,
        lists: Lists<'_, Packed>,
        mut buckets: BTreeMap<i64, Bucket>,
    ) -> Result<()> {
        let (full, empty) = lists.split();
        let lists = full.into_iter().chain(empty.into_iter().map(|term| (term, Vec::new())));
        let mut changed = BTreeMap::new();
        for (term, list) in lists {
            let place = bucket::place(self.number, &term);
            if let Some(bucket) = buckets.remove(&place) {
                changed.insert(place, bucket);
            }
            bucket::put(&mut changed, self.number, &term, &list);
        }
        bucket::write(connection, owner.id, self.number, &changed).await?;
        let sql = "INSERT OR REPLACE INTO text_segment (owner, unit, segment, live, size, changed, documents, shares) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        sqlx::query(sql)
            .bind(owner.id)
            .bind(self.unit.name())
            .bind(self.number)
            .bind(self.content.live() as i64)
            .bind(self.content.size())
            .bind(owner.changed)
            .bind(self.content.encode())
            .bind(encode_shares(&self.shares))
            .execute(connection)
            .await
            .doing(WRITE)?;
        Ok(())
    }

    async fn drop(&self, connection: &mut SqliteConnection, owner: i64) -> Result<()> {
        sqlx::query("DELETE FROM text_posting WHERE owner = ? AND segment = ?")
            .bind(owner)
            .bind(self.number)
            .execute(&mut *connection)
            .await
            .doing(WRITE)?;
        sqlx::query("DELETE FROM text_segment WHERE owner = ? AND unit = ? AND segment = ?")
            .bind(owner)
            .bind(self.unit.name())
            .bind(self.number)
            .execute(connection)
            .await
            .doing(WRITE)?;
        Ok(())
    }
}
