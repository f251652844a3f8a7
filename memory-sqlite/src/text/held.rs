//! The cache of one owner's documents of one unit, at one state of the file: the documents, the posting lists of recently
//! searched terms, and the items that were found.
//!
//! Lists are cached as the file has them. Each segment has the random number of the change that last wrote it, so a change only
//! costs reading the segments that it touched. Renewals of the cache are counted, and each list knows up to which renewal it
//! is complete.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memory_core::posting::{
    Counts, Damaged, Document, Evidence, Packed, Posting, Query, StoredShares, TailDocument, Totals, decode_documents,
    pack_postings, visit_packed,
};
use memory_core::{Result, Scope, Unit};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::bucket::damaged;
use crate::index::cache;
use crate::index::stamp::Stamp;
use crate::index::{Shelf, corrupt};

/// The number of the tail among the segments, whose numbers begin with 1.
const TAIL: i64 = 0;

/// An owner's items of one unit in one text index.
pub(crate) type Key = (Scope, Arc<str>, Unit);

/// The cache of owners whose texts were recently searched.
pub(crate) type Cache = cache::Cache<Key, Held>;

/// The cached state of one owner and unit. A search sees one state of the file; during a renewal it finds nothing here.
#[derive(Default)]
pub(crate) struct Held {
    state: RwLock<HeldTexts>,
    /// The items found in the same state.
    pub(super) shelf: Shelf,
    turn: Arc<Mutex<()>>,
    /// How many searches there were.
    searches: AtomicU64,
}

#[derive(Default)]
struct HeldTexts {
    stamp: Option<Stamp>,
    /// How often it was brought to another state of the file.
    renewals: i64,
    totals: Totals,
    /// In ascending order of their numbers; the tail comes first.
    segments: Vec<Segment>,
    tail: Vec<TailDocument>,
    lists: HashMap<String, List>,
    /// Bytes of the lists.
    listed: usize,
}

struct Segment {
    number: i64,
    /// The random number of the change that wrote it.
    changed: i64,
    /// The renewal that read it.
    renewal: i64,
    documents: Vec<Document>,
    /// None in the tail.
    shares: StoredShares,
}

/// The posting lists of a term.
#[derive(Default)]
struct List {
    /// The last renewal that they contain.
    upto: i64,
    /// In ascending order of the segments, without those of segments that have changed since.
    parts: Vec<Part>,
    /// The number of the search that used it last.
    used: AtomicU64,
}

struct Part {
    segment: i64,
    postings: Vec<u8>,
}

/// A segment as it was read: its number, its change, and its content unless that is cached.
pub(super) type SegmentRow = (i64, i64, Option<(Vec<Document>, StoredShares)>);

/// Returns the content of a segment, which stands in these bytes of documents and shares.
pub(super) fn content(documents: &[u8], shares: &[u8]) -> Result<(Vec<Document>, StoredShares)> {
    let documents = decode_documents(documents).map_err(damaged)?;
    let slots = documents.last().map_or(0, |last| last.slot as usize + 1);
    Ok((documents, StoredShares::new(shares.to_owned(), slots).map_err(damaged)?))
}

/// A posting list as it was read: its term, its segment, and its postings.
pub(super) type ListRow = (String, i64, Vec<u8>);

impl cache::Held for Held {
    fn bytes(&self) -> usize {
        self.read().bytes() + self.shelf.bytes()
    }
}

impl Held {
    /// Waits until no other task is reading missing parts.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Returns whether nothing is cached.
    pub(super) fn is_blank(&self) -> bool {
        self.read().stamp.is_none()
    }

    /// Returns the totals and the evidence for a query; none if this is another state than `wanted`, or a list is missing.
    pub(super) fn evidence(&self, wanted: Stamp, query: &Query<'_>) -> Result<Option<(Totals, Evidence)>> {
        let state = self.read();
        if state.stamp != Some(wanted) {
            return Ok(None);
        }
        let search = self.searches.fetch_add(1, Ordering::Relaxed);
        let evidence = state.evidence(query, search).map_err(damaged)?;
        Ok(evidence.map(|evidence| (state.totals, evidence)))
    }

