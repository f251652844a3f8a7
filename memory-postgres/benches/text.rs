//! How long putting and searching texts take, over generated messages of one owner; and the raw
//! driver reading the rows that a search reads.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench text`

mod server;

use std::process::ExitCode;

use memory_core::store::Store as _;
use memory_core::store::text::Term;
use memory_core::{Epoch, Result};
use memory_postgres::PgText;
use memory_testkit::bench::{Outcome, Times, against, heading, texts, told};
use sqlx::postgres::PgPool;

/// Reads the owner's statistics, the tail, the segments and the lists of a query's terms, a statement each; none of it is
/// ranked, filtered or told apart from what other owners have.
async fn search_raw(pool: &PgPool) -> Result<()> {
    const STATEMENTS: [&str; 2] = [
        "SELECT item, length, at, terms FROM bench.text_tail WHERE scope = $1",
        "SELECT segment, documents FROM bench.text_segment WHERE scope = $1",
    ];
    let lists = "SELECT segment, term, postings FROM bench.text_posting WHERE scope = $1 AND term = ANY ($2)";
    let (scope, queries) = (texts::large()?, texts::queries()?);
    let times = Times::of(200, async |number| {
        let Some(query) = queries.get(number % queries.len()) else { return Ok(()) };
        for sql in STATEMENTS {
            told(sqlx::query(sql).bind(scope.key()).fetch_all(pool).await)?;
        }
        let terms: Vec<_> = query.terms.iter().map(Term::as_str).collect();
        told(sqlx::query(lists).bind(scope.key()).bind(terms).fetch_all(pool).await).map(|_| ())
    });
    times.await?.report("search, raw driver");
    Ok(())
}

async fn run(url: String) -> Outcome<()> {
    let (database, pool) = server::open(&url).await?;
    heading();
    // An index of its own each time: what is erased in the end stays erased.
    let store = PgText::new(&database, &uuid::Uuid::now_v7().to_string());
    texts::fill(&store).await?;
    search_raw(&pool).await?;
    texts::search(&store).await?;
    texts::put(&store).await?;
    store.erase(&texts::large()?, Epoch(1)).await?;
    Ok(())
}

fn main() -> ExitCode {
    against("postgres", run)
}
