//! Collections that are there already, are gone, or are made by several at once.

use ::qdrant_client::qdrant::{
    CountPointsBuilder, CreateCollection, DeletePointsBuilder, Filter as Filters, PointStruct, UpsertPointsBuilder,
    VectorParamsBuilder,
};
use ::qdrant_client::qdrant::{
    Distance, MultiVectorComparator, MultiVectorConfigBuilder, Value, Vector, VectorsConfig,
};
use memory_core::store::Store as _;
use memory_core::store::vectors::VectorStore as _;
use memory_core::{Error, Field, Filter, Limits, Scalar};
use memory_qdrant::QdrantConfig;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal, fails};

use super::{DIMENSION, NOTHING, config, driver, entry, found, open, owner, prefix, put, query, space, told};

/// Several processes may open a collection that is not there yet; each finds it with all its indexes.
pub(super) async fn whole(servers: Servers) -> Scene {
    let config = config(servers.url("qdrant")?);
    let opened = (0..8).map(|_| tokio::spawn(open(config.clone())));
    let ada = owner("ada")?;
    for (number, opening) in (0..).zip(opened.collect::<Vec<_>>()) {
        let store = opening.await.map_err(|error| Failure::new(error.to_string()))??;
        put(&store, &ada, &[entry(number)?]).await?;
        equal(found(&store, &ada).await?.len() as u64, number + 1)?;
    }
    Ok(())
}

/// Makes a collection under the name of ours, with one point in it; returns the way to it and its name.
async fn make(url: &str, metadata: &[(&str, Value)]) -> std::result::Result<(QdrantConfig, String), Failure> {
    let prefix = prefix();
    let name = format!("{prefix}_{}", space().fingerprint());
    let multi = MultiVectorConfigBuilder::new(MultiVectorComparator::MaxSim);
    let params = VectorParamsBuilder::new(DIMENSION as u64, Distance::Cosine).multivector_config(multi);
    let request = CreateCollection {
        collection_name: name.clone(),
        vectors_config: Some(VectorsConfig::from(params)),
        metadata: metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        ..CreateCollection::default()
    };
    let driver = driver(url)?;
    told(driver.create_collection(request).await)?;
    let point = PointStruct::new(7, Vector::new_multi(vec![vec![1.0; DIMENSION]]), [("theirs", 1.into())]);
    told(driver.upsert_points(UpsertPointsBuilder::new(&name, vec![point]).wait(true)).await)?;
    Ok((config(url).with_prefix(prefix), name))
}

/// Passes if the collection holds its one point still.
async fn is_untouched(url: &str, name: &str) -> Scene {
    let counted = told(driver(url)?.count(CountPointsBuilder::new(name).exact(true)).await)?;
    equal(counted.result.map(|counted| counted.count), Some(1))
}

pub(super) async fn mismatch(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("qdrant")?, ("memory_schema", Value::from(1)));
    let other = [("model", "other".into()), ("dimension", 8.into()), ("normalised", 0.into()), ("recipe", "r".into())];
    let (config, name) = make(&url, &[[schema].as_slice(), other.as_slice()].concat()).await?;
    fails!(open(config).await, Error::SpaceMismatch { .. });
    is_untouched(&url, &name).await
}

pub(super) async fn foreign(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    for metadata in [Vec::new(), vec![("memory_schema", Value::from(2))]] {
        let (config, name) = make(&url, &metadata).await?;
        fails!(open(config).await, Error::Unsupported { .. });
        is_untouched(&url, &name).await?;
    }
    Ok(())
}

pub(super) async fn deleted(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    let (config, ada) = (config(&url), owner("ada")?);
    let store = open(config.clone()).await?;
    put(&store, &ada, &[entry(1)?]).await?;
    told(driver(&url)?.delete_collection(store.collection()).await)?;
    let (searched, deleted) = (store.search(&ada, &query(1)).await, put(&store, &ada, &[entry(2)?]).await);
    fails!(searched, Error::Backend { .. });
    check!(deleted.is_err(), "a put into no collection succeeded");
    let again = open(config).await?;
    equal(found(&again, &ada).await?, NOTHING)?;
    put(&store, &ada, &[entry(3)?]).await?;
    equal(found(&again, &ada).await?, [3])?;
    equal(store.backend(), "qdrant")
}

/// A collection that was dropped or emptied tells another incarnation, and takes entries again.
pub(super) async fn lost(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    let (store, ada, driver) = (open(config(&url)).await?, owner("ada")?, driver(&url)?);
    put(&store, &ada, &[entry(1)?]).await?;
    let whole = store.incarnation().await?;
    told(driver.delete_collection(store.collection()).await)?;
    let dropped = store.incarnation().await?;
    put(&store, &ada, &[entry(2)?]).await?;
    equal((found(&store, &ada).await?, store.incarnation().await?), (vec![2], dropped))?;
    let all = DeletePointsBuilder::new(store.collection()).points(Filters::default()).wait(true);
    told(driver.delete_points(all).await)?;
    let emptied = store.incarnation().await?;
    put(&store, &ada, &[entry(3)?]).await?;
    equal(found(&store, &ada).await?, [3])?;
    check!(whole != dropped && dropped != emptied && whole != emptied, "{whole:?}, {dropped:?}, {emptied:?}");
    Ok(())
}

pub(super) async fn filters(servers: Servers) -> Scene {
    let (store, ada, limits) = (open(config(servers.url("qdrant")?)).await?, owner("ada")?, Limits::default());
    put(&store, &ada, &[entry(1)?, entry(2)?]).await?;
    let leaf = |number: i64| Filter::range(Field::At, Some(Scalar::Int(number)), Some(Scalar::Int(number + 1)));
    let deep = (1..limits.filter_depth / 2).fold(leaf(1), |inner, _| Filter::Or(vec![inner, leaf(9)]).negate());
    let wide = Filter::Or((0..limits.filter_clauses as i64 / 2).map(leaf).collect());
    let list = Filter::In(Field::At, (0..limits.filter_clauses as i64 - 1).map(Scalar::Int).collect());
    for filter in [deep, wide, list] {
        filter.check(&limits)?;
        for filter in [filter.clone(), filter.negate()] {
            let expected = [entry(1)?, entry(2)?].iter().filter(|entry| filter.matches(&entry.fields)).count();
            let mut query = query(10);
            query.filter = filter;
            equal(store.search(&ada, &query).await?.len(), expected)?;
        }
    }
    Ok(())
}
