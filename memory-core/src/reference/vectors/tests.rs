use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::fields::Fields;
use crate::filter::{Field, Filter};
use crate::id::{ItemId, RecordId, Seq, SessionId, Version};
use crate::time::Timestamp;
use crate::vector::{Similarity, normalise};

const DIMENSION: usize = 3;

fn space() -> EmbeddingSpace {
    EmbeddingSpace { model: "test".into(), dimension: DIMENSION, normalised: false, recipe: String::new() }
}

fn item(n: u8) -> ItemId {
    ItemId::Record(RecordId::of_content(&[n]))
}

fn query(vector: Vec<f32>, limit: usize) -> VectorQuery {
    VectorQuery { space: space(), vector, filter: Filter::All, limit, floor: None, with_vectors: true }
}

/// What the contract says, word for word.
fn expected(kept: &BTreeMap<ItemId, VectorEntry>, query: &VectorQuery) -> Vec<VectorHit> {
    let sought = normalise(&query.vector).unwrap();
    let nearest = |entry: &VectorEntry| {
        let pieces: Vec<Vec<f32>> = entry.pieces.iter().map(|piece| normalise(piece).unwrap()).collect();
        let near = |piece: &Vec<f32>| piece.iter().zip(&sought).map(|(a, b)| a * b).sum::<f32>() + 0.0;
        let similarities: Vec<Similarity> = pieces.iter().map(|piece| Similarity::new(near(piece))).collect();
        let (piece, similarity) = similarities
            .iter()
            .enumerate()
            .fold((0, similarities[0]), |best, (piece, near)| if *near > best.1 { (piece, *near) } else { best });
        let (fields, vector) = (entry.fields.clone(), Some(pieces[piece].clone()));
        VectorHit { item: entry.item.clone(), piece: piece as u32, similarity, fields, vector }
    };
    let mut hits: Vec<VectorHit> = kept.values().filter(|e| query.filter.matches(&e.fields)).map(nearest).collect();
    hits.retain(|hit| query.floor.is_none_or(|floor| hit.similarity >= floor));
    hits.sort_by(|a, b| {
        let nearer = b.similarity.value().total_cmp(&a.similarity.value());
        nearer.then_with(|| (Reverse(a.fields.at), &a.item).cmp(&(Reverse(b.fields.at), &b.item)))
    });
    hits.truncate(query.limit);
    hits
}

fn entry() -> impl Strategy<Value = (u8, VectorEntry)> {
    // Few different numbers, so that there are ties and pieces that are the same.
    let number = prop::sample::select(vec![-1.0f32, 0.0, 0.5, 1.0]);
    let vector = prop::collection::vec(number, DIMENSION).prop_filter("no direction", |v| normalise(v).is_some());
    let parts = (0..12u8, 0..3u64, 0..3i64, prop::collection::vec(vector, 1..4));
    parts.prop_map(|(n, revision, at, pieces)| {
        let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(at));
        (n, VectorEntry { item: item(n), version: Version { epoch: Epoch(0), revision }, pieces, fields })
    })
}

fn check_rows(partition: &Partition, kept: &BTreeMap<ItemId, VectorEntry>) {
    let pieces: usize = kept.values().map(|entry| entry.pieces.len()).sum();
    assert_eq!((partition.holders.len(), partition.numbers.len()), (pieces, pieces * DIMENSION));
    for (slot, entry) in partition.slots.iter().enumerate() {
        for (piece, row) in entry.iter().flat_map(|entry| entry.rows.iter().enumerate()) {
            let holder = partition.holders[*row];
            assert_eq!((holder.slot, holder.piece as usize), (slot, piece));
        }
    }
}

proptest! {
    #[test]
    fn answers_as_the_contract_says_after_any_history(
        steps in prop::collection::vec((any::<bool>(), entry()), 0..60),
        sought in entry(),
        limit in 1..8usize,
        floor in prop::option::of(-1.0..1.0f32),
        since in 0..3i64,
    ) {
        let mut partition = Partition::default();
        let mut kept: BTreeMap<ItemId, VectorEntry> = BTreeMap::new();
        for (is_put, (n, entry)) in steps {
            if !is_put {
                partition.delete(&item(n));
                kept.remove(&item(n));
            } else {
                partition.put(&entry);
                if kept.get(&entry.item).is_none_or(|old| old.version <= entry.version) {
                    kept.insert(entry.item.clone(), entry);
                }
            }
            check_rows(&partition, &kept);
        }
        let mut query = query(sought.1.pieces[0].clone(), limit);
        query.floor = floor.map(Similarity::new);
        query.filter = Filter::range(Field::At, Some(since.into()), None);
        prop_assert_eq!(partition.search(&query), expected(&kept, &query));
    }

    #[test]
    fn the_scalar_product_is_that_of_a_plain_sum(numbers in prop::collection::vec((-1.0..1.0f32, -1.0..1.0f32), 0..100)) {
        let (a, b): (Vec<f32>, Vec<f32>) = numbers.into_iter().unzip();
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        prop_assert!((f64::from(nearest::dot(&a, &b)) - plain).abs() < 1e-4);
    }
}

#[tokio::test]
async fn nothing_of_an_earlier_epoch_is_put_after_an_erasure() {
    let store = MemVectors::new(space());
    let scope = Scope::new("acme", "ada").unwrap();
    let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
    let entry = |n, epoch| {
        let version = Version { epoch: Epoch(epoch), revision: 0 };
        VectorEntry { item: item(n), version, pieces: vec![vec![1.0, 0.0, 0.0]], fields: fields.clone() }
    };
    store.put(&scope, &[entry(0, 0), entry(1, 1)], Visibility::OnReturn).await.unwrap();
    assert_eq!(store.erase(&scope, Epoch(1)).await.unwrap().removed, 1);
    store.put(&scope, &[entry(2, 0)], Visibility::OnReturn).await.unwrap();
    let hits = store.search(&scope, &query(vec![1.0, 0.0, 0.0], 9)).await.unwrap();
    assert_eq!(hits.iter().map(|hit| &hit.item).collect::<Vec<_>>(), [&item(1)]);
}