    /// Returns the cached segments of this owner's number, each with the random number of its last change; none if the cache is
    /// already at the state `next`.
    pub(super) fn known(&self, next: Stamp) -> Option<Vec<(i64, i64)>> {
        let state = self.read();
        match state.stamp {
            Some(stamp) if stamp == next => None,
            Some(stamp) if stamp.owner == next.owner => {
                Some(state.stored_segments().map(|segment| (segment.number, segment.changed)).collect())
            }
            _ => Some(Vec::new()),
        }
    }

    /// Brings the cache to the state `next`, and drops what is not part of it any more.
    pub(super) fn renew(
        &self,
        next: Stamp,
        totals: Totals,
        rows: Vec<SegmentRow>,
        tail: Vec<TailDocument>,
    ) -> Result<()> {
        let mut state = self.write();
        self.shelf.clear();
        let old = std::mem::take(&mut *state);
        *state = old.renewed(next, totals, rows, tail)?;
        Ok(())
    }

    /// Returns the terms whose lists are incomplete, each with the renewal up to which it is complete.
    pub(super) fn lacking(&self, query: &Query<'_>) -> Vec<(String, i64)> {
        let state = self.read();
        if state.totals.documents == 0 {
            return Vec::new();
        }
        let newest = state.newest();
        let upto = |term: &str| state.lists.get(term).map_or(0, |list| list.upto);
        let lacking = query.terms().map(|term| (term.to_owned(), upto(term)));
        lacking.filter(|(_, upto)| *upto < newest).collect()
    }

    /// Returns the segments that were read after a renewal, each with its renewal.
    pub(super) fn segments_after(&self, renewal: i64) -> Vec<(i64, i64)> {
        let state = self.read();
        let newer = state.stored_segments().filter(|segment| segment.renewal > renewal);
        newer.map(|segment| (segment.number, segment.renewal)).collect()
    }

    /// Completes the lists of `terms` with the rows read, and with postings from the tail.
    pub(super) fn add(&self, terms: Vec<(String, i64)>, query: &Query<'_>, rows: Vec<ListRow>) -> Result<()> {
        let mut state = self.write();
        let of_tail = state.tail_lists(query).map_err(damaged)?;
        let renewals = state.renewals;
        let mut read: HashMap<String, Vec<Part>> = HashMap::new();
        for (term, segment, postings) in rows {
            read.entry(term).or_default().push(Part { segment, postings });
        }
        for (term, postings) in query.terms().zip(of_tail).filter(|(_, postings)| !postings.is_empty()) {
            let postings: Vec<Packed> = postings.into_iter().map(Packed::from).collect();
            let part = Part { segment: TAIL, postings: pack_postings(&postings) };
            read.entry(term.to_owned()).or_default().push(part);
        }
        for (term, _) in terms {
            let new = read.remove(&term).unwrap_or_default();
            state.listed += new.iter().map(Part::bytes).sum::<usize>();
            let list = state.lists.entry(term).or_default();
            list.parts.extend(new);
            list.parts.sort_unstable_by_key(|part| part.segment);
            list.upto = renewals;
        }
        Ok(())
    }

    /// Evicts the least recently used lists until at most `most` bytes are left, and then the items if that is not enough. The
    /// rest stays, because every search needs it.
    pub(super) fn shed(&self, most: usize) {
        let mut state = self.write();
        let mut oldest: Vec<(u64, String)> =
            state.lists.iter().map(|(term, list)| (list.used.load(Ordering::Relaxed), term.clone())).collect();
        oldest.sort_unstable();
        let mut bytes = state.bytes() + self.shelf.bytes();
        for (_, term) in oldest {
            if bytes <= most {
                return;
            }
            let list = state.lists.remove(&term);
            let parts: usize = list.iter().flat_map(|list| &list.parts).map(Part::bytes).sum();
            state.listed -= parts;
            bytes -= parts + place_of(&term);
        }
        if bytes > most {
            self.shelf.clear();
        }
    }

    #[cfg(test)]
    pub(super) fn holds(&self, term: &str) -> bool {
        self.read().lists.get(term).is_some_and(|list| !list.parts.is_empty())
    }

    fn read(&self) -> RwLockReadGuard<'_, HeldTexts> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HeldTexts> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldTexts {
    fn bytes(&self) -> usize {
        let documents: usize = self.segments.iter().map(Segment::bytes).sum();
        let tail: usize = self.tail.iter().map(|document| size_of::<TailDocument>() + document.terms.len()).sum();
        let lists: usize = self.lists.keys().map(|term| place_of(term)).sum();
        documents + tail + lists + self.listed
    }

