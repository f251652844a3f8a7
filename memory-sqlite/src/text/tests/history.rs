//! Random histories, compared with the reference store after every few steps.

use super::*;

/// The owners, items and sessions that a history plays with: few, so that they collide.
struct Players {
    owners: Vec<Scope>,
    items: Vec<ItemId>,
    sessions: Vec<SessionId>,
}

impl Players {
    fn draw(random: &mut Random) -> Self {
        let units = [Unit::Message, Unit::Message, Unit::Record, Unit::Span];
        let mut items: Vec<_> = (0..120).map(|number| generate::item(random, units[number % 4])).collect();
        items.sort();
        items.dedup();
        let sessions = ["s", "S", "s:1", "1"].map(|name| SessionId::new(name).unwrap()).to_vec();
        Self { owners: generate::owners(random, "t", 3).unwrap(), items, sessions }
    }
}

/// Does the same random step to both stores.
async fn step(random: &mut Random, players: &Players, stores: (&SqliteText, &MemText)) {
    let (sqlite, reference) = stores;
    let owner = random_of(random, &players.owners);
    match random.below(12) {
        0 => {
            let count = random.below(6);
            let items = (0..count).map(|_| (random_of(random, &players.items), generate::bound(random)));
            let what = Deletion::Items(items.collect());
            sqlite.delete(&owner, &what).await.unwrap();
            reference.delete(&owner, &what).await.unwrap();
        }
        1 if random.chance(1, 4) => {
            let what = Deletion::Session(random_of(random, &players.sessions), generate::bound(random));
            sqlite.delete(&owner, &what).await.unwrap();
            reference.delete(&owner, &what).await.unwrap();
        }
        2 if random.chance(1, 4) => {
            let below = Epoch(random.below(3) as u64);
            let erased = sqlite.erase(&owner, below).await.unwrap();
            assert_eq!(erased.removed, reference.erase(&owner, below).await.unwrap().removed);
            assert_eq!(erased.remaining, 0);
        }
        3 if random.chance(1, 8) => {
            sqlite.clear(&owner).await.unwrap();
            reference.clear(&owner).await.unwrap();
        }
        _ => {
            let count = if random.chance(1, 8) { 60 } else { 1 + random.below(4) };
            let entries: Vec<_> = (0..count).map(|_| entry(random, players)).collect();
            let rejected = sqlite.put(&owner, &entries, Visibility::AfterFlush).await.unwrap();
            assert_eq!(rejected.len(), reference.put(&owner, &entries, Visibility::AfterFlush).await.unwrap().len());
        }
    }
}

fn random_of<T: Clone>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())].clone()
}

fn entry(random: &mut Random, players: &Players) -> TextEntry {
    let (item, revision) = (random_of(random, &players.items), random.below(4) as u64);
    let mut entry = generate::entry(random, item, revision).unwrap();
    entry.version.epoch = Epoch(random.below(3) as u64);
    entry
}

/// Asserts that both give the same answer: the same statistics, ids, order, counts and fields.
async fn ask(random: &mut Random, players: &Players, stores: (&SqliteText, &MemText)) {
    let (sqlite, reference) = stores;
    for owner in &players.owners {
        let query = TextQuery {
            terms: generate::terms(random, 6).unwrap(),
            unit: [Unit::Message, Unit::Record, Unit::Span][random.below(3)],
            filter: if random.chance(1, 2) { Filter::All } else { generate::filter(random, 2) },
            limit: [1, 2, 5, 1_000, usize::MAX][random.below(5)],
        };
        let (found, expected) =
            (sqlite.search(owner, &query).await.unwrap(), reference.search(owner, &query).await.unwrap());
        assert_eq!(found, expected, "{query:?}");
    }
}

#[tokio::test]
async fn every_history_gives_the_answers_of_the_reference() {
    let mut found = 0;
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let shape = if seed % 3 == 2 { SHAPE } else { SMALL };
        let (sqlite, reference) = (open(&folder, shape).await, MemText::new("test-1"));
        // Another process: now and then it writes, and what it holds in memory is next to nothing in some histories.
        let other = open_holding(&folder, shape, if seed % 2 == 0 { 20_000 } else { 1 << 20 }).await;
        let players = Players::draw(&mut random);
        for _ in 0..120 {
            let writer = if random.chance(1, 3) { &other } else { &sqlite };
            step(&mut random, &players, (writer, &reference)).await;
            if random.chance(1, 3) {
                ask(&mut random, &players, (&sqlite, &reference)).await;
            }
            if random.chance(1, 6) {
                ask(&mut random, &players, (&other, &reference)).await;
            }
        }
        found += rows(&sqlite, "text_segment").await;
        // The same data after a restart.
        let again = open(&folder, shape).await;
        ask(&mut random, &players, (&again, &reference)).await;
    }
    assert!(found > 20, "too little was folded: {found}");
}

#[tokio::test]
async fn with_segments_of_thousands_the_answers_are_those_of_the_reference() {
    let (mut random, owner) = (Random::new(77), scope("a"));
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape { documents: 2_048, ..SHAPE };
    let (sqlite, reference) = (open(&folder, shape).await, MemText::new("test-1"));
    let words = |random: &mut Random, count: usize| {
        let mut words: Vec<_> =
            (0..count).map(|_| term(&format!("w{}", random.below(60) * random.below(60)))).collect();
        words.sort();
        words.dedup();
        words
    };
    let mut entries = Vec::new();
    for id in 0..4_600 {
        let mut entry = message(id, id as i64 / 50, &[], &[]);
        entry.own = words(&mut random, 40).into_iter().map(|word| (word, 1 + (id % 3) as u32)).collect();
        entry.near = words(&mut random, 80).into_iter().map(|word| (word, 0.1 + random.unit() as f32)).collect();
        entries.push(entry);
    }
    let (bulk, single) = entries.split_at(4_400);
    for batch in bulk.chunks(256).chain(single.chunks(1)) {
        sqlite.put(&owner, batch, Visibility::AfterFlush).await.unwrap();
        reference.put(&owner, batch, Visibility::AfterFlush).await.unwrap();
    }
    let gone = generate::deletion(entries.iter().step_by(7).map(|entry| entry.item.clone()));
    sqlite.delete(&owner, &gone).await.unwrap();
    reference.delete(&owner, &gone).await.unwrap();
    assert!(rows(&sqlite, "text_segment").await >= 2 && rows(&sqlite, "text_tail").await > 0);
    for limit in [1, 10, 100, 2_000] {
        for filter in [Filter::All, Filter::eq(memory_core::Field::At, 7_i64)] {
            let query = TextQuery { terms: words(&mut random, 8), unit: Unit::Message, filter, limit };
            assert_eq!(sqlite.search(&owner, &query).await.unwrap(), reference.search(&owner, &query).await.unwrap());
        }
    }
}
