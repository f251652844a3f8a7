//! Two roles: one owns the tables and builds indexes, and the application runs as the other.

use memory_core::store::Store as _;
use memory_core::store::text::{Deletion, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorStore as _};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, ItemId, MessageId, Scope, Unit, Version};
use memory_postgres::{PgVectors, Postgres};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::QueryBuilder;
use sqlx::postgres::PgConnection;

use crate::support::{admin, application, grant, open};

/// More pieces than one step of an erasure deletes.
const MANY: usize = 2_500;
const FEW: usize = 30;
/// Above so many vectors an owner is large.
const SMALL: usize = 20;

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// Puts vectors of an owner, and returns their items.
async fn put(store: &PgVectors, scope: &Scope, count: usize) -> Result<Vec<(ItemId, Version)>, Failure> {
    let mut random = Random::new(29);
    let mut entry = |_| VectorEntry {
        item: ItemId::Message(MessageId(random.id())),
        version: Version { epoch: Epoch(1), revision: 1 },
        pieces: vec![generate::unit_vector(&mut random, 4)],
        fields: generate::fields(&mut random, Unit::Message),
    };
    let entries: Vec<_> = (0..count).map(&mut entry).collect();
    for part in entries.chunks(1_000) {
        equal(store.put(scope, part, Visibility::OnReturn).await?.len(), 0)?;
    }
    Ok(entries.into_iter().map(|entry| (entry.item, entry.version)).collect())
}

/// Returns the owners' own indexes, the oldest first.
async fn indexes(admin: &mut PgConnection, schema: &str) -> Result<Vec<i64>, Failure> {
    let sql = "SELECT own.oid::bigint FROM pg_index AS i JOIN pg_class AS own ON own.oid = i.indexrelid \
         JOIN pg_am AS method ON method.oid = own.relam AND method.amname = 'hnsw' \
         WHERE own.relnamespace = to_regnamespace($1) ORDER BY own.oid";
    sqlx::query_scalar(sql).bind(schema).fetch_all(admin).await.map_err(|error| failed(&error))
}

/// Returns how many indexes are noted as left.
async fn left(admin: &mut PgConnection, schema: &str) -> Result<i64, Failure> {
    let mut sql = QueryBuilder::new("SELECT count(*) FROM ");
    sql.push(schema).push(".index_left");
    sql.build_query_scalar().fetch_one(admin).await.map_err(|error| failed(&error))
}

/// What the application cannot drop is in the way of no erasure, and goes with the next build of the tables' owner. An index whose
/// owner shrank and grew again stays.
pub(crate) async fn indexes_of_another_role(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let space = EmbeddingSpace { model: schema.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
    let owner = PgVectors::open(&open(&url, &schema).await?, space.clone()).await?;
    let mut admin = admin(&url).await?;
    grant(&mut admin, &schema).await?;
    let database = Postgres::connect(application(&url, &schema)?).await?;
    let tested = PgVectors::open(&database, space).await?;
    let (ada, bob) = (Scope::new("roles", "ada")?, Scope::new("roles", "bob")?);
    let (eve, joe) = (Scope::new("roles", "eve")?, Scope::new("roles", "joe")?);
    let items = put(&tested, &ada, FEW).await?;
    put(&tested, &bob, MANY).await?;
    put(&tested, &eve, MANY).await?;
    for scope in [&ada, &bob, &eve] {
        check!(owner.build_index(scope).await?, "an owner has no index");
    }
    let built = indexes(&mut admin, &schema).await?;
    let (gone, _) = items.split_at(FEW - SMALL);
    tested.clone().with_exact_below(SMALL as u64).delete(&ada, &Deletion::Items(gone.to_vec())).await?;
    equal(tested.scan(&ada, None, FEW).await?.len(), SMALL)?;
    let erased = tested.erase(&bob, Epoch(2)).await?;
    equal((erased.removed, erased.remaining), (MANY as u64, 0))?;
    tested.clear(&eve).await?;
    equal(tested.scan(&eve, None, MANY).await?.len(), 0)?;
    equal(indexes(&mut admin, &schema).await?, built.clone())?;
    equal(left(&mut admin, &schema).await?, 2)?;
    put(&tested, &ada, FEW).await?;
    put(&tested, &joe, FEW).await?;
    check!(owner.build_index(&joe).await?, "an owner has no index");
    let now = indexes(&mut admin, &schema).await?;
    equal((now.len(), now.first()), (2, built.first()))?;
    equal(left(&mut admin, &schema).await?, 0)
}

/// A build forgets the notes of its owner's index, which is in use, and of those that are gone.
pub(crate) async fn notes_of_indexes_in_use(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let space = EmbeddingSpace { model: schema.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
    let store = PgVectors::open(&open(&url, &schema).await?, space).await?;
    let (mut admin, ada) = (admin(&url).await?, Scope::new("roles", "ada")?);
    put(&store, &ada, FEW).await?;
    check!(store.build_index(&ada).await?, "an owner has no index");
    let built = indexes(&mut admin, &schema).await?;
    let mut note = QueryBuilder::new("INSERT INTO ");
    note.push(&schema).push(".index_left SELECT 'gone' UNION ALL SELECT relname FROM pg_class WHERE oid = ");
    note.push_bind(built.first().copied()).push("::bigint::oid");
    note.build().execute(&mut admin).await.map_err(|error| failed(&error))?;
    equal(left(&mut admin, &schema).await?, 2)?;
    check!(store.build_index(&ada).await?, "an owner has no index");
    equal(indexes(&mut admin, &schema).await?, built)?;
    equal(left(&mut admin, &schema).await?, 0)
}
