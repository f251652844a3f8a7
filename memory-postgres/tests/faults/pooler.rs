//! Connections of their own behind a pooler, which keeps the server's sessions, and over a network that drops them.

use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorStore as _};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, ItemId, MessageId, Scope, Unit, Version};
use memory_postgres::{PgVectors, Postgres, PostgresConfig};
use memory_testkit::generate::{self, Random};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal, fails};
use tokio::time::timeout;

use super::front::Front;
use crate::support::{admin, grant, open};

/// What a session still has of a client that has gone: the owner, the limits, and locks.
const LEFT: &str = "SELECT format('<%s|%s|%s|%s>', current_setting('memory.scope', true), current_setting('statement_timeout'), \
     current_setting('max_parallel_maintenance_workers'), \
     (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()))";
/// What it has at its start, with the deadline of [`config`].
const NOTHING: &str = "<|20s|2|0>";

fn config(url: &str) -> memory_core::Result<PostgresConfig> {
    Ok(PostgresConfig::new(url)?.with_schema("pooled")?.with_deadline(Duration::from_secs(30)))
}

fn space() -> EmbeddingSpace {
    EmbeddingSpace { model: "m".to_owned(), dimension: 4, normalised: false, recipe: "1".to_owned() }
}

async fn put(store: &PgVectors, scope: &Scope) -> Scene {
    let mut random = Random::new(5);
    let mut entry = |_| VectorEntry {
        item: ItemId::Message(MessageId(random.id())),
        version: Version { epoch: Epoch(0), revision: 1 },
        pieces: vec![generate::unit_vector(&mut random, 4)],
        fields: generate::fields(&mut random, Unit::Message),
    };
    let entries: Vec<_> = (0..30).map(&mut entry).collect();
    equal(store.put(scope, &entries, Visibility::OnReturn).await?.len(), 0)
}

/// Checks that at least so many sessions were left, and that none of them keeps anything.
async fn are_clean(front: &Front, least: usize) -> Scene {
    // The way hears a moment later that a client has gone.
    let mut left = Vec::new();
    for _ in 0..500 {
        left.extend(front.ask(LEFT).await?);
        if left.len() >= least {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    check!(left.len() >= least, "only {} sessions were left", left.len());
    let kept: Vec<_> = left.iter().filter(|answer| !answer.contains(NOTHING)).collect();
    check!(kept.is_empty(), "sessions keep something: {kept:?}");
    Ok(())
}

/// Migrations, builds and drops leave neither locks nor an owner in a session, whether they succeed or not.
pub(crate) async fn sessions(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let front = Front::before(&server).await?;
    let database = Postgres::connect(config(&front.url)?).await?;
    are_clean(&front, 1).await?;
    let (store, ada) = (PgVectors::open(&database, space()).await?, Scope::new("acme", "ada")?);
    put(&store, &ada).await?;
    check!(store.build_index(&ada).await?, "an owner has no index");
    are_clean(&front, 1).await?;
    equal(store.erase(&ada, Epoch(1)).await?.remaining, 0)?;
    are_clean(&front, 1).await?;

    // A role that may not build fails with the lock in its hands.
    let mut admin = admin(server.url()).await?;
    grant(&mut admin, "pooled").await?;
    let refused = config(&front.url.replace("memory_tester", "memory_application"))?.with_migrations(false);
    let refused = PgVectors::open(&Postgres::connect(refused).await?, space()).await?;
    are_clean(&front, 1).await?;
    let bob = Scope::new("acme", "bob")?;
    put(&refused, &bob).await?;
    fails!(refused.build_index(&bob).await.map(drop), memory_core::Error::Unsupported { .. });
    are_clean(&front, 1).await?;
    // Nor does a migration that is refused.
    fails!(
        Postgres::connect(config(&front.url)?.with_schema("absent")?.with_migrations(false)).await.map(drop),
        memory_core::Error::Unsupported { .. }
    );
    are_clean(&front, 1).await?;
    server.remove().await.map_err(Failure::from)
}

/// A build whose connection was dropped without a word ends, gives its locks back, and another one succeeds.
pub(crate) async fn dropped(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let front = Front::before(&server).await?;
    let hasty = config(&front.url)?.with_deadline(Duration::from_secs(1));
    let (database, ada) = (Postgres::connect(hasty).await?, Scope::new("acme", "ada")?);
    let (store, direct) = (PgVectors::open(&database, space()).await?, open(server.url(), "pooled").await?);
    put(&PgVectors::open(&direct, space()).await?, &ada).await?;
    front.silence(true);
    // On a loaded machine a call may miss its deadline before anything is built.
    loop {
        let hung = timeout(Duration::from_secs(120), store.build_index(&ada)).await;
        let hung = hung.map_err(|_| Failure::new("it waits for an answer for ever"))?;
        let is_over = hung.as_ref().is_err_and(|error| error.with_causes().contains("ended without an answer"));
        fails!(hung.map(drop), error if error.is_retryable());
        if is_over {
            break;
        }
    }
    front.silence(false);
    let again = timeout(Duration::from_secs(120), PgVectors::open(&direct, space()).await?.build_index(&ada)).await;
    check!(again.map_err(|_| Failure::new("the lock is held for ever"))??, "an owner has no index");
    server.remove().await.map_err(Failure::from)
}
