//! The rows of segments: up to 1,024 documents whose terms are folded into posting lists.
//!
//! A segment's lists are adjacent in the file, so that folding many documents writes few pages.

use std::borrow::Cow;
use std::collections::HashSet;

use memory_core::posting::{self, Damaged, Document, Lists, Shape, TailDocument, encode_postings};
use memory_core::{Result, Unit};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::Owner;
use crate::index::corrupt;
use crate::index::rows::{insert, json_keys};

const READ: &str = "read the posting lists";
const WRITE: &str = "write the posting lists";

/// A segment of the file, without its posting lists.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: i64,
    unit: Unit,
    content: posting::Segment,
}

impl Segment {
    /// Returns a new segment.
    pub(super) fn new(owner: &mut Owner, unit: Unit) -> Self {
        Self { number: owner.number(), unit, content: posting::Segment::default() }
    }

    /// Returns the segment numbered `number`.
    pub(super) async fn open(connection: &mut SqliteConnection, owner: i64, unit: Unit, number: i64) -> Result<Self> {
        let sql = "SELECT size, documents FROM text_segment WHERE owner = ? AND unit = ? AND segment = ?";
        let row: Option<(i64, Vec<u8>)> = sqlx::query_as(sql)
            .bind(owner)
            .bind(unit.name())
            .bind(number)
            .fetch_optional(connection)
            .await
            .doing(READ)?;
        let (size, documents) = row.ok_or_else(|| corrupt("a segment is missing"))?;
        let content = posting::Segment::decode(size, &documents).map_err(damaged)?;
        Ok(Self { number, unit, content })
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
        let (rest, mut lists) = self.content.fill(&shape, documents).map_err(damaged)?;
        if !is_new {
            self.merge(connection, owner.id, &mut lists).await?;
        }
        self.save(connection, owner, lists).await?;
        Ok(rest)
    }

    /// Merges the stored postings of their terms into `lists`.
    async fn merge(&self, connection: &mut SqliteConnection, owner: i64, lists: &mut Lists<'_>) -> Result<()> {
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(
            "SELECT list.term, list.postings FROM json_each(?) AS wanted CROSS JOIN text_posting AS list \
             WHERE list.owner = ? AND list.segment = ? AND list.term = wanted.value",
        )
        .bind(json_keys(lists.terms()))
        .bind(owner)
        .bind(self.number)
        .fetch_all(connection)
        .await
        .doing(READ)?;
        lists.merge(rows).map_err(damaged)
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
        let lists = self.without(connection, owner.id, &removed).await?;
        self.save(connection, owner, lists).await?;
        Ok(removed)
    }

    /// Returns the lists that hold one of the documents, without them.
    async fn without(
        &mut self,
        connection: &mut SqliteConnection,
        owner: i64,
        gone: &[Document],
    ) -> Result<Lists<'static>> {
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT term, postings FROM text_posting WHERE owner = ? AND segment = ?")
                .bind(owner)
                .bind(self.number)
                .fetch_all(connection)
                .await
                .doing(READ)?;
        self.content.prune(gone, rows).map_err(damaged)
    }

    /// Writes the documents and the lists as part of the owner's present change; an empty list is deleted.
    async fn save(&self, connection: &mut SqliteConnection, owner: &Owner, lists: Lists<'_>) -> Result<()> {
        let (full, empty) = lists.split();
        let head = "INSERT OR REPLACE INTO text_posting (owner, segment, term, postings) ";
        insert(connection, head, &full, |columns, (term, list)| {
            columns
                .push_bind(owner.id)
                .push_bind(self.number)
                .push_bind(term.to_string())
                .push_bind(encode_postings(list));
        })
        .await?;
        sqlx::query(
            "DELETE FROM text_posting WHERE owner = ? AND segment = ? AND term IN (SELECT value FROM json_each(?))",
        )
        .bind(owner.id)
        .bind(self.number)
        .bind(json_keys(empty.iter().map(Cow::as_ref)))
        .execute(&mut *connection)
        .await
        .doing(WRITE)?;
        let sql = "INSERT OR REPLACE INTO text_segment (owner, unit, segment, live, size, changed, documents) \
                   VALUES (?, ?, ?, ?, ?, ?, ?)";
        sqlx::query(sql)
            .bind(owner.id)
            .bind(self.unit.name())
            .bind(self.number)
            .bind(self.content.live() as i64)
            .bind(self.content.size())
            .bind(owner.changed)
            .bind(self.content.encode())
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

/// Returns the error for invalid bytes of a posting list, document table or list of terms.
pub(super) fn damaged(_: Damaged) -> memory_core::Error {
    corrupt("a posting list is damaged")
}
