//! The rows of segments: documents whose terms are folded into posting lists.

use std::borrow::Cow;
use std::collections::HashSet;

use memory_core::Unit;
use memory_core::posting::{
    self, Damaged, Document, Lists, Posting, Shape, TailDocument, decode_postings, encode_postings,
};
use sqlx::postgres::PgConnection;

use crate::error::{Attempt, Doing};
use crate::index::{Owner, corrupt};

const READ: &str = "read the posting lists";
const WRITE: &str = "write the posting lists";

/// A stored segment, without its posting lists.
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
    pub(super) async fn open(connection: &mut PgConnection, owner: &Owner, unit: Unit, number: i64) -> Attempt<Self> {
        let sql = "SELECT size, documents FROM text_segment \
             WHERE scope = $1 AND owner = $2 AND unit = $3 AND segment = $4";
        let row: Option<(i64, Vec<u8>)> = sqlx::query_as(sql)
            .bind(owner.scope.key())
            .bind(owner.id)
            .bind(unit.name().as_bytes())
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
        connection: &mut PgConnection,
        owner: &mut Owner,
        shape: Shape,
        unit: Unit,
    ) -> Attempt<Self> {
        let sql = "SELECT segment FROM text_segment \
             WHERE scope = $1 AND owner = $2 AND unit = $3 AND live < $4 AND size < $5 \
             ORDER BY live, segment LIMIT 1";
        let roomy = sqlx::query_scalar(sql)
            .bind(owner.scope.key())
            .bind(owner.id)
            .bind(unit.name().as_bytes())
            .bind(shape.documents as i64)
            .bind(shape.postings)
            .fetch_optional(&mut *connection)
            .await
            .doing(READ)?;
        match roomy {
            Some(number) => Self::open(connection, owner, unit, number).await,
            None => Ok(Self::new(owner, unit)),
        }
    }

    /// Adds documents from the front of `documents` until the segment is full, and returns the rest.
    pub(super) async fn fill<'d>(
        &mut self,
        connection: &mut PgConnection,
        owner: &Owner,
        shape: Shape,
        documents: &'d [TailDocument],
    ) -> Attempt<&'d [TailDocument]> {
        let is_new = self.content.live() == 0;
        let (rest, mut lists) = self.content.fill(&shape, documents).map_err(damaged)?;
        if !is_new {
            self.merge(connection, owner, &mut lists).await?;
        }
        self.save(connection, owner, lists).await?;
        Ok(rest)
    }

    /// Merges the stored postings of their terms into `lists`.
    async fn merge(&self, connection: &mut PgConnection, owner: &Owner, lists: &mut Lists<'_>) -> Attempt<()> {
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(
            "SELECT term, postings FROM text_posting \
             WHERE scope = $1 AND owner = $2 AND segment = $3 AND term = ANY ($4)",
        )
        .bind(owner.scope.key())
        .bind(owner.id)
        .bind(self.number)
        .bind(lists.terms().map(str::to_owned).collect::<Vec<_>>())
        .fetch_all(connection)
        .await
        .doing(READ)?;
        lists.merge(decoded(rows)?);
        Ok(())
    }

    /// Removes items and returns their documents. A segment without documents is deleted.
    pub(super) async fn remove(
        &mut self,
        connection: &mut PgConnection,
        owner: &Owner,
        items: &HashSet<i64>,
    ) -> Attempt<Vec<Document>> {
        let removed = self.content.take(items).map_err(|_| corrupt("a segment lacks a document"))?;
        if self.content.live() == 0 {
            self.drop(connection, owner).await?;
            return Ok(removed);
        }
        let lists = self.without(connection, owner, &removed).await?;
        self.save(connection, owner, lists).await?;
        Ok(removed)
    }

    /// Returns the lists that hold one of the documents, without them.
    async fn without(
        &mut self,
        connection: &mut PgConnection,
        owner: &Owner,
        gone: &[Document],
    ) -> Attempt<Lists<'static>> {
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT term, postings FROM text_posting WHERE scope = $1 AND owner = $2 AND segment = $3")
                .bind(owner.scope.key())
                .bind(owner.id)
                .bind(self.number)
                .fetch_all(connection)
                .await
                .doing(READ)?;
        Ok(self.content.prune(gone, decoded(rows)?))
    }

    /// Writes the documents and the lists; an empty list is deleted.
    async fn save(&self, connection: &mut PgConnection, owner: &Owner, lists: Lists<'_>) -> Attempt<()> {
        let (full, empty) = lists.split();
        let (terms, postings): (Vec<_>, Vec<_>) =
            full.iter().map(|(term, list)| (term.to_string(), encode_postings(list))).unzip();
        let put = "INSERT INTO text_posting (scope, owner, segment, term, postings) \
             SELECT $1, $2, $3, new.* FROM unnest($4, $5) AS new (term, postings) \
             ON CONFLICT (scope, owner, segment, term) DO UPDATE SET postings = excluded.postings";
        let put = sqlx::query(put).bind(owner.scope.key()).bind(owner.id).bind(self.number).bind(terms).bind(postings);
        put.execute(&mut *connection).await.doing(WRITE)?;
        if !empty.is_empty() {
            let terms: Vec<_> = empty.into_iter().map(Cow::into_owned).collect();
            let sql = "DELETE FROM text_posting WHERE scope = $1 AND owner = $2 AND segment = $3 AND term = ANY ($4)";
            let clear = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(self.number).bind(terms);
            clear.execute(&mut *connection).await.doing(WRITE)?;
        }
        self.save_documents(connection, owner).await
    }

    async fn save_documents(&self, connection: &mut PgConnection, owner: &Owner) -> Attempt<()> {
        let put = "INSERT INTO text_segment (scope, owner, unit, segment, live, size, documents) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (scope, owner, unit, segment) \
             DO UPDATE SET live = excluded.live, size = excluded.size, documents = excluded.documents";
        sqlx::query(put)
            .bind(owner.scope.key())
            .bind(owner.id)
            .bind(self.unit.name().as_bytes())
            .bind(self.number)
            .bind(self.content.live() as i64)
            .bind(self.content.size())
            .bind(self.content.encode())
            .execute(connection)
            .await
            .doing(WRITE)
            .map(|_| ())
    }

    async fn drop(&self, connection: &mut PgConnection, owner: &Owner) -> Attempt<()> {
        let lists = "DELETE FROM text_posting WHERE scope = $1 AND owner = $2 AND segment = $3";
        let lists = sqlx::query(lists).bind(owner.scope.key()).bind(owner.id).bind(self.number);
        lists.execute(&mut *connection).await.doing(WRITE)?;
        let this = "DELETE FROM text_segment WHERE scope = $1 AND owner = $2 AND unit = $3 AND segment = $4";
        let this = sqlx::query(this).bind(owner.scope.key()).bind(owner.id).bind(self.unit.name().as_bytes());
        this.bind(self.number).execute(connection).await.doing(WRITE).map(|_| ())
    }
}

fn decoded(rows: Vec<(String, Vec<u8>)>) -> memory_core::Result<Vec<(String, Vec<Posting>)>> {
    rows.into_iter().map(|(term, list)| Ok((term, decode_postings(&list).map_err(damaged)?))).collect()
}

/// Returns the error for invalid bytes of a posting list, document table or list of terms.
pub(super) fn damaged(_: Damaged) -> memory_core::Error {
    corrupt("a posting list is damaged")
}
