//! The text store: an index that is searched by words, and the evidence it returns.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{ItemId, SessionId, Unit, Version};
use crate::scope::Scope;
use crate::store::Store;
use crate::store::upkeep::Incarnation;

/// When the entries of a put become findable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// When the call returns.
    OnReturn,
    /// When the next flush returns: the bulk path.
    AfterFlush,
}

/// What to delete from an index, up to which version. What is newer stays, so a late deletion is harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// These items, each up to a version; none for an empty list. If an item is named twice, the higher version counts.
    Items(Vec<(ItemId, Version)>),
    /// The messages and spans of a session, up to a version. For a deleted session, whose ids truth no longer knows.
    Session(SessionId, Version),
}

/// An entry that an index refused, with the reason. The others of the batch are stored.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The item.
    pub item: ItemId,
    /// The reason.
    pub error: Error,
}

impl Rejected {
    /// Returns a function that turns an error into the refusal of `item`, for `map_err`.
    pub fn of(item: &ItemId) -> impl FnOnce(Error) -> Self {
        |error| Self { item: item.clone(), error }
    }

    /// Prepares entries for an index, and returns those to be stored and those refused.
    pub fn split<E, T>(entries: &[E], prepare: impl Fn(&E) -> std::result::Result<T, Self>) -> (Vec<T>, Vec<Self>) {
        let (mut prepared, mut rejected) = (Vec::with_capacity(entries.len()), Vec::new());
        for entry in entries {
            match prepare(entry) {
                Ok(entry) => prepared.push(entry),
                Err(refusal) => rejected.push(refusal),
            }
        }
        (prepared, rejected)
    }
}

/// A search term, made by core's analysis: 1 to 128 ASCII letters and digits, so that no engine sees syntax in it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(Arc<str>);

impl Term {
    /// The longest term, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// Returns the term `text`.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is 1 to 128 ASCII letters and digits.
    pub fn new(text: &str) -> Result<Self> {
        let is_legal = (1..=Self::MAX_BYTES).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_legal { Ok(Self(text.into())) } else { Err(Error::invalid("not a search term")) }
    }

    /// Returns the term's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The entry of one item in a text index. A put replaces the item's entry unless the stored version is newer.
#[derive(Clone, Debug, PartialEq)]
pub struct TextEntry {
    /// The item.
    pub item: ItemId,
    /// Its version.
    pub version: Version,
    /// Its own terms with their counts, each term once.
    pub own: Vec<(Term, u32)>,
    /// Its neighbours' terms with their damped counts, each term once.
    pub near: Vec<(Term, f32)>,
    /// The fields that filters look at.
    pub fields: Fields,
}

impl TextEntry {
    /// Returns the item's length: the sum of its own counts and of its neighbours', the latter rounded.
    pub fn length(&self) -> u32 {
        let near: f32 = self.near.iter().map(|(_, count)| count).sum();
        self.own.iter().fold(near.round() as u32, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// A query to a text store.
#[derive(Clone, Debug)]
pub struct TextQuery {
    /// The terms, each once.
    pub terms: Vec<Term>,
    /// The kind of item to search.
    pub unit: Unit,
    /// Which items may be returned. Applied before the limit, so it never shortens the answer.
    pub filter: Filter,
    /// The most hits to return, at least 1.
    pub limit: usize,
}

/// A hit of a text store: the evidence for an item, not a score.
#[derive(Clone, Debug, PartialEq)]
pub struct TextHit {
    /// The item.
    pub item: ItemId,
    /// Its own count of each term of the query.
    pub own: Vec<u32>,
    /// Its neighbours' damped count of each term of the query.
    pub near: Vec<f32>,
    /// Its length.
    pub length: u32,
    /// What filters see.
    pub fields: Fields,
}

/// The hits, with the statistics of all the owner's items of the unit asked for, whether or not the filter lets them through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextHits {
    /// How many items there are.
    pub documents: u64,
    /// Their mean length; 0 without items.
    pub mean_length: f32,
    /// How many of them hold each term of the query themselves.
    pub containing: Vec<u64>,
    /// The hits, best first by [`crate::rank::bm25f`] with its defaults, ties by newer `at`, then by item.
    pub hits: Vec<TextHit>,
}

/// Finds items by words. Holds ids and terms, never text. It can be thrown away and rebuilt.
///
/// Core computes the scores, so that all backends rank alike and no owner's data changes another's scores. Every method may
/// be repeated after a lost answer. If its future is dropped, the write happens fully or not at all.
#[async_trait]
pub trait TextStore: Store {
    /// Returns the name of the analysis whose terms it holds. Terms of another analysis belong to another index.
    fn analysis(&self) -> &str;

    /// Returns the incarnation of the index, and makes the index if it is gone.
    ///
    /// Every process gets the same one, even if several make the index at once. An index that was lost or emptied has another
    /// one. An index restored from a backup has that of the backup; so discard an index rather than restore it.
    async fn incarnation(&self) -> Result<Incarnation>;

    /// Puts entries, each in place of an older version of its item. An entry older than the stored one changes nothing.
    ///
    /// Returns the entries that were refused. A put from before the owner's erasure stores nothing.
    async fn put(&self, scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Result<Vec<Rejected>>;

    /// Makes everything that was put before findable.
    async fn flush(&self) -> Result<()>;

    /// Returns the evidence for `query`: items that hold at least one of its terms, own or near.
    ///
    /// Returns exactly `limit` hits if so many match, and none for a query without terms.
    ///
    /// # Errors
    /// `Invalid` if the limit is 0.
    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits>;

    /// Returns the stored versions of these items, findable or not; absent ones are skipped.
    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>>;

    /// Returns up to `limit` of the owner's items after the item `after`, each once with its version. A shorter page is the last.
    ///
    /// The store chooses the order. It must be a fixed total order of all items, whether stored or not. Items that are not
    /// findable yet may be left out.
    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>>;

    /// Deletes items from the index, up to the versions given.
    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()>;

    /// Deletes all entries of the owner, whatever state they are in: a damaged entry is no error. What was erased stays refused.
    ///
    /// After it, a put of any version that is not erased is stored, as if the item had never been here. If its future is dropped, a
    /// part may be deleted.
    async fn clear(&self, scope: &Scope) -> Result<()>;
}
