//! Settings at their ends: a long time between refreshes, and answers that are longer than what is read of one.

use std::time::Duration;

use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorQuery, VectorStore as _};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Filter, Scope, Unit};
use memory_elastic::{Elastic, ElasticConfig, ElasticText, ElasticVectors};
use memory_testkit::generate::deletion;
use memory_testkit::services::Servers;
use memory_testkit::{Scene, equal};
use uuid::Uuid;

use super::server::Admin;
use super::{count, entry};

/// The interval is longer than the client waits.
pub(crate) async fn what_is_put_or_deleted_waits_for_no_interval(servers: Servers) -> Scene {
    let (url, prefix) = (servers.url("elastic")?, format!("rare{}", Uuid::now_v7().simple()));
    let config = ElasticConfig::new(&url)?.with_prefix(&prefix)?.with_refresh(Duration::from_secs(60));
    let patience = Duration::from_secs(20);
    let elastic = Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?;
    let (text, scope) = (ElasticText::open(&elastic, "test").await?, Scope::new("f", "ada")?);
    let (first, second) = (entry(1, 0)?, entry(2, 0)?);
    equal(text.put(&scope, &[first.clone(), second], Visibility::OnReturn).await?.len(), 0)?;
    equal(count(&text, &scope).await?, 2)?;
    text.delete(&scope, &deletion([first.item])).await?;
    equal(count(&text, &scope).await?, 1)?;
    Admin::of(&url, &prefix).delete().await
}

/// The hits are those of a client that reads longer answers.
pub(crate) async fn hits_that_are_too_long_for_one_answer_are_read_in_parts(servers: Servers) -> Scene {
    let (url, prefix) = (servers.url("elastic")?, format!("long{}", Uuid::now_v7().simple()));
    let reach = async |bytes: usize| {
        let config = ElasticConfig::new(&url)?.with_prefix(&prefix)?.with_answer_bytes(bytes);
        let patience = Duration::from_secs(60);
        Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await
    };
    let (model, recipe, scope) = ("test".to_owned(), "plain-1".to_owned(), Scope::new("f", "ada")?);
    let space = EmbeddingSpace { model, dimension: 2, normalised: true, recipe };
    let whole = reach(256 << 20).await?;
    let (text, vectors) =
        (ElasticText::open(&whole, "test").await?, ElasticVectors::open(&whole, space.clone()).await?);
    let (mut entries, mut pointed) = (Vec::new(), Vec::new());
    for number in 0..24u8 {
        let mut entry = entry(u64::from(number), 0)?;
        entry.own = vec![(Term::new("river")?, 1 + u32::from(number % 5))];
        entry.fields.tags = vec!["x".repeat(2_000)];
        let TextEntry { item, version, fields, .. } = entry.clone();
        entries.push(entry);
        let mut pieces = vec![vec![1.0, f32::from(number)]];
        pieces.extend(number.is_multiple_of(2).then(|| vec![-1.0, 0.0]));
        pointed.push(VectorEntry { item, version, pieces, fields });
    }
    equal(text.put(&scope, &entries, Visibility::OnReturn).await?.len(), 0)?;
    equal(vectors.put(&scope, &pointed, Visibility::OnReturn).await?.len(), 0)?;

    // One hit fits into an answer, and not the evidence of all.
    let short = ElasticText::open(&reach(4_000).await?, "test").await?;
    let query = TextQuery { terms: vec![Term::new("river")?], unit: Unit::Message, filter: Filter::All, limit: 20 };
    let found = text.search(&scope, &query).await?;
    equal(found.hits.len(), 20)?;
    equal(short.search(&scope, &query).await?, found)?;

    let short = ElasticVectors::open(&reach(12_000).await?, space.clone()).await?;
    for with_vectors in [false, true] {
        let (space, vector, filter) = (space.clone(), vec![1.0, 0.0], Filter::All);
        let query = VectorQuery { space, vector, filter, limit: 20, floor: None, with_vectors };
        let found = vectors.search(&scope, &query).await?;
        equal(found.len(), 20)?;
        equal(short.search(&scope, &query).await?, found)?;
    }
    Admin::of(&url, &prefix).delete().await
}
