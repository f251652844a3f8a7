//! Segments: some hundred documents whose terms are folded into posting lists.
//!
//! A search looks up each of its terms once per segment, and folding many documents writes each list once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::shares::{Lent, Shares};
use super::{Damaged, Document, Packed, Posting, Shape, TailDocument, decode_documents, encode_documents, visit_terms};

/// A segment without its posting lists.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    size: i64,
    documents: BTreeMap<u32, Document>,
}

/// Posting lists of a segment, by term.
#[derive(Debug)]
pub struct Lists<'t, P = Posting> {
    by_term: HashMap<Cow<'t, str>, Vec<P>>,
}

/// A term and its postings, in ascending order of slots.
pub type List<'t, P = Posting> = (Cow<'t, str>, Vec<P>);

/// What stands in a posting list.
pub trait Placed {
    /// Returns the document's slot in its segment.
    fn slot(&self) -> u32;
}

impl Placed for Posting {
    fn slot(&self) -> u32 {
        self.slot
    }
}

impl Placed for Packed {
    fn slot(&self) -> u32 {
        self.slot
    }
}

impl Segment {
    /// Reads a segment of `size` postings.
    ///
    /// # Errors
    /// `Damaged` for invalid bytes.
    pub fn decode(size: i64, documents: &[u8]) -> Result<Self, Damaged> {
        let documents = decode_documents(documents)?;
        Ok(Self { size, documents: documents.into_iter().map(|document| (document.slot, document)).collect() })
    }

    /// Returns the bytes of its documents.
    pub fn encode(&self) -> Vec<u8> {
        encode_documents(&self.documents.values().copied().collect::<Vec<_>>())
    }

    /// Returns how many postings it has.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// Returns how many documents it has.
    pub fn live(&self) -> usize {
        self.documents.len()
    }

    /// Returns how many slots it has, from the first to the last that holds a document.
    pub fn slots(&self) -> usize {
        self.documents.last_key_value().map_or(0, |(slot, _)| *slot as usize + 1)
    }

    /// Adds documents from the front of `documents` until it is full. Returns the rest, and the new postings.
    ///
    /// The new postings must be merged with those stored under their terms ([`Lists::merge`]), unless the segment was empty.
    ///
    /// # Errors
    /// `Damaged` for documents with invalid terms.
    pub fn fill<'d>(
        &mut self,
        shape: &Shape,
        documents: &'d [TailDocument],
    ) -> Result<(&'d [TailDocument], Lists<'d>), Damaged> {
        let mut lists = Lists::default();
        let free = (0..).filter(|slot| !self.documents.contains_key(slot)).take(shape.documents);
        let mut free = free.collect::<Vec<u32>>().into_iter();
        let mut rest = documents;
        while let (true, Some((document, later))) = (self.has_room(shape), rest.split_first()) {
            let Some(slot) = free.next() else { break };
            let TailDocument { item, length, at, terms, .. } = document;
            visit_terms(terms, |term, counts| {
                self.size += 1;
                let term = std::str::from_utf8(term).map_err(|_| Damaged)?;
                lists.by_term.entry(Cow::Borrowed(term)).or_default().push(Posting { slot, counts });
                Ok(())
            })?;
            self.documents.insert(slot, Document { slot, item: *item, length: *length, at: *at });
            rest = later;
        }
        Ok((rest, lists))
    }

    fn has_room(&self, shape: &Shape) -> bool {
        self.documents.len() < shape.documents && self.size < shape.postings
    }

    /// Takes out the documents of `items` and returns them. Their postings stay until [`Segment::prune`].
    ///
    /// # Errors
    /// `Damaged` if one is not here; then none is taken.
    pub fn take(&mut self, items: &HashSet<i64>) -> Result<Vec<Document>, Damaged> {
        let taken = self.documents.values().filter(|document| items.contains(&document.item)).copied();
        let taken: Vec<Document> = taken.collect();
        if taken.len() < items.len() {
            return Err(Damaged);
        }
        for document in &taken {
            self.documents.remove(&document.slot);
        }
        Ok(taken)
    }

    /// Removes the postings of the `taken` documents from the `stored` lists, and returns the lists that change.
    pub fn prune<P: Placed>(&mut self, taken: &[Document], stored: Vec<(String, Vec<P>)>) -> Lists<'static, P> {
        let gone: HashSet<u32> = taken.iter().map(|document| document.slot).collect();
        let mut lists = Lists::default();
        for (term, mut list) in stored {
            let before = list.len();
            list.retain(|posting| !gone.contains(&posting.slot()));
            if list.len() < before {
                self.size -= (before - list.len()) as i64;
                lists.by_term.insert(Cow::Owned(term), list);
            }
        }
        lists
    }
}

impl<P> Default for Lists<'_, P> {
    fn default() -> Self {
        Self { by_term: HashMap::new() }
    }
}

impl<'t> Lists<'t> {
    /// Returns the lists in the form in which they are packed, with the shares of each document that has any, by slot.
    pub fn packed(self) -> (Lists<'t, Packed>, BTreeMap<u32, Shares>) {
        let mut near: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
        for Posting { slot, counts } in self.by_term.values().flatten().filter(|posting| posting.counts.near > 0.0) {
            near.entry(*slot).or_default().push(counts.near);
        }
        let shares: BTreeMap<u32, Shares> = near.into_iter().map(|(slot, near)| (slot, Shares::of(near))).collect();
        // A document has few different counts.
        let mut known: HashMap<(u32, u32), Lent> = HashMap::new();
        let mut packed = |Posting { slot, counts }: Posting| {
            let of_slot = || shares.get(&slot).copied().unwrap_or_default().lent(counts.near);
            let lent = *known.entry((slot, counts.near.to_bits())).or_insert_with(of_slot);
            Packed { slot, own: counts.own, lent }
        };
        let lists = self.by_term.into_iter().map(|(term, list)| (term, list.into_iter().map(&mut packed).collect()));
        (Lists { by_term: lists.collect() }, shares)
    }
}

impl<'t, P: Placed> Lists<'t, P> {
    /// Returns the terms of the lists.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.by_term.keys().map(Cow::as_ref)
    }

    /// Returns whether a term has a list.
    pub fn holds(&self, term: &str) -> bool {
        self.by_term.contains_key(term)
    }

    /// Merges in the postings that are stored under their terms.
    pub fn merge(&mut self, stored: Vec<(String, Vec<P>)>) {
        for (term, stored) in stored {
            self.by_term.entry(Cow::Owned(term)).or_default().extend(stored);
        }
    }

    /// Returns the lists to write, in the order of their terms, and the terms whose lists have become empty.
    pub fn split(self) -> (Vec<List<'t, P>>, Vec<Cow<'t, str>>) {
        let (mut full, empty): (Vec<_>, Vec<_>) = self.by_term.into_iter().partition(|(_, list)| !list.is_empty());
        full.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (_, list) in &mut full {
            // It is of two lists in order.
            list.sort_by_key(Placed::slot);
        }
        (full, empty.into_iter().map(|(term, _)| term).collect())
    }
}

#[cfg(test)]
mod tests;
