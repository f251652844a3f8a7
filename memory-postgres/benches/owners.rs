//! What many large owners cost: putting and searching the vectors of each, and the locks that a search takes.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench owners -- [OWNERS]`

mod server;

use std::process::ExitCode;

use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_core::time::Stopwatch;
use memory_core::{Result, Scope};
use memory_postgres::PgVectors;
use memory_testkit::bench::{Outcome, Times, against, heading, numbers, say, told, vectors};
use sqlx::postgres::PgPool;

/// Above so many vectors an owner is large, and so many has each.
const SMALL: u64 = 50;
const LARGE: usize = 100;

async fn run(url: String) -> Outcome<()> {
    let [count] = numbers([2_000]);
    let (database, pool) = server::open(&url).await?;
    let store = PgVectors::open(&database, vectors::space(&uuid::Uuid::now_v7().to_string())).await?;
    let store = store.with_exact_below(SMALL);
    let tenant = uuid::Uuid::now_v7().to_string();
    let scopes = (0..count).map(|owner| Scope::new(&tenant, &owner.to_string())).collect::<Result<Vec<_>>>()?;
    heading();
    let entries = vectors::entries(1, LARGE)?;
    let put = async |number: usize| match scopes.get(number) {
        Some(scope) => store.put(scope, &entries, Visibility::OnReturn).await.map(|_| ()),
        None => Ok(()),
    };
    Times::of(count, put).await?.report(&format!("put {LARGE} vectors of each of {count} owners"));
    let queries = vectors::queries();
    let search = async |number: usize| match (scopes.get(number), queries.get(number % queries.len())) {
        (Some(scope), Some(vector)) => {
            let query = vectors::query(&store, vector.clone());
            store.search(scope, &query).await.map(|_| ())
        }
        _ => Ok(()),
    };
    Times::of(count, search).await?.report("search of each");
    // One more index is asked for by hand, behind those that are built in the background.
    let watch = Stopwatch::start();
    let mut built = 0;
    for scope in scopes.iter().take(100) {
        built += usize::from(store.build_index(scope).await?);
    }
    say(&format!("{built} of the first 100 owners have an index, asked for in {:.1} s", watch.elapsed().as_secs_f64()));
    Times::of(count, search).await?.report("search of each, once more");
    let (indexes, locks) = locks(&pool, &store).await?;
    say(&format!("{indexes} owners' own indexes; a statement takes {locks} locks"));
    Ok(())
}

/// Returns how many indexes owners have, and how many locks of the table and its indexes a statement on it takes.
async fn locks(pool: &PgPool, store: &PgVectors) -> Result<(i64, i64)> {
    let table = format!("bench.vector_{}", store.space().fingerprint());
    let mut transaction = told(pool.begin().await)?;
    let mut sql = sqlx::QueryBuilder::new("SELECT count(*) FROM (SELECT item FROM ");
    sql.push(&table).push(" WHERE scope = 'nobody' LIMIT 1) AS found");
    told(sql.build().execute(&mut *transaction).await)?;
    let indexes = "SELECT count(*) FROM pg_index AS i JOIN pg_class AS own ON own.oid = i.indexrelid \
         JOIN pg_am AS method ON method.oid = own.relam AND method.amname = 'hnsw' WHERE i.indrelid = to_regclass($1)";
    let locks = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND (relation = \
         to_regclass($1) OR relation IN (SELECT indexrelid FROM pg_index WHERE indrelid = to_regclass($1)))";
    let indexes = told(sqlx::query_scalar(indexes).bind(&table).fetch_one(&mut *transaction).await)?;
    Ok((indexes, told(sqlx::query_scalar(locks).bind(&table).fetch_one(&mut *transaction).await)?))
}

fn main() -> ExitCode {
    against("postgres", run)
}
