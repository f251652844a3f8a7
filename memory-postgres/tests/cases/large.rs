//! Owners with more vectors than a search compares: candidates come from an index of the owner's own.

use memory_core::reference::MemVectors;
use memory_core::store::Store as _;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::vector::{EmbeddingSpace, Similarity};
use memory_core::{Epoch, Field, Filter, ItemId, MessageId, Scalar, Scope, Unit, Version};
use memory_postgres::{PgVectors, Postgres};
use memory_testkit::generate::{self, Cluster, Random};
use memory_testkit::measure::recall;
use memory_testkit::{Scene, check, equal};

const DIMENSION: usize = 32;
const LARGE: usize = 20_500;
const OTHERS: usize = 1_000;
const LIMIT: usize = 10;

/// A store under test beside the reference, which compares all vectors.
struct Pair {
    tested: PgVectors,
    reference: MemVectors,
    random: Random,
    cluster: Cluster,
    tenant: String,
}

impl Pair {
    async fn open(database: &Postgres, seed: u64) -> memory_core::Result<Self> {
        let tenant = uuid::Uuid::now_v7().simple().to_string();
        // A space of its own each time, so that no other run's vectors are in its table.
        let space =
            EmbeddingSpace { model: tenant.clone(), dimension: DIMENSION, normalised: false, recipe: "1".to_owned() };
        let mut random = Random::new(seed);
        let cluster = Cluster::new(&mut random, 40, DIMENSION);
        let tested = PgVectors::open(database, space.clone()).await?;
        Ok(Self { tested, reference: MemVectors::new(space), random, cluster, tenant })
    }

    fn scope(&self, subject: &str) -> memory_core::Result<Scope> {
        Scope::new(&self.tenant, subject)
    }

    fn entries(&mut self, count: usize) -> Vec<VectorEntry> {
        let random = &mut self.random;
        let mut entry = |_| VectorEntry {
            item: ItemId::Message(MessageId(random.id())),
            version: Version { epoch: Epoch(0), revision: 1 },
            pieces: (0..1 + usize::from(random.chance(1, 10))).map(|_| self.cluster.draw(random)).collect(),
            fields: generate::fields(random, Unit::Message),
        };
        (0..count).map(&mut entry).collect()
    }

    async fn put(&mut self, scope: &Scope, count: usize) -> Scene {
        let entries = self.entries(count);
        for part in entries.chunks(1_000) {
            equal(self.tested.put(scope, part, Visibility::OnReturn).await?.len(), 0)?;
            self.reference.put(scope, part, Visibility::OnReturn).await?;
        }
        Ok(())
    }

    fn query(&mut self, filter: Filter) -> VectorQuery {
        VectorQuery {
            space: self.tested.space().clone(),
            vector: self.cluster.draw(&mut self.random),
            filter,
            limit: LIMIT,
            floor: None,
            with_vectors: false,
        }
    }

    /// Returns the mean share of the nearest items that were found, over random filters, half of them with a floor that some
    /// of the nearest lie below; the number of hits is exact.
    async fn recall(&mut self, scope: &Scope, queries: usize) -> Result<f64, memory_testkit::Failure> {
        let mut sum = 0.0;
        for number in 0..queries {
            let filter = match number % 4 {
                0 => Filter::All,
                1 => Filter::eq(Field::Role, "user"),
                2 => Filter::range(Field::Trust, Some(Scalar::Int(2)), None),
                _ => generate::filter(&mut self.random, 2),
            };
            let mut query = self.query(filter);
            if number % 8 >= 4 {
                let nearest = self.reference.search(scope, &query).await?;
                // A little lower: the sums round differently.
                query.floor = nearest.get(LIMIT / 2).map(|hit| Similarity::new(hit.similarity.value() - 1e-4));
            }
            let (found, promised) =
                (self.tested.search(scope, &query).await?, self.reference.search(scope, &query).await?);
            check!(found.len() == promised.len(), "{} hits, promised {}", found.len(), promised.len());
            sum += if promised.is_empty() { 1.0 } else { recall(&items(&found), &items(&promised), LIMIT) };
        }
        Ok(sum / queries as f64)
    }
}

fn items(hits: &[VectorHit]) -> Vec<ItemId> {
    hits.iter().map(|hit| hit.item.clone()).collect()
}

