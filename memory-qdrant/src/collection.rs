//! The collection of a space: how it is named and made, and whether one that exists is ours.

use std::collections::HashMap;

use ::qdrant_client::qdrant::read_consistency::Value as Consistency;
use ::qdrant_client::qdrant::{
    CollectionInfo, CreateCollection, CreateFieldIndexCollectionBuilder, Distance, FieldType, HnswConfigDiff,
    KeywordIndexParamsBuilder, MultiVectorComparator, MultiVectorConfig, ReadConsistency, ReadConsistencyType,
    StrictModeConfig, Value, VectorParams, VectorsConfig, WriteOrdering, WriteOrderingType, value::Kind,
    vectors_config,
};
use memory_core::error::{Error, Result};
use memory_core::vector::EmbeddingSpace;

use crate::client::Qdrant;
use crate::error::{classify, incomplete, is_missing, is_there_already, unsupported};
use crate::filter::tokens;
use crate::point::{BELOW, EPOCH, FLOATS, INTS, KEY, NUMBER, OWNER, REVISION, TOKENS};

/// The version of what points hold.
const SCHEMA: i64 = 1;

/// The most candidates that one search may ask for.
pub(crate) const LARGEST_PAGE: usize = 100_000;

/// The most entries that one write may hold; what this crate sends is smaller.
const LARGEST_WRITE: u64 = 1_024;

/// A collection that was found to be ours.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    /// Its name.
    pub(crate) name: String,
    pub(crate) replicas: u32,
}

impl Collection {
    /// Opens the collection of a space, and makes it if there is none.
    ///
    /// # Errors
    /// `SpaceMismatch` for one that holds vectors of another space, `Unsupported` for one that is not of this crate or
    /// of a newer version of it. Nothing is changed then.
    pub(crate) async fn open(server: &Qdrant, space: &EmbeddingSpace) -> Result<Self> {
        let name = format!("{}_{}", server.config().prefix, space.fingerprint());
        let mut info = Self::info(server, &name).await?;
        if info.is_none() {
            Self::create(server, &name, space).await?;
            info = Self::info(server, &name).await?;
        }
        let info = info.ok_or_else(|| incomplete("open the collection"))?;
        check(&info, space)?;
        // A process that made the collection may have stopped before it made all indexes.
        for (key, kind) in indexes() {
            if !info.payload_schema.contains_key(&key) {
                Self::index(server, &name, &key, kind).await?;
            }
        }
        let params = info.config.and_then(|config| config.params);
        let replicas = params.and_then(|params| params.replication_factor).unwrap_or(1);
        Ok(Self { name, replicas })
    }

    /// Returns how reads are made consistent with writes: by a majority, where there are several replicas.
    pub(crate) fn reads(&self) -> Option<ReadConsistency> {
        let value = Some(Consistency::Type(ReadConsistencyType::Majority.into()));
        (self.replicas > 1).then_some(ReadConsistency { value })
    }

