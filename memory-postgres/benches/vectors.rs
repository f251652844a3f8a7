//! How long putting and searching vectors takes, one owner of 10,000 and one of 100 beside it; and the
//! raw driver with the statement that a search comes to.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench vectors`

mod server;

use std::process::ExitCode;

use memory_core::store::Store as _;
use memory_core::store::vectors::VectorStore as _;
use memory_core::{Epoch, Result};
use memory_postgres::PgVectors;
use memory_testkit::bench::{Outcome, Times, against, heading, say, told, vectors};
use pgvector::Vector;
use sqlx::QueryBuilder;
use sqlx::postgres::PgPool;

const SIZES: [usize; 2] = [10_000, 100];

/// Sends the statement of a search of everything, without row-level security, deadline, task and typed answer.
async fn search_raw(pool: &PgPool, store: &PgVectors, count: usize) -> Result<()> {
    let scope = vectors::owner(count)?;
    let table = format!("bench.vector_{}", store.space().fingerprint());
    let queries: Vec<_> = vectors::queries().into_iter().map(Vector::from).collect();
    let times = Times::of(queries.len(), async |number| {
        let Some(vector) = queries.get(number) else { return Ok(()) };
        let mut sql = QueryBuilder::new("SELECT item.item, item.piece, item.fields, -(item.embedding <#> ");
        sql.push_bind(vector).push(") AS similarity FROM ").push(&table).push(" AS item WHERE item.scope = ");
        sql.push_bind(scope.key()).push(" ORDER BY similarity DESC, item.at DESC, item.item, item.piece LIMIT 216");
        told(sql.build().fetch_all(pool).await).map(|_| ())
    });
    times.await?.report(&format!("search {count}, raw driver"));
    Ok(())
}

async fn run(url: String) -> Outcome<()> {
    let (database, pool) = server::open(&url).await?;
    let store = PgVectors::open(&database, vectors::space(&uuid::Uuid::now_v7().to_string())).await?;
    heading();
    for size in SIZES {
        vectors::fill(&store, size).await?;
    }
    vectors::churn(&store, 100).await?;
    for size in SIZES {
        search_raw(&pool, &store, size).await?;
        vectors::search(&store, size).await?;
    }
    let approximate = store.clone().with_exact_below(0);
    let watch = memory_core::time::Stopwatch::start();
    approximate.build_index(&vectors::owner(SIZES[0])?).await?;
    say(&format!("{} numbers each; an index over 10,000 took {:?}", vectors::DIMENSION, watch.elapsed()));
    vectors::search(&approximate, SIZES[0]).await?;
    for size in SIZES {
        store.erase(&vectors::owner(size)?, Epoch(1)).await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    against("postgres", run)
}