/// Above the bound nearly all of the nearest are found, and as many as were asked for; below it all; nobody else's ever.
pub(crate) async fn s1_9_nearest_of_many(database: Postgres) -> Scene {
    let mut pair = Pair::open(&database, 7).await?;
    let (large, small) = (pair.scope("large")?, pair.scope("small")?);
    pair.put(&large, LARGE).await?;
    for number in 0..OTHERS {
        let other = pair.scope(&format!("large{number}"))?;
        pair.put(&other, 3).await?;
    }
    pair.put(&small, 2_000).await?;
    equal(pair.recall(&small, 60).await?, 1.0)?;
    check!(pair.tested.build_index(&large).await?, "an owner with {LARGE} vectors has no index");
    let found = pair.recall(&large, 200).await?;
    check!(found >= 0.98, "only {found} of the nearest are found");
    rare_items_are_found(&mut pair, &large).await?;
    written_and_erased(&mut pair, &large).await
}

/// What the index does not come upon is found by comparing all.
async fn rare_items_are_found(pair: &mut Pair, large: &Scope) -> Scene {
    let mut rare = pair.entries(LIMIT);
    rare.iter_mut().for_each(|entry| entry.fields.kind = Some("rare".to_owned()));
    pair.tested.put(large, &rare, Visibility::OnReturn).await?;
    pair.reference.put(large, &rare, Visibility::OnReturn).await?;
    for floor in [None, Some(Similarity::new(-1.0))] {
        let query = VectorQuery { floor, ..pair.query(Filter::eq(Field::Kind, "rare")) };
        equal(pair.tested.search(large, &query).await?.len(), LIMIT)?;
    }
    // More than an index is asked for.
    let query = VectorQuery { limit: 500, ..pair.query(Filter::All) };
    let (found, promised) = (pair.tested.search(large, &query).await?, pair.reference.search(large, &query).await?);
    equal(found.len(), promised.len())?;
    // Nearly equal ones may change places: the sums round differently.
    let share = recall(&items(&found), &items(&promised), 500);
    check!(share >= 0.99, "{share} of the 500 nearest are found");
    Ok(())
}

/// New vectors are found at once; an erasure leaves nothing, neither rows nor an index.
async fn written_and_erased(pair: &mut Pair, large: &Scope) -> Scene {
    let new = pair.entries(1);
    pair.tested.put(large, &new, Visibility::OnReturn).await?;
    let vector = new.first().and_then(|entry| entry.pieces.first()).cloned().unwrap_or_default();
    let query = VectorQuery { vector, limit: 1, ..pair.query(Filter::All) };
    let promised: Vec<ItemId> = new.into_iter().map(|entry| entry.item).collect();
    equal(items(&pair.tested.search(large, &query).await?), promised)?;
    let erased = pair.tested.erase(large, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), ((LARGE + LIMIT + 1) as u64, 0))?;
    equal(pair.tested.search(large, &query).await?.len(), 0)?;
    check!(!pair.tested.build_index(&pair.scope("nobody")?).await?, "nobody has an index");
    Ok(())
}

/// Opened by many at once, a space has one table; a bound of 0 makes every owner one of many.
pub(crate) async fn one_table_for_all(database: Postgres) -> Scene {
    let space = EmbeddingSpace {
        model: uuid::Uuid::now_v7().to_string(),
        dimension: DIMENSION,
        normalised: false,
        recipe: "1".to_owned(),
    };
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (database, space) = (database.clone(), space.clone());
        tasks.spawn(async move { PgVectors::open(&database, space).await });
    }
    let mut opened = Vec::new();
    while let Some(vectors) = tasks.join_next().await {
        opened.push(vectors.map_err(|stopped| memory_testkit::Failure::new(stopped.to_string()))??);
    }
    equal(opened.len(), 8)?;
    let mut pair = Pair::open(&database, 11).await?;
    pair.tested = pair.tested.with_exact_below(0);
    let few = pair.scope("few")?;
    pair.put(&few, 40).await?;
    check!(pair.tested.build_index(&few).await?, "the index does not stand");
    check!(pair.recall(&few, 100).await? >= 0.98, "few vectors of an index are missed");
    let erased = pair.tested.erase(&few, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (40, 0))
}

/// Owners whose indexes are built and dropped at once, by the background and by hand, are in nobody's way.
pub(crate) async fn built_at_once(database: Postgres) -> Scene {
    let mut pair = Pair::open(&database, 13).await?;
    pair.tested = pair.tested.with_exact_below(0);
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..6 {
        let owner = pair.scope(&format!("owner{number}"))?;
        // The put begins a build in the background already.
        pair.put(&owner, 20).await?;
        let tested = pair.tested.clone();
        tasks.spawn(async move {
            let is_built = tested.build_index(&owner).await?;
            let erased = tested.erase(&owner, Epoch(1)).await?;
            Ok::<_, memory_core::Error>((is_built, erased.removed, erased.remaining))
        });
    }
    while let Some(built) = tasks.join_next().await {
        equal(built.map_err(|stopped| memory_testkit::Failure::new(stopped.to_string()))??, (true, 20, 0))?;
    }
    Ok(())
}
