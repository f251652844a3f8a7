use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::filter::Field;
use crate::id::{RecordId, Seq, SessionId};
use crate::scope::Epoch;
use crate::time::Timestamp;
use crate::vector::EmbeddingSpace;

const DIMENSION: usize = 19;

/// An item as the contract sees it: its time and its vectors at unit length.
type Kept = BTreeMap<ItemId, (Fields, Vec<Vec<f32>>)>;

fn item(n: u16) -> ItemId {
    ItemId::Record(RecordId::of_content(&n.to_le_bytes()))
}

fn fields(at: i64) -> Fields {
    Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(at))
}

fn query(vector: Vec<f32>, limit: usize) -> VectorQuery {
    let (model, recipe) = ("test".into(), String::new());
    let space = EmbeddingSpace { model, dimension: vector.len(), normalised: false, recipe };
    VectorQuery { space, vector, filter: Filter::All, limit, floor: None, with_vectors: true }
}

/// What the contract says, word for word.
fn expected(kept: &Kept, query: &VectorQuery) -> Vec<VectorHit> {
    let sought = Lanes::row(&normalise(&query.vector).unwrap());
    let hit = |(item, (fields, pieces)): (&ItemId, &(Fields, Vec<Vec<f32>>))| {
        let near = |piece: &Vec<f32>| Similarity::new(dot(&sought, &Lanes::row(piece)) + 0.0);
        let similarities: Vec<Similarity> = pieces.iter().map(near).collect();
        let (piece, similarity) = similarities
            .iter()
            .enumerate()
            .fold((0, similarities[0]), |best, (piece, near)| if *near > best.1 { (piece, *near) } else { best });
        let (fields, vector) = (fields.clone(), Some(pieces[piece].clone()));
        VectorHit { item: item.clone(), piece: piece as u32, similarity, fields, vector }
    };
    let mut hits: Vec<VectorHit> = kept.iter().filter(|(_, kept)| query.filter.matches(&kept.0)).map(hit).collect();
    hits.retain(|hit| query.floor.is_none_or(|floor| hit.similarity >= floor));
    hits.sort_by(|a, b| {
        let nearer = b.similarity.value().total_cmp(&a.similarity.value());
        nearer.then_with(|| (Reverse(a.fields.at), &a.item).cmp(&(Reverse(b.fields.at), &b.item)))
    });
    hits.truncate(query.limit);
    hits
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    // Few different numbers, so that there are ties and pieces that are the same.
    let number = prop::sample::select(vec![-1.0f32, 0.0, 0.5, 1.0]);
    prop::collection::vec(number, 3).prop_filter_map("no direction", |head| {
        let rest = (head.len()..DIMENSION).map(|n| head[n % 3] * 0.25);
        normalise(&head.iter().copied().chain(rest).collect::<Vec<_>>())
    })
}

fn entry(items: u16) -> impl Strategy<Value = (ItemId, Fields, Vec<Vec<f32>>)> {
    let parts = (0..items, 0..3i64, prop::collection::vec(vector(), 1..4));
    parts.prop_map(|(n, at, pieces)| (item(n), fields(at), pieces))
}

fn put(partition: &mut Partition, (item, fields, pieces): &(ItemId, Fields, Vec<Vec<f32>>)) {
    let version = Version { epoch: Epoch(0), revision: 0 };
    partition.put(item.clone(), version, fields.clone(), &pieces.concat());
}

fn check_rows(partition: &Partition, kept: &Kept) {
    let pieces: usize = kept.values().map(|(_, pieces)| pieces.len()).sum();
    assert_eq!((partition.entries.holders.len(), partition.rows.len()), (pieces, pieces));
    for (slot, entry) in partition.entries.slots.iter().enumerate() {
        for (piece, row) in entry.iter().flat_map(|entry| entry.rows.iter().enumerate()) {
            let holder = partition.entries.holders[*row];
            assert_eq!((holder.slot, holder.piece as usize), (slot, piece));
        }
    }
}

proptest! {
    #[test]
    fn answers_as_the_contract_says_after_any_history(
        steps in prop::collection::vec((prop::bool::weighted(0.8), entry(40)), 0..100),
        sought in vector(),
        limit in 1..8usize,
        floor in prop::option::of(-1.0..1.0f32),
        since in 0..3i64,
        is_quantised in any::<bool>(),
    ) {
        let mut partition = Partition::new(DIMENSION);
        if is_quantised {
            partition = partition.with_quantised();
        }
        let mut kept = Kept::new();
        for (is_put, entry) in steps {
            if is_put {
                put(&mut partition, &entry);
                kept.insert(entry.0, (entry.1, entry.2));
            } else {
                partition.delete(&entry.0);
                kept.remove(&entry.0);
            }
            check_rows(&partition, &kept);
        }
        let mut query = query(sought, limit);
        query.floor = floor.map(Similarity::new);
        query.filter = Filter::range(Field::At, Some(since.into()), None);
        prop_assert_eq!(partition.search(&query), expected(&kept, &query));
    }
}

/// A partition of `count` items in 20 directions with noise, one in `rare` of which is of time 1; and what is sought.
fn clustered(count: u16, rare: u16) -> (Partition, Kept, Vec<f32>) {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let centres: Vec<Vec<f32>> = (0..20).map(|_| (0..DIMENSION).map(|_| random()).collect()).collect();
    let mut draw = |n: u16| {
        let noisy: Vec<f32> = centres[n as usize % 20].iter().map(|x| x + 0.3 * random()).collect();
        normalise(&noisy).unwrap()
    };
    let (mut partition, mut kept) = (Partition::new(DIMENSION), Kept::new());
    for n in 0..count {
        let entry = (item(n), fields(i64::from(n % rare == 0)), vec![draw(n)]);
        put(&mut partition, &entry);
        kept.insert(entry.0, (entry.1, entry.2));
    }
    (partition, kept, draw(0))
}

