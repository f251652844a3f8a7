use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::posting::{Counts, decode_postings, encode_postings, encode_terms};
use crate::time::Timestamp;

const SMALL: Shape = Shape { tail: 60, kept: 15, documents: 4, postings: 9 };

/// What a store keeps: the segment's columns and its lists.
#[derive(Default)]
struct Kept {
    segment: Segment,
    lists: BTreeMap<String, Vec<u8>>,
}

impl Kept {
    fn write(&mut self, lists: Lists<'_>) {
        let (full, empty) = lists.split();
        assert!(full.is_sorted_by(|(a, _), (b, _)| a < b));
        self.lists.extend(full.into_iter().map(|(term, list)| (term.into_owned(), encode_postings(&list))));
        self.lists.retain(|term, _| !empty.iter().any(|gone| gone == term));
        self.segment = Segment::decode(self.segment.size(), &self.segment.encode()).unwrap();
    }

    fn fill<'d>(&mut self, documents: &'d [TailDocument]) -> &'d [TailDocument] {
        let (rest, mut lists) = self.segment.fill(&SMALL, documents).unwrap();
        let wanted: BTreeSet<String> = lists.terms().map(str::to_owned).collect();
        lists.merge(self.stored().into_iter().filter(|(term, _)| wanted.contains(term)).collect());
        self.write(lists);
        rest
    }

    fn remove(&mut self, items: &HashSet<i64>) {
        let taken = self.segment.take(items).unwrap();
        let lists = self.segment.prune(&taken, self.stored());
        self.write(lists);
    }

    fn stored(&self) -> Vec<(String, Vec<Posting>)> {
        self.lists.iter().map(|(term, list)| (term.clone(), decode_postings(list).unwrap())).collect()
    }

    /// Which items hold which terms.
    fn read(&self) -> BTreeMap<i64, BTreeSet<String>> {
        let mut found: BTreeMap<i64, BTreeSet<String>> =
            self.segment.documents.values().map(|document| (document.item, BTreeSet::new())).collect();
        for (term, list) in &self.lists {
            let list = decode_postings(list).unwrap();
            assert!(!list.is_empty(), "an empty list of {term}");
            for posting in list {
                found.get_mut(&self.segment.documents[&posting.slot].item).unwrap().insert(term.clone());
            }
        }
        found
    }
}

fn document(item: i64, terms: &BTreeSet<String>) -> TailDocument {
    let counts = Counts { own: 1, near: 0.0 };
    let terms = encode_terms(terms.iter().map(|term| (term.as_str(), counts)));
    TailDocument { item, stamp: item, length: 1, at: Timestamp(item), terms }
}

proptest! {
    #[test]
    fn holds_what_was_filled_in_and_not_removed(
        steps in prop::collection::vec((prop::collection::btree_set("[a-e]", 1..4), any::<bool>()), 1..40),
    ) {
        let (mut kept, mut expected) = (Kept::default(), BTreeMap::new());
        for (item, (terms, is_removed)) in (0..).zip(steps) {
            let documents = [document(item, &terms)];
            let has_room = kept.segment.has_room(&SMALL);
            let rest = kept.fill(&documents);
            prop_assert_eq!(rest.is_empty(), has_room);
            if has_room {
                expected.insert(item, terms);
            }
            if is_removed && let Some(first) = expected.keys().next().copied() {
                kept.remove(&HashSet::from([first]));
                expected.remove(&first);
            }
            prop_assert_eq!(kept.read(), expected.clone());
            prop_assert_eq!(kept.segment.live(), expected.len());
            prop_assert_eq!(kept.segment.size(), expected.values().map(BTreeSet::len).sum::<usize>() as i64);
        }
    }
}

#[test]
fn takes_no_document_unless_all_are_here() {
    let terms = BTreeSet::from(["a".to_owned()]);
    let mut segment = Segment::default();
    segment.fill(&SMALL, &[document(1, &terms)]).unwrap();
    assert_eq!(segment.take(&HashSet::from([1, 2])), Err(Damaged));
    assert_eq!(segment.live(), 1);
}

#[test]
fn returns_what_does_not_fit() {
    let terms = BTreeSet::from(["a".to_owned()]);
    let documents: Vec<_> = (0..6).map(|item| document(item, &terms)).collect();
    let mut segment = Segment::default();
    let (rest, lists) = segment.fill(&SMALL, &documents).unwrap();
    assert_eq!(rest.iter().map(|document| document.item).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(lists.terms().collect::<Vec<_>>(), ["a"]);
}

proptest! {
    #[test]
    fn packed_lists_tell_the_same_counts(
        documents in prop::collection::vec(
            prop::collection::btree_map("[a-h]", (0..3u32, prop::sample::select(vec![0.0, 0.4, 0.15, 0.55, 0.8, 0.123])), 1..8),
            1..4,
        ),
    ) {
        let counts = |terms: &BTreeMap<String, (u32, f32)>| {
            let counts = terms.iter().map(|(term, (own, near))| (term.clone(), Counts { own: *own, near: *near }));
            counts.filter(|(_, counts)| counts.own > 0 || counts.near > 0.0).collect::<BTreeMap<_, _>>()
        };
        let expected: Vec<BTreeMap<String, Counts>> = documents.iter().map(counts).collect();
        let encoded = |terms: &BTreeMap<String, Counts>| encode_terms(terms.iter().map(|(term, counts)| (term.as_str(), *counts)));
        let documents: Vec<TailDocument> = (0..)
            .zip(&expected)
            .map(|(item, terms)| TailDocument { terms: encoded(terms), ..document(item, &BTreeSet::new()) })
            .collect();
        let shape = Shape { documents: 9, postings: 99, ..SMALL };
        let (_, lists) = Segment::default().fill(&shape, &documents).unwrap();
        let (lists, shares) = lists.packed();
        let mut found = vec![BTreeMap::new(); documents.len()];
        for (term, list) in lists.split().0 {
            for Packed { slot, own, lent } in list {
                let near = shares.get(&slot).copied().unwrap_or_default().near(lent);
                found[slot as usize].insert(term.clone().into_owned(), Counts { own, near });
            }
        }
        prop_assert_eq!(found, expected);
    }
}
