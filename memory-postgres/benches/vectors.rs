//! How long putting and searching vectors takes, one owner of 10,000 and one of 100 beside it; and the
//! raw driver with the statement that a search comes to.
//!
//! `cargo bench -p memory-postgres --bench vectors`

mod measure;

use memory_core::store::Store as _;
use memory_core::text::{Deletion, Visibility};
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorQuery, VectorStore};
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit, Version,
};
use memory_postgres::PgVectors;
use memory_testkit::generate::{Cluster, Random};
use pgvector::Vector;
use sqlx::QueryBuilder;
use sqlx::postgres::PgPool;

use measure::server::{self, raw};
use measure::{Times, heading, say};

const DIMENSION: usize = 384;

fn entries(random: &mut Random, cluster: &Cluster, count: usize) -> Result<Vec<VectorEntry>> {
    let entry = |number: usize| {
        let session = SessionId::new(&format!("session {}", number / 12))?;
        let mut fields = Fields::of_span(&session, Seq(number as u64 % 12 + 1), Timestamp(number as i64 * 1_000_000));
        fields.unit = Unit::Message;
        fields.role = Some(if number.is_multiple_of(2) { Role::User } else { Role::Assistant });
        Ok(VectorEntry {
            item: ItemId::Message(MessageId::fresh()),
            version: Version { epoch: Epoch(0), revision: 0 },
            pieces: vec![cluster.draw(random)],
            fields,
        })
    };
    (0..count).map(entry).collect()
}

async fn fill(vectors: &PgVectors, scope: &Scope, entries: &[VectorEntry]) -> Result<Times> {
    let batches: Vec<_> = entries.chunks(256).collect();
    Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        vectors.put(scope, batch, Visibility::AfterFlush).await.map(|_| ())
    })
    .await
}

async fn search(vectors: &PgVectors, random: &mut Random, cluster: &Cluster, owner: &str) -> Result<()> {
    let scope = Scope::new("bench", owner)?;
    let filters = [
        ("all", Filter::All),
        ("what is current", Filter::current(Timestamp(0))),
        ("half of the messages", Filter::eq(Field::Role, "user")),
        ("one session", Filter::eq(Field::Session, "session 4")),
    ];
    for (name, filter) in filters {
        let queries: Vec<_> = (0..100)
            .map(|_| VectorQuery {
                space: vectors.space().clone(),
                vector: cluster.draw(random),
                filter: filter.clone(),
                limit: 100,
                floor: None,
                with_vectors: false,
            })
            .collect();
        let times = Times::of(queries.len(), async |number| {
            let Some(query) = queries.get(number) else { return Ok(()) };
            vectors.search(&scope, query).await.map(|_| ())
        });
        times.await?.report(&format!("search {owner}, {name}"));
    }
    Ok(())
}

/// Sends the statement of a search of everything, without row-level security, deadline, task and typed answer.
async fn search_raw(
    pool: &PgPool,
    vectors: &PgVectors,
    random: &mut Random,
    cluster: &Cluster,
    owner: &str,
) -> Result<()> {
    let scope = Scope::new("bench", owner)?;
    let table = format!("bench.vector_{}", vectors.space().fingerprint());
    let queries: Vec<_> = (0..100).map(|_| Vector::from(cluster.draw(random))).collect();
    let times = Times::of(queries.len(), async |number| {
        let Some(vector) = queries.get(number) else { return Ok(()) };
        let mut sql = QueryBuilder::new("SELECT item.item, item.piece, item.fields, -(item.embedding <#> ");
        sql.push_bind(vector).push(") AS similarity FROM ").push(&table).push(" AS item WHERE item.scope = ");
        sql.push_bind(scope.key()).push(" ORDER BY similarity DESC, item.at DESC, item.item, item.piece LIMIT 216");
        raw(sql.build().fetch_all(pool).await).map(|_| ())
    });
    times.await?.report(&format!("search {owner}, raw driver"));
    Ok(())
}

async fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (database, pool) = server::open().await?;
    let model = uuid::Uuid::now_v7().to_string();
    let space = EmbeddingSpace { model, dimension: DIMENSION, normalised: true, recipe: "1".to_owned() };
    let vectors = PgVectors::open(&database, space).await?;
    let mut random = Random::new(1);
    let cluster = Cluster::new(&mut random, 50, DIMENSION);
    heading();
    let (large, small) = (Scope::new("bench", "10,000")?, Scope::new("bench", "100")?);
    fill(&vectors, &large, &entries(&mut random, &cluster, 10_000)?).await?.report("put 256 vectors");
    fill(&vectors, &small, &entries(&mut random, &cluster, 100)?).await?.report("put 100 vectors");
    let single = entries(&mut random, &cluster, 200)?;
    let times = Times::of(single.len(), async |number| {
        let one = single.get(number..=number).unwrap_or_default();
        vectors.put(&small, one, Visibility::OnReturn).await?;
        vectors.delete(&small, &Deletion::Items(one.iter().map(|entry| entry.item.clone()).collect())).await
    });
    times.await?.report("put a vector and delete it");
    for owner in ["10,000", "100"] {
        search_raw(&pool, &vectors, &mut random, &cluster, owner).await?;
        search(&vectors, &mut random, &cluster, owner).await?;
    }
    let approximate = vectors.clone().with_exact_below(0);
    let watch = memory_core::time::Stopwatch::start();
    approximate.build_index(&large).await?;
    say(&format!("{DIMENSION} numbers each; an index over 10,000 took {:?}", watch.elapsed()));
    search(&approximate, &mut random, &cluster, "10,000").await?;
    for scope in [&large, &small] {
        vectors.erase(scope, Epoch(1)).await?;
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
