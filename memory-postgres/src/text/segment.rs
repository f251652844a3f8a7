//! Segments: some hundred documents whose terms are folded into posting lists.
//!
//! A search looks up each of its terms once per segment, and folding many documents writes each list once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use memory_core::Unit;
use memory_core::posting::{
    Damaged, Document, Posting, TailDocument, decode_documents, decode_postings, encode_documents, encode_postings,
    visit_terms,
};
use sqlx::postgres::PgConnection;

use super::shape::Shape;
use crate::error::{Attempt, Doing};
use crate::index::{Owner, corrupt};

const READ: &str = "read the posting lists";
const WRITE: &str = "write the posting lists";

/// A segment without its posting lists.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: i64,
    unit: Unit,
    /// How many postings it has.
    size: i64,
    documents: BTreeMap<u32, Document>,
}

/// The lists of postings to be added or kept, by term.
type Lists<'t> = HashMap<Cow<'t, str>, Vec<Posting>>;

impl Segment {
    /// Returns a new segment.
    pub(super) fn new(owner: &mut Owner, unit: Unit) -> Self {
        Self { number: owner.number(), unit, size: 0, documents: BTreeMap::new() }
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
        let documents = decode_documents(&documents).map_err(damaged)?;
        let documents = documents.into_iter().map(|document| (document.slot, document)).collect();
        Ok(Self { number, unit, size, documents })
    }

    /// Returns the segment with the most room; a new one if none has any.
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

    /// Returns whether another document may be added.
    fn has_room(&self, shape: Shape) -> bool {
        self.documents.len() < shape.documents && self.size < shape.postings
    }

    /// Adds documents from the front of `documents` until the segment is full, and returns the rest.
    pub(super) async fn fill<'d>(
        &mut self,
        connection: &mut PgConnection,
        owner: &Owner,
        shape: Shape,
        documents: &'d [TailDocument],
    ) -> Attempt<&'d [TailDocument]> {
        let (mut lists, is_new) = (Lists::new(), self.documents.is_empty());
        let free = (0..).filter(|slot| !self.documents.contains_key(slot)).take(shape.documents);
        let mut free = free.collect::<Vec<u32>>().into_iter();
        let mut rest = documents;
        while let (true, Some((document, later))) = (self.has_room(shape), rest.split_first()) {
            let Some(slot) = free.next() else { break };
            let TailDocument { item, length, at, terms, .. } = document;
            visit_terms(terms, |term, counts| {
                self.size += 1;
                push(&mut lists, term, Posting { slot, counts })
            })
            .map_err(damaged)?;
            self.documents.insert(slot, Document { slot, item: *item, length: *length, at: *at });
            rest = later;
        }
        if !is_new {
            self.merge(connection, owner, &mut lists).await?;
        }
        self.save(connection, owner, lists).await?;
        Ok(rest)
    }

    /// Adds to `lists` what is stored under their terms.
    async fn merge(&self, connection: &mut PgConnection, owner: &Owner, lists: &mut Lists<'_>) -> Attempt<()> {
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(
            "SELECT term, postings FROM text_posting \
             WHERE scope = $1 AND owner = $2 AND segment = $3 AND term = ANY ($4)",
        )
        .bind(owner.scope.key())
        .bind(owner.id)
        .bind(self.number)
        .bind(lists.keys().map(ToString::to_string).collect::<Vec<_>>())
        .fetch_all(connection)
        .await
        .doing(READ)?;
        for (term, stored) in rows {
            let stored = decode_postings(&stored).map_err(damaged)?;
            lists.entry(Cow::Owned(term)).or_default().extend(stored);
        }
        Ok(())
    }

    /// Removes items and returns their documents. A segment without documents is deleted.
    pub(super) async fn remove(
        &mut self,
        connection: &mut PgConnection,
        owner: &Owner,
        items: &HashSet<i64>,
    ) -> Attempt<Vec<Document>> {
        let removed: Vec<_> =
            self.documents.values().filter(|document| items.contains(&document.item)).copied().collect();
        if removed.len() < items.len() {
            return Err(corrupt("a segment lacks a document").into());
        }
        if removed.len() == self.documents.len() {
            self.documents.clear();
            self.drop(connection, owner).await?;
            return Ok(removed);
        }
        for document in &removed {
            self.documents.remove(&document.slot);
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
        let gone: HashSet<u32> = gone.iter().map(|document| document.slot).collect();
        let mut lists = Lists::new();
        for (term, stored) in rows {
            let mut list = decode_postings(&stored).map_err(damaged)?;
            let before = list.len();
            list.retain(|posting| !gone.contains(&posting.slot));
            if list.len() < before {
                self.size -= (before - list.len()) as i64;
                lists.insert(Cow::Owned(term), list);
            }
        }
        Ok(lists)
    }

    /// Writes the documents and the lists; an empty list is deleted.
    async fn save(&self, connection: &mut PgConnection, owner: &Owner, lists: Lists<'_>) -> Attempt<()> {
        let (mut full, empty): (Vec<_>, Vec<_>) = lists.into_iter().partition(|(_, list)| !list.is_empty());
        full.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (_, list) in &mut full {
            list.sort_unstable_by_key(|posting| posting.slot);
        }
        let (terms, postings): (Vec<_>, Vec<_>) =
            full.iter().map(|(term, list)| (term.to_string(), encode_postings(list))).unzip();
        let put = "INSERT INTO text_posting (scope, owner, segment, term, postings) \
             SELECT $1, $2, $3, new.* FROM unnest($4, $5) AS new (term, postings) \
             ON CONFLICT (scope, owner, segment, term) DO UPDATE SET postings = excluded.postings";
        let put = sqlx::query(put).bind(owner.scope.key()).bind(owner.id).bind(self.number).bind(terms).bind(postings);
        put.execute(&mut *connection).await.doing(WRITE)?;
        if !empty.is_empty() {
            let terms: Vec<_> = empty.into_iter().map(|(term, _)| term.into_owned()).collect();
            let sql = "DELETE FROM text_posting WHERE scope = $1 AND owner = $2 AND segment = $3 AND term = ANY ($4)";
            let clear = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(self.number).bind(terms);
            clear.execute(&mut *connection).await.doing(WRITE)?;
        }
        self.save_documents(connection, owner).await
    }

    async fn save_documents(&self, connection: &mut PgConnection, owner: &Owner) -> Attempt<()> {
        let documents: Vec<_> = self.documents.values().copied().collect();
        let put = "INSERT INTO text_segment (scope, owner, unit, segment, live, size, documents) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (scope, owner, unit, segment) \
             DO UPDATE SET live = excluded.live, size = excluded.size, documents = excluded.documents";
        sqlx::query(put)
            .bind(owner.scope.key())
            .bind(owner.id)
            .bind(self.unit.name().as_bytes())
            .bind(self.number)
            .bind(documents.len() as i64)
            .bind(self.size)
            .bind(encode_documents(&documents))
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

fn push<'t>(lists: &mut Lists<'t>, term: &'t [u8], posting: Posting) -> std::result::Result<(), Damaged> {
    let term = std::str::from_utf8(term).map_err(|_| Damaged)?;
    lists.entry(Cow::Borrowed(term)).or_default().push(posting);
    Ok(())
}

/// Returns the error for bytes that are no posting list, document table or list of terms.
pub(super) fn damaged(_: Damaged) -> memory_core::Error {
    corrupt("a posting list is damaged")
}
