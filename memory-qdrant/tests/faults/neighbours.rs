//! One owner beside a thousand others, searched exactly and by the index.

use memory_core::reference::MemVectors;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::{ItemId, Result, Scope, Unit};
use memory_qdrant::QdrantVectors;
use memory_testkit::generate::{self, Cluster, Random};
use memory_testkit::services::Servers;
use memory_testkit::{Scene, check, equal};

use super::{DIMENSION, config, entry, open, space};

const OTHERS: usize = 1_000;
const ITEMS: usize = 400;
const QUERIES: usize = 150;

/// Below the bound the answers are those of brute force. Above it, by the index, at least 98 of 100 hits are, and there
/// are as many as there must be.
pub(super) async fn thousand(servers: Servers) -> Scene {
    let mut random = Random::new(51);
    let config = config(servers.url("qdrant")?);
    let exact = open(config.clone()).await?;
    let indexed = open(config.with_exact_below(0)).await?;
    let owners = generate::owners(&mut random, "tenant", OTHERS)?;
    let cluster = Cluster::new(&mut random, 8, DIMENSION);
    for owner in &owners {
        let other = VectorEntry { pieces: vec![cluster.draw(&mut random)], ..entry(1)? };
        exact.put(owner, &[other], Visibility::OnReturn).await?;
    }
    let (ada, truth) = (Scope::new("tenant", "ada")?, MemVectors::new(space()));
    let entries: Vec<VectorEntry> = (0..ITEMS).map(|_| drawn(&mut random, &cluster)).collect::<Result<_>>()?;
    exact.put(&ada, &entries, Visibility::AfterFlush).await?;
    exact.flush().await?;
    truth.put(&ada, &entries, Visibility::OnReturn).await?;
    let (mut wanted, mut met) = (0, 0);
    for _ in 0..QUERIES {
        let query = VectorQuery {
            space: space(),
            vector: cluster.draw(&mut random),
            filter: generate::filter(&mut random, 2),
            limit: 1 + random.below(20),
            floor: None,
            with_vectors: false,
        };
        let expected = items(&truth.search(&ada, &query).await?);
        equal(items(&exact.search(&ada, &query).await?), expected.as_slice())?;
        let found = items(&by_index(&indexed, &ada, &query).await?);
        equal(found.len(), expected.len())?;
        wanted += expected.len();
        met += expected.iter().filter(|item| found.contains(item)).count();
    }
    check!(wanted > 100 && met * 100 >= wanted * 98, "{met} of {wanted} were found");
    Ok(())
}

async fn by_index(store: &QdrantVectors, ada: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    store.search(ada, query).await
}

fn drawn(random: &mut Random, cluster: &Cluster) -> Result<VectorEntry> {
    let unit = if random.chance(1, 2) { Unit::Message } else { Unit::Record };
    let pieces = (0..1 + random.below(3)).map(|_| cluster.draw(random)).collect();
    Ok(VectorEntry { item: generate::item(random, unit), pieces, fields: generate::fields(random, unit), ..entry(1)? })
}

fn items(hits: &[VectorHit]) -> Vec<ItemId> {
    hits.iter().map(|hit| hit.item.clone()).collect()
}
