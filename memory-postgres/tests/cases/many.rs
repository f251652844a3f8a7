//! More large owners than have an index of their own.

use std::time::Duration;

use memory_core::reference::MemVectors;
use memory_core::store::Store as _;
use memory_core::store::text::{Deletion, Visibility};
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorEntry, VectorQuery};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Filter, ItemId, MessageId, Scope, Unit, Version};
use memory_postgres::{PgVectors, Postgres};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, fails};
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, QueryBuilder};

/// How many owners have an index at the most.
const MOST: usize = 32;
/// Above so many vectors an owner is large, and so many has each.
const SMALL: u64 = 20;
const LARGE: usize = 30;

/// A store under test beside the reference.
struct Pair {
    tested: PgVectors,
    /// The same store, to which nobody is large: it builds nothing in the background.
    quiet: PgVectors,
    reference: MemVectors,
    random: Random,
    tenant: String,
}

impl Pair {
    async fn open(database: &Postgres) -> memory_core::Result<Self> {
        let tenant = uuid::Uuid::now_v7().simple().to_string();
        let space = EmbeddingSpace { model: tenant.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
        let quiet = PgVectors::open(database, space.clone()).await?;
        let tested = quiet.clone().with_exact_below(SMALL);
        Ok(Self { tested, quiet, reference: MemVectors::new(space), random: Random::new(17), tenant })
    }

    fn scope(&self, number: usize) -> memory_core::Result<Scope> {
        Scope::new(&self.tenant, &number.to_string())
    }

    /// Puts vectors of an owner, and returns their items.
    async fn put(&mut self, scope: &Scope, count: usize) -> Result<Vec<(ItemId, Version)>, Failure> {
        let random = &mut self.random;
        let mut entry = |_| VectorEntry {
            item: ItemId::Message(MessageId(random.id())),
            version: Version { epoch: Epoch(0), revision: 1 },
            pieces: vec![generate::unit_vector(random, 4)],
            fields: generate::fields(random, Unit::Message),
        };
        let entries: Vec<_> = (0..count).map(&mut entry).collect();
        equal(self.quiet.put(scope, &entries, Visibility::OnReturn).await?.len(), 0)?;
        self.reference.put(scope, &entries, Visibility::OnReturn).await?;
        Ok(entries.into_iter().map(|entry| (entry.item, entry.version)).collect())
    }

    /// Checks that the owner's nearest are found.
    async fn search(&mut self, scope: &Scope) -> Scene {
        let query = VectorQuery {
            space: self.tested.space().clone(),
            vector: generate::unit_vector(&mut self.random, 4),
            filter: Filter::All,
            limit: 5,
            floor: None,
            with_vectors: false,
        };
        let found = self.tested.search(scope, &query).await?;
        let promised = self.reference.search(scope, &query).await?;
        let items = |hits: &[memory_core::store::vectors::VectorHit]| {
            hits.iter().map(|hit| hit.item.clone()).collect::<Vec<_>>()
        };
        equal(items(&found), items(&promised))
    }

    /// Returns how many owners' own indexes the space has.
    async fn indexes(&self, connection: &mut PgConnection) -> Result<usize, Failure> {
        let sql = "SELECT count(*) FROM pg_index AS i JOIN pg_class AS own ON own.oid = i.indexrelid \
             JOIN pg_am AS method ON method.oid = own.relam AND method.amname = 'hnsw' \
             WHERE i.indrelid = to_regclass('search.' || $1)";
        let table = format!("vector_{}", self.tested.space().fingerprint());
        let count: i64 =
            sqlx::query_scalar(sql).bind(table).fetch_one(connection).await.map_err(|error| failed(&error))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// Some owners have an index, all are searched, and who is erased, shrinks or is outgrown gives an index free.
pub(crate) async fn of_many_owners(database: Postgres, url: String) -> Scene {
    let mut pair = Pair::open(&database).await?;
    let mut connection = PgConnection::connect(&url).await.map_err(|error| failed(&error))?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for number in 0..MOST + 8 {
        let scope = pair.scope(number)?;
        let items = pair.put(&scope, LARGE).await?;
        let owners = if pair.tested.build_index(&scope).await? { &mut with } else { &mut without };
        owners.push((scope, items));
    }
    equal((with.len(), pair.indexes(&mut connection).await?), (MOST, MOST))?;
    let [(first, items), (second, _), ..] = with.as_slice() else { return Err(Failure::new("too few")) };
    let [(third, _), (fourth, _), (fifth, _), (sixth, _), ..] = without.as_slice() else {
        return Err(Failure::new("too few"));
    };
    let (gone, _) = items.split_at(LARGE - SMALL as usize);
    let deletion = Deletion::Items(gone.to_vec());
    pair.tested.delete(first, &deletion).await?;
    pair.reference.delete(first, &deletion).await?;
    check!(pair.tested.build_index(third).await?, "an owner that shrank keeps its index");
    pair.tested.erase(second, Epoch(1)).await?;
    pair.reference.erase(second, Epoch(1)).await?;
    check!(pair.tested.build_index(fourth).await?, "an owner that was erased keeps its index");
    check!(!pair.tested.build_index(fifth).await?, "there are more indexes than there may be");
    pair.put(sixth, LARGE + 1).await?;
    check!(pair.tested.build_index(sixth).await?, "an owner with twice as many vectors has no index");
    equal(pair.indexes(&mut connection).await?, MOST)?;
    for (scope, _) in with.iter().chain(&without) {
        pair.search(scope).await?;
    }
    connection.close().await.map_err(|error| failed(&error))
}

/// Earlier versions made an index for each large owner: those above the number are dropped.
pub(crate) async fn of_earlier_versions(database: Postgres, url: String) -> Scene {
    let mut pair = Pair::open(&database).await?;
    let table = format!("search.vector_{0}", pair.tested.space().fingerprint());
    let mut connection = PgConnection::connect(&url).await.map_err(|error| failed(&error))?;
    for owner in 0..MOST + 8 {
        let mut sql = QueryBuilder::new("CREATE INDEX ");
        sql.push(table.trim_start_matches("search.")).push("_").push(owner).push(" ON ").push(&table);
        sql.push(" USING hnsw ((embedding::public.halfvec(4)) public.halfvec_cosine_ops) WHERE owner = ").push(owner);
        sql.build().execute(&mut connection).await.map_err(|error| failed(&error))?;
    }
    let ada = pair.scope(0)?;
    pair.put(&ada, LARGE).await?;
    check!(pair.tested.build_index(&ada).await?, "there is no room for an index");
    equal(pair.indexes(&mut connection).await?, MOST)?;
    pair.search(&ada).await?;
    connection.close().await.map_err(|error| failed(&error))
}

/// While another owner's index is built, vectors go, and the error says that the index is left to a later try.
pub(crate) async fn while_another_is_built(database: Postgres, url: String) -> Scene {
    let mut pair = Pair::open(&database).await?;
    let table = format!("search.vector_{}", pair.tested.space().fingerprint());
    let mut building = PgConnection::connect(&url).await.map_err(|error| failed(&error))?;
    let ada = pair.scope(0)?;
    let items = pair.put(&ada, LARGE).await?;
    check!(pair.tested.build_index(&ada).await?, "an owner has no index");
    let hold = sqlx::query("SELECT pg_advisory_lock(hashtextextended($1, 0))").bind(&table);
    hold.execute(&mut building).await.map_err(|error| failed(&error))?;
    let watch = RunningWatch::start();
    let (gone, _) = items.split_at(LARGE - SMALL as usize);
    pair.tested.delete(&ada, &Deletion::Items(gone.to_vec())).await?;
    equal(pair.tested.scan(&ada, None, LARGE).await?.len(), SMALL as usize)?;
    fails!(pair.tested.erase(&ada, Epoch(1)).await.map(drop), error if error.is_retryable());
    check!(watch.elapsed() < Duration::from_secs(10) + SLACK, "they took {:?}", watch.elapsed());
    equal(pair.tested.scan(&ada, None, LARGE).await?.len(), 0)?;
    let release = sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, 0))").bind(&table);
    release.execute(&mut building).await.map_err(|error| failed(&error))?;
    equal(pair.tested.erase(&ada, Epoch(1)).await?.remaining, 0)?;
    equal(pair.indexes(&mut building).await?, 0)?;
    building.close().await.map_err(|error| failed(&error))
}

/// While a transaction that has read vectors is open, an index cannot be dropped. Who has none does not wait, and who has one not
/// for long.
pub(crate) async fn behind_a_reader(database: Postgres, url: String) -> Scene {
    let mut pair = Pair::open(&database).await?;
    let mut reader = PgConnection::connect(&url).await.map_err(|error| failed(&error))?;
    let (ada, bob) = (pair.scope(0)?, pair.scope(1)?);
    for scope in [&ada, &bob] {
        pair.put(scope, LARGE).await?;
    }
    check!(pair.tested.build_index(&ada).await?, "an owner has no index");
    let mut reading = reader.begin().await.map_err(|error| failed(&error))?;
    let mut read = QueryBuilder::new("SELECT FROM search.vector_");
    read.push(pair.tested.space().fingerprint()).push(" LIMIT 1");
    read.build().execute(&mut *reading).await.map_err(|error| failed(&error))?;
    let watch = RunningWatch::start();
    fails!(pair.tested.erase(&ada, Epoch(1)).await.map(drop), error if error.is_retryable());
    check!(watch.elapsed() < Duration::from_secs(6) + SLACK, "the drop took {:?}", watch.elapsed());
    let (tested, scope) = (pair.tested.clone(), ada.clone());
    let erasing = tokio::spawn(async move {
        loop {
            match tested.erase(&scope, Epoch(1)).await {
                Err(error) if error.is_retryable() => {}
                answer => return answer,
            }
        }
    });
    let watch = RunningWatch::start();
    for _ in 0..20 {
        // What is cleared has another number each time.
        pair.tested.clear(&bob).await?;
    }
    check!(watch.elapsed() < Duration::from_secs(10) + SLACK, "without an index they took {:?}", watch.elapsed());
    check!(!erasing.is_finished(), "the index was dropped under a reader");
    reading.rollback().await.map_err(|error| failed(&error))?;
    equal(erasing.await.map_err(|stopped| Failure::new(stopped.to_string()))??.remaining, 0)?;
    equal(pair.indexes(&mut reader).await?, 0)?;
    reader.close().await.map_err(|error| failed(&error))
}
