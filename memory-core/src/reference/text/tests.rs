use std::cmp::Reverse;

use proptest::prelude::*;

use super::*;
use crate::fields::Fields;
use crate::filter::{Field, Filter};
use crate::id::{RecordId, Seq, Version};
use crate::rank::{Bm25, bm25f};
use crate::store::text::{Term, TextHit};
use crate::time::Timestamp;

fn term(n: usize) -> Term {
    Term::new(&format!("t{n}")).unwrap()
}

fn item(n: u8) -> ItemId {
    ItemId::Record(RecordId::of_content(&[n]))
}

fn entry(n: u8, revision: u64, at: i64, own: &[u32], near: &[u32]) -> TextEntry {
    let session = SessionId::new("s").unwrap();
    let counted = |counts: &[u32]| -> Vec<(usize, u32)> {
        counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect()
    };
    TextEntry {
        item: item(n),
        version: Version { epoch: Epoch(0), revision },
        own: counted(own).into_iter().map(|(n, count)| (term(n), count)).collect(),
        near: counted(near).into_iter().map(|(n, count)| (term(n), count as f32 * 0.25)).collect(),
        fields: Fields::of_span(&session, Seq(1), Timestamp(at)),
    }
}

/// What the contract says, word for word.
fn expected(kept: &BTreeMap<ItemId, TextEntry>, query: &TextQuery) -> TextHits {
    let own = |entry: &TextEntry, term: &Term| entry.own.iter().find(|(t, _)| t == term).map_or(0, |(_, n)| *n);
    let near = |entry: &TextEntry, term: &Term| entry.near.iter().find(|(t, _)| t == term).map_or(0.0, |(_, n)| *n);
    let lengths: u64 = kept.values().map(|entry| u64::from(entry.length())).sum();
    let hits = kept.values().map(|entry| TextHit {
        item: entry.item.clone(),
        own: query.terms.iter().map(|term| own(entry, term)).collect(),
        near: query.terms.iter().map(|term| near(entry, term)).collect(),
        length: entry.length(),
        fields: entry.fields.clone(),
    });
    let holds = |hit: &TextHit| hit.own.iter().any(|n| *n > 0) || hit.near.iter().any(|n| *n > 0.0);
    let mut evidence = TextHits {
        documents: kept.len() as u64,
        mean_length: if kept.is_empty() { 0.0 } else { (lengths as f64 / kept.len() as f64) as f32 },
        containing: query.terms.iter().map(|t| kept.values().filter(|e| own(e, t) > 0).count() as u64).collect(),
        hits: hits.filter(holds).collect(),
    };
    let scores = bm25f(&Bm25::default(), &evidence);
    let mut ranked: Vec<(f32, TextHit)> = scores.into_iter().zip(evidence.hits).collect();
    ranked.sort_by(|(a, x), (b, y)| {
        b.total_cmp(a).then_with(|| Reverse(x.fields.at).cmp(&Reverse(y.fields.at))).then_with(|| x.item.cmp(&y.item))
    });
    evidence.hits = ranked.into_iter().map(|(_, hit)| hit).filter(|hit| query.filter.matches(&hit.fields)).collect();
    evidence.hits.truncate(query.limit);
    evidence
}

#[derive(Clone, Debug)]
enum Step {
    Put(Box<TextEntry>),
    Delete(u8, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let counts = || prop::collection::vec(0..3u32, 6);
    let put = (0..12u8, 0..3u64, 0..3i64, counts(), counts());
    prop_oneof![
        4 => put.prop_map(|(n, revision, at, own, near)| Step::Put(Box::new(entry(n, revision, at, &own, &near)))),
        1 => (0..12u8, 0..3u64).prop_map(|(n, through)| Step::Delete(n, through)),
    ]
}

proptest! {
    #[test]
    fn answers_as_the_contract_says_after_any_history(
        steps in prop::collection::vec(step(), 0..60),
        terms in prop::sample::subsequence((0..7usize).collect::<Vec<_>>(), 0..5),
        limit in 1..8usize,
        floor in 0..3i64,
    ) {
        let mut partition = Partition::default();
        let mut kept: BTreeMap<ItemId, TextEntry> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(entry) => {
                    partition.put(&entry).unwrap();
                    if kept.get(&entry.item).is_none_or(|old| old.version <= entry.version) {
                        kept.insert(entry.item.clone(), *entry);
                    }
                }
                Step::Delete(n, revision) => {
                    let through = Version { epoch: Epoch(0), revision };
                    partition.delete(&item(n), through);
                    kept.retain(|kept, entry| *kept != item(n) || entry.version > through);
                }
            }
        }
        let filter = Filter::range(Field::At, Some(floor.into()), None);
        let query = TextQuery { terms: terms.into_iter().map(term).collect(), unit: Unit::Record, filter, limit };
        let found = partition.units.entry(Unit::Record).or_default().search(&query);
        prop_assert_eq!(found, expected(&kept, &query));
        for item in kept.keys() {
            partition.delete(item, Version { epoch: Epoch(0), revision: u64::MAX });
        }
        prop_assert!(partition.units.values().all(Postings::is_bare));
    }
}

#[tokio::test]
async fn refuses_counts_that_are_no_numbers_and_stores_the_others() {
    let store = MemText::new("test");
    let scope = Scope::new("acme", "ada").unwrap();
    let mut entries: Vec<TextEntry> = (0..4).map(|n| entry(n, 0, 0, &[1], &[0, 1])).collect();
    entries[1].near[0].1 = f32::NAN;
    entries[2].near[0].1 = -1.0;
    let refused = store.put(&scope, &entries, Visibility::OnReturn).await.unwrap();
    assert_eq!(refused.iter().map(|refused| &refused.item).collect::<Vec<_>>(), [&item(1), &item(2)]);
    let query = TextQuery { terms: vec![term(0)], unit: Unit::Record, filter: Filter::All, limit: 9 };
    assert_eq!(store.search(&scope, &query).await.unwrap().hits.len(), 2);
}