#[test]
fn a_large_partition_answers_as_the_contract_says_whatever_the_filter_lets_pass() {
    for rare in [1, 2, 3, 50, 900, 5_000] {
        let (partition, kept, sought) = clustered(3_003, rare);
        let partition = if rare == 3 { partition.with_quantised() } else { partition };
        for limit in [1, 10, 200, usize::MAX] {
            let query = VectorQuery { filter: Filter::eq(Field::At, 1), ..query(sought.clone(), limit) };
            assert_eq!(partition.search(&query), expected(&kept, &query), "1 of {rare}");
        }
    }
}

#[test]
fn the_filter_is_asked_first_if_it_lets_few_pass() {
    let (partition, ..) = clustered(3_000, 10);
    assert!(matches!(partition.passing(&Filter::eq(Field::At, 1)), Passing::Few));
    assert!(matches!(partition.passing(&Filter::eq(Field::At, 0)), Passing::Many));
    assert!(matches!(partition.passing(&Filter::range(Field::At, Some(0.into()), None)), Passing::All));
    assert!(matches!(partition.passing(&Filter::All), Passing::Many));
}

#[test]
fn the_nearest_are_found_where_just_they_do_not_pass() {
    let (mut partition, mut kept) = (Partition::new(2), Kept::new());
    for n in 0..1_000u16 {
        let angle = f32::from(n) / 1_000.0;
        // Every fifteenth is asked.
        let entry = (item(n), fields(i64::from(n < 40 && n % 15 > 0)), vec![vec![angle.cos(), angle.sin()]]);
        put(&mut partition, &entry);
        kept.insert(entry.0, (entry.1, entry.2));
    }
    let query = VectorQuery { filter: Filter::eq(Field::At, 0), ..query(vec![1.0, 0.0], 5) };
    assert!(matches!(partition.passing(&query.filter), Passing::All));
    assert_eq!(partition.search(&query), expected(&kept, &query));
}

#[test]
fn o19_codes_of_8_bits_change_no_answer() {
    let (mut partition, mut kept, sought) = clustered(5_001, 2);
    for n in (0..5_001u16).step_by(9) {
        // Some items have another piece, which may be the nearer one.
        let (fields, mut pieces) = kept[&item(n)].clone();
        pieces.push(kept[&item(n / 2)].1[0].clone());
        put(&mut partition, &(item(n), fields.clone(), pieces.clone()));
        kept.insert(item(n), (fields, pieces));
    }
    let quantised = partition.with_quantised();
    // Few and many of all, and more than there are.
    for limit in [1, 10, 127, 128, 300, 625, 700, 6_000, usize::MAX] {
        for (floor, filter) in [(None, Filter::All), (Some(0.9), Filter::All), (None, Filter::eq(Field::At, 1))] {
            let query = VectorQuery { floor: floor.map(Similarity::new), filter, ..query(sought.clone(), limit) };
            assert_eq!(quantised.search(&query), expected(&kept, &query), "{limit}, {floor:?}");
        }
    }
}

#[test]
fn what_a_sample_says_of_the_rest_need_not_be_true() {
    let (mut partition, mut kept) = (Partition::new(2), Kept::new());
    for n in 0..1_400u16 {
        // Every twentieth is asked where 160 are sought, and just these are far nearer than the others.
        let angle = if n % 20 == 0 { f32::from(n) / 100_000.0 } else { 0.5 + f32::from(n) / 1_400.0 };
        let entry = (item(n), fields(0), vec![vec![angle.cos(), angle.sin()]]);
        put(&mut partition, &entry);
        kept.insert(entry.0, (entry.1, entry.2));
    }
    let query = query(vec![1.0, 0.0], 160);
    assert_eq!(partition.with_quantised().search(&query), expected(&kept, &query));
}

#[test]
fn equal_vectors_are_told_apart_by_time_and_item_however_many_there_are() {
    let (mut partition, mut kept) = (Partition::new(2), Kept::new());
    for n in 0..1_000u16 {
        let entry = (item(n), fields(i64::from(n % 7)), vec![vec![0.6, 0.8]]);
        put(&mut partition, &entry);
        kept.insert(entry.0, (entry.1, entry.2));
    }
    let query = query(vec![3.0, 4.0], 20);
    assert_eq!(partition.search(&query), expected(&kept, &query));
}

#[test]
fn a_direction_gives_the_numbers_of_a_search() {
    let (partition, kept, sought) = clustered(300, 1);
    let direction = crate::vector::Direction::of(&sought).unwrap();
    for hit in partition.search(&query(sought, 300)) {
        let (_, pieces) = &kept[&hit.item];
        assert_eq!(direction.similarity(&pieces[0]).value().to_bits(), hit.similarity.value().to_bits());
    }
}

#[test]
fn nothing_is_kept_of_what_was_deleted() {
    let (mut partition, kept, sought) = clustered(500, 1);
    assert!(kept.keys().all(|item| partition.delete(item)));
    assert!(partition.is_empty() && partition.search(&query(sought, 10)).is_empty());
    assert_eq!((partition.bytes(), partition.rows.len()), (0, 0));
}