    /// Returns how writes are ordered: the same on every replica, for conditions are looked at on each of them.
    pub(crate) fn writes() -> Option<WriteOrdering> {
        Some(WriteOrdering { r#type: WriteOrderingType::Strong.into() })
    }

    async fn info(server: &Qdrant, name: &str) -> Result<Option<CollectionInfo>> {
        let doing = "look at the collection";
        match server.change(doing, name, |driver, name| async move { driver.collection_info(name).await }).await? {
            Ok(answer) => answer.result.map(Some).ok_or_else(|| incomplete(doing)),
            Err(source) if is_missing(&source) => Ok(None),
            Err(source) => Err(classify(&source, doing)),
        }
    }

    async fn create(server: &Qdrant, name: &str, space: &EmbeddingSpace) -> Result<()> {
        let doing = "create the collection";
        let config = server.config();
        let request = CreateCollection {
            collection_name: name.to_owned(),
            vectors_config: Some(vectors(space)),
            // No index over all owners: each owner's points have one of their own.
            hnsw_config: Some(HnswConfigDiff { m: Some(0), payload_m: Some(16), ..HnswConfigDiff::default() }),
            strict_mode_config: Some(strict()),
            metadata: metadata(space),
            shard_number: Some(config.shards),
            replication_factor: Some(config.replicas),
            write_consistency_factor: Some(config.replicas / 2 + 1),
            ..CreateCollection::default()
        };
        match server
            .change(doing, request, |driver, request| async move { driver.create_collection(request).await })
            .await?
        {
            Ok(_) => Ok(()),
            // Another process was faster; whether what it made is ours is looked at next.
            Err(source) if is_there_already(&source) => Ok(()),
            Err(source) => Err(classify(&source, doing)),
        }
    }

    async fn index(server: &Qdrant, name: &str, key: &str, kind: FieldType) -> Result<()> {
        let doing = "index a field";
        let mut request = CreateFieldIndexCollectionBuilder::new(name, key, kind).wait(true);
        if key == OWNER {
            request = request.field_index_params(KeywordIndexParamsBuilder::default().is_tenant(true));
        }
        let made = server
            .change(doing, request, |driver, request| async move { driver.create_field_index(request).await })
            .await?;
        made.map(|_| ()).map_err(|source| classify(&source, doing))
    }
}

/// Returns the fields that filters name, each with the type of its index.
fn indexes() -> Vec<(String, FieldType)> {
    let (keyword, integer, float) = (FieldType::Keyword, FieldType::Integer, FieldType::Float);
    let mut indexes = vec![(OWNER.to_owned(), keyword), (TOKENS.to_owned(), keyword)];
    indexes.extend([EPOCH, REVISION, BELOW].map(|key| (key.to_owned(), integer)));
    indexes.extend(tokens::numbers().map(|(key, _)| (key.to_owned(), integer)));
    for (list, kind) in [(INTS, integer), (FLOATS, float)] {
        indexes.extend([(format!("{list}[].{KEY}"), keyword), (format!("{list}[].{NUMBER}"), kind)]);
    }
    indexes
}

fn vectors(space: &EmbeddingSpace) -> VectorsConfig {
    let params = VectorParams {
        size: space.dimension as u64,
        distance: Distance::Cosine.into(),
        // All pieces of an item are one point, which is as near as its nearest piece: an item is replaced in one step.
        multivector_config: Some(MultiVectorConfig { comparator: MultiVectorComparator::MaxSim.into() }),
        ..VectorParams::default()
    };
    VectorsConfig { config: Some(vectors_config::Config::Params(params)) }
}

fn strict() -> StrictModeConfig {
    StrictModeConfig {
        enabled: Some(true),
        max_query_limit: u32::try_from(LARGEST_PAGE).ok(),
        unindexed_filtering_retrieve: Some(false),
        unindexed_filtering_update: Some(false),
        search_allow_exact: Some(true),
        upsert_max_batchsize: Some(LARGEST_WRITE),
        filter_max_conditions: Some(16_384),
        max_payload_index_count: Some(32),
        ..StrictModeConfig::default()
    }
}

fn metadata(space: &EmbeddingSpace) -> HashMap<String, Value> {
    let EmbeddingSpace { model, dimension, normalised, recipe } = space;
    let values = [
        ("memory_schema", Value::from(SCHEMA)),
        ("model", Value::from(model.as_str())),
        ("dimension", Value::from(i64::try_from(*dimension).unwrap_or(i64::MAX))),
        ("normalised", Value::from(i64::from(*normalised))),
        ("recipe", Value::from(recipe.as_str())),
    ];
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns `Ok` if a collection holds vectors of this space in this crate's form.
fn check(info: &CollectionInfo, space: &EmbeddingSpace) -> Result<()> {
    let config = info.config.as_ref();
    let found = config.map(|config| &config.metadata);
    let schema = found.and_then(|found| found.get("memory_schema")).and_then(|value| value.kind.as_ref());
    match schema {
        Some(Kind::IntegerValue(SCHEMA)) => {}
        Some(Kind::IntegerValue(newer)) if *newer > SCHEMA => {
            return Err(unsupported("open a collection of a newer version of this crate"));
        }
        _ => return Err(unsupported("open a collection that another application made")),
    }
    let found = found.cloned().unwrap_or_default();
    let params = config.and_then(|config| config.params.as_ref()).and_then(|params| params.vectors_config.as_ref());
    if found != metadata(space) || params.is_none_or(|params| !is_alike(params, space)) {
        return Err(Error::SpaceMismatch { expected: shown(&found), found: space.to_string() });
    }
    Ok(())
}

/// Servers add defaults to what they were given, so only what matters is compared.
fn is_alike(found: &VectorsConfig, space: &EmbeddingSpace) -> bool {
    let Some(vectors_config::Config::Params(params)) = &found.config else { return false };
    params.size == space.dimension as u64
        && params.distance() == Distance::Cosine
        && params.multivector_config.as_ref().is_some_and(|multi| multi.comparator() == MultiVectorComparator::MaxSim)
}

/// Returns a space as it is stored, as [`EmbeddingSpace`] shows itself.
fn shown(found: &HashMap<String, Value>) -> String {
    let part = |key: &str| match found.get(key).and_then(|value| value.kind.as_ref()) {
        Some(Kind::StringValue(text)) => text.clone(),
        Some(Kind::IntegerValue(number)) => number.to_string(),
        _ => "?".to_owned(),
    };
    [part("model"), part("dimension"), part("recipe")].join("/")
}

#[cfg(test)]
mod tests {
    use ::qdrant_client::qdrant::{CollectionConfig, CollectionParams};

    use super::*;

    fn space() -> EmbeddingSpace {
        EmbeddingSpace { model: "m".to_owned(), dimension: 3, normalised: true, recipe: "r".to_owned() }
    }

    fn info(space: &EmbeddingSpace) -> CollectionInfo {
        let params = CollectionParams { vectors_config: Some(vectors(space)), ..CollectionParams::default() };
        let config =
            CollectionConfig { params: Some(params), metadata: metadata(space), ..CollectionConfig::default() };
        CollectionInfo { config: Some(config), ..CollectionInfo::default() }
    }

    #[test]
    fn a_collection_of_the_space_is_ours_and_one_of_another_is_a_mismatch() {
        assert!(check(&info(&space()), &space()).is_ok());
        let others = [
            EmbeddingSpace { model: "n".to_owned(), ..space() },
            EmbeddingSpace { dimension: 4, ..space() },
            EmbeddingSpace { normalised: false, ..space() },
            EmbeddingSpace { recipe: "s".to_owned(), ..space() },
        ];
        for other in others {
            assert!(matches!(check(&info(&other), &space()), Err(Error::SpaceMismatch { .. })));
        }
        let mut wide = info(&space());
        wide.config.as_mut().unwrap().params.as_mut().unwrap().vectors_config =
            Some(vectors(&EmbeddingSpace { dimension: 4, ..space() }));
        assert!(matches!(check(&wide, &space()), Err(Error::SpaceMismatch { .. })));
    }

    #[test]
    fn a_collection_of_another_application_or_of_a_newer_version_is_left_alone() {
        let mut foreign = info(&space());
        foreign.config.as_mut().unwrap().metadata.clear();
        let mut newer = info(&space());
        newer.config.as_mut().unwrap().metadata.insert("memory_schema".to_owned(), Value::from(SCHEMA + 1));
        for found in [foreign, newer, CollectionInfo::default()] {
            assert!(matches!(check(&found, &space()), Err(Error::Unsupported { .. })));
        }
    }

    #[test]
    fn there_are_fewer_indexes_than_strict_mode_allows() {
        let indexes = indexes();
        assert!(indexes.len() as u64 <= strict().max_payload_index_count.unwrap());
    }
}