    fn newest(&self) -> i64 {
        self.segments.iter().map(|segment| segment.renewal).max().unwrap_or_default()
    }

    /// Returns the segments without the tail.
    fn stored_segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.number != TAIL)
    }

    fn evidence(&self, query: &Query<'_>, search: u64) -> std::result::Result<Option<Evidence>, Damaged> {
        let mut evidence = Evidence::new(query.terms().count());
        if self.totals.documents == 0 {
            return Ok(Some(evidence));
        }
        let newest = self.newest();
        let mut lists = Vec::new();
        for (place, term) in (0..).zip(query.terms()) {
            let Some(list) = self.lists.get(term).filter(|list| list.upto >= newest) else { return Ok(None) };
            list.used.store(search, Ordering::Relaxed);
            lists.push((place, list.parts.iter().peekable()));
        }
        for segment in &self.segments {
            for (place, parts) in &mut lists {
                if let Some(part) = parts.next_if(|part| part.segment == segment.number) {
                    visit_packed(&part.postings, |packed| evidence.note(*place, segment.posting(packed)))?;
                }
            }
            evidence.end_segment(&segment.documents)?;
        }
        Ok(Some(evidence))
    }

    /// Returns the next state.
    fn renewed(mut self, next: Stamp, totals: Totals, rows: Vec<SegmentRow>, tail: Vec<TailDocument>) -> Result<Self> {
        if self.stamp.is_none_or(|stamp| stamp.owner != next.owner) {
            self = Self::default();
        }
        let renewal = self.renewals + 1;
        let mut held: HashMap<i64, Segment> =
            self.segments.into_iter().map(|segment| (segment.number, segment)).collect();
        let mut segments = vec![Segment::of_tail(&tail, next.changed, renewal)];
        let mut kept = HashSet::new();
        for (number, changed, content) in rows {
            segments.push(match content {
                Some((documents, shares)) => Segment { number, changed, renewal, documents, shares },
                None => {
                    kept.insert(number);
                    held.remove(&number).ok_or_else(|| corrupt("a segment that is not held was not read"))?
                }
            });
        }
        let mut listed = 0;
        self.lists.retain(|_, list| {
            list.parts.retain(|part| kept.contains(&part.segment));
            listed += list.parts.iter().map(Part::bytes).sum::<usize>();
            !list.parts.is_empty()
        });
        Ok(Self { stamp: Some(next), renewals: renewal, totals, segments, tail, lists: self.lists, listed })
    }

    /// Returns the postings of each term of the query in the tail.
    fn tail_lists(&self, query: &Query<'_>) -> std::result::Result<Vec<Vec<Posting>>, Damaged> {
        let mut lists = vec![Vec::new(); query.terms().count()];
        for (slot, document) in (0..).zip(&self.tail) {
            query.visit(&document.terms, |place, counts| {
                if let Some(list) = lists.get_mut(place as usize) {
                    list.push(Posting { slot, counts });
                }
            })?;
        }
        Ok(lists)
    }
}

impl Segment {
    fn of_tail(tail: &[TailDocument], changed: i64, renewal: i64) -> Self {
        Self { number: TAIL, changed, renewal, documents: table(tail), shares: StoredShares::default() }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.documents.as_slice()) + self.shares.bytes()
    }

    #[inline(always)]
    fn posting(&self, Packed { slot, own, lent }: Packed) -> Posting {
        Posting { slot, counts: Counts { own, near: self.shares.at(slot).near(lent) } }
    }
}

impl Part {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.postings.len()
    }
}

/// Returns the approximate overhead of a term's list in bytes.
fn place_of(term: &str) -> usize {
    2 * size_of::<(String, List)>() + term.len()
}

/// Returns the documents of the tail as those of a segment.
fn table(tail: &[TailDocument]) -> Vec<Document> {
    let document = |(slot, document): (u32, &TailDocument)| {
        let TailDocument { item, stamp: _, length, at, terms: _ } = *document;
        Document { slot, item, length, at }
    };
    (0..).zip(tail).map(document).collect()
}
