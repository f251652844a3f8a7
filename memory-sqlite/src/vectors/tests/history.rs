//! Random histories, compared with the reference store after every few steps.

use super::*;

const DIMENSION: usize = 20;

/// The owners, items and vectors that a history plays with: few, so that they collide.
struct Players {
    owners: Vec<Scope>,
    items: Vec<ItemId>,
    vectors: Vec<Vec<f32>>,
}

impl Players {
    fn draw(random: &mut Random) -> Self {
        let units = [Unit::Message, Unit::Record, Unit::Span];
        let items = (0..80).map(|number| generate::item(random, units[number % 3])).collect();
        let cluster = Cluster::new(random, 3, DIMENSION);
        let mut vectors: Vec<_> = (0..12).map(|_| cluster.draw(random)).collect();
        vectors.extend([vec![0.0; DIMENSION], vec![f32::NAN; DIMENSION], vec![1.0; DIMENSION + 1], Vec::new()]);
        Self { owners: generate::owners(random, "t", 3).unwrap(), items, vectors }
    }

    fn entry(&self, random: &mut Random) -> VectorEntry {
        let item = random_of(random, &self.items);
        let version = Version { epoch: Epoch(random.below(3) as u64), revision: random.below(4) as u64 };
        let pieces = (0..random.below(4)).map(|_| random_of(random, &self.vectors)).collect();
        let mut fields = generate::fields(random, item.unit());
        fields.at = Timestamp(random.below(3) as i64);
        VectorEntry { item, version, pieces, fields }
    }
}

fn random_of<T: Clone>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())].clone()
}

async fn step(random: &mut Random, players: &Players, stores: (&SqliteVectors, &MemVectors)) {
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
            let session = SessionId::new(["s", "S", "1"][random.below(3)]).unwrap();
            let what = Deletion::Session(session, generate::bound(random));
            sqlite.delete(&owner, &what).await.unwrap();
            reference.delete(&owner, &what).await.unwrap();
        }
        2 if random.chance(1, 4) => {
            let below = Epoch(random.below(3) as u64);
            let erased = sqlite.erase(&owner, below).await.unwrap();
            assert_eq!(erased.removed, reference.erase(&owner, below).await.unwrap().removed);
        }
        3 if random.chance(1, 8) => {
            sqlite.clear(&owner).await.unwrap();
            reference.clear(&owner).await.unwrap();
        }
        _ => {
            let entries: Vec<_> = (0..1 + random.below(20)).map(|_| players.entry(random)).collect();
            let refused = |rejected: Vec<Rejected>| rejected.into_iter().map(|r| r.item).collect::<Vec<_>>();
            let first = sqlite.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
            let second = reference.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
            assert_eq!(refused(first), refused(second));
        }
    }
}

async fn ask(random: &mut Random, players: &Players, stores: (&SqliteVectors, &MemVectors)) {
    for owner in &players.owners {
        let query = VectorQuery {
            filter: if random.chance(1, 2) { Filter::All } else { generate::filter(random, 2) },
            floor: random.chance(1, 3).then(|| Similarity::new(random.unit() as f32)),
            with_vectors: random.chance(1, 3),
            ..query(players.vectors[random.below(12)].clone(), [1, 3, 1_000, usize::MAX][random.below(4)])
        };
        let (found, expected) = (stores.0.search(owner, &query).await, stores.1.search(owner, &query).await);
        assert_eq!(found.unwrap(), expected.unwrap(), "{query:?}");
    }
}

#[tokio::test]
async fn every_history_gives_the_answers_of_the_reference() {
    // Nothing is held, little, everything: whatever that is, and whoever wrote, the answers are the same.
    for (seed, bytes) in (0..9).zip([0, 20_000, 1 << 30].into_iter().cycle()) {
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let reference = MemVectors::new(space(DIMENSION));
        let two = [open_holding(&folder, DIMENSION, bytes).await, open_holding(&folder, DIMENSION, bytes).await];
        let players = Players::draw(&mut random);
        for _ in 0..100 {
            let writer = &two[random.below(2)];
            step(&mut random, &players, (writer, &reference)).await;
            if random.chance(1, 3) {
                let reader = &two[random.below(2)];
                ask(&mut random, &players, (reader, &reference)).await;
            }
        }
        let again = open(&folder, DIMENSION).await;
        ask(&mut random, &players, (&again, &reference)).await;
    }
}
