//! How long putting and searching vectors takes, one owner of 10,000 and one of 100 beside it.
//!
//! `cargo bench -p memory-sqlite --bench vectors`

mod measure;

use memory_core::text::Visibility;
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorQuery, VectorStore};
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit, Version,
};
use memory_sqlite::{Sqlite, SqliteConfig, SqliteVectors};
use memory_testkit::generate::{Cluster, Random};

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

async fn fill(vectors: &SqliteVectors, scope: &Scope, entries: &[VectorEntry]) -> Result<Times> {
    let batches: Vec<_> = entries.chunks(256).collect();
    Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        vectors.put(scope, batch, Visibility::AfterFlush).await.map(|_| ())
    })
    .await
}

async fn search(vectors: &SqliteVectors, random: &mut Random, cluster: &Cluster, owner: &str) -> Result<()> {
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

async fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let space =
        EmbeddingSpace { model: "bench".to_owned(), dimension: DIMENSION, normalised: true, recipe: "1".to_owned() };
    let vectors = SqliteVectors::new(&Sqlite::connect(SqliteConfig::new(&path)).await?, space);
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
        vectors.delete(&small, &memory_core::text::Deletion::Items(one.iter().map(|e| e.item.clone()).collect())).await
    });
    times.await?.report("put a vector and delete it");
    say(&format!("{DIMENSION} numbers each; the file has {} bytes", std::fs::metadata(&path)?.len()));
    search(&vectors, &mut random, &cluster, "10,000").await?;
    search(&vectors, &mut random, &cluster, "100").await?;
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
