//! Times of a vector store, over generated vectors of owners of several sizes.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorQuery, VectorStore};
use memory_core::vector::EmbeddingSpace;
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit, Version,
};

use super::{Outcome, Times};
use crate::generate::{Cluster, Random, deletion};

/// Numbers of a vector.
pub const DIMENSION: usize = 384;

/// Returns the owner of `count` vectors.
///
/// # Errors
/// None.
pub fn owner(count: usize) -> Result<Scope> {
    Scope::new("bench", &format!("owner of {count}"))
}

/// Returns the space of the vectors, of the given model.
pub fn space(model: &str) -> EmbeddingSpace {
    EmbeddingSpace { model: model.to_owned(), dimension: DIMENSION, normalised: true, recipe: "1".to_owned() }
}

fn cluster() -> Cluster {
    Cluster::new(&mut Random::new(1), 50, DIMENSION)
}

/// Returns 100 questions drawn as the vectors are, the same at every call.
pub fn queries() -> Vec<Vec<f32>> {
    let (cluster, mut random) = (cluster(), Random::new(2));
    (0..100).map(|_| cluster.draw(&mut random)).collect()
}

/// Returns one entry of one piece for each of `count` messages, 12 of them a session; another `seed` gives others.
///
/// # Errors
/// None.
pub fn entries(seed: u64, count: usize) -> Result<Vec<VectorEntry>> {
    let (cluster, mut random) = (cluster(), Random::new(seed));
    let entry = |number: usize| {
        let session = SessionId::new(&format!("session {}", number / 12))?;
        let mut fields = Fields::of_span(&session, Seq(number as u64 % 12 + 1), Timestamp(number as i64 * 1_000_000));
        fields.unit = Unit::Message;
        fields.role = Some(if number.is_multiple_of(2) { Role::User } else { Role::Assistant });
        Ok(VectorEntry {
            item: ItemId::Message(MessageId::fresh()),
            version: Version { epoch: Epoch(0), revision: 0 },
            pieces: vec![cluster.draw(&mut random)],
            fields,
        })
    };
    (0..count).map(entry).collect()
}

/// Returns a search of a hundred among everything.
pub fn query(vectors: &dyn VectorStore, vector: Vec<f32>) -> VectorQuery {
    let space = vectors.space().clone();
    VectorQuery { space, vector, filter: Filter::All, limit: 100, floor: None, with_vectors: false }
}

/// Returns `Ok` if a search found as many as it asked for.
///
/// # Errors
/// How many were found.
pub fn whole(found: usize, query: &VectorQuery) -> Outcome<()> {
    if found >= query.limit { Ok(()) } else { Err(format!("{found} items were found").into()) }
}

/// Searches what [`fill`] put for the owner of `count` vectors: everything, and by three filters, 100 times each.
///
/// # Errors
/// The first error of the store.
pub async fn search(vectors: &dyn VectorStore, count: usize) -> Result<()> {
    let scope = owner(count)?;
    let filters = [
        ("all", Filter::All),
        ("what is current", Filter::current(Timestamp(0))),
        ("half of the messages", Filter::eq(Field::Role, "user")),
        ("one session", Filter::eq(Field::Session, "session 4")),
    ];
    for (name, filter) in filters {
        let query = |vector| VectorQuery { filter: filter.clone(), ..query(vectors, vector) };
        let queries: Vec<_> = queries().into_iter().map(query).collect();
        let times = Times::of(queries.len(), async |number| {
            let Some(query) = queries.get(number) else { return Ok(()) };
            vectors.search(&scope, query).await.map(|_| ())
        });
        times.await?.report(&format!("search {count}, {name}"));
    }
    Ok(())
}

/// Puts the vectors of the owner of `count`, 256 a call.
///
/// # Errors
/// The first error of the store.
pub async fn fill(vectors: &dyn VectorStore, count: usize) -> Result<()> {
    let (scope, entries) = (owner(count)?, entries(3, count)?);
    let batches: Vec<_> = entries.chunks(256).collect();
    let times = Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        vectors.put(&scope, batch, Visibility::AfterFlush).await.map(|_| ())
    });
    times.await?.report(&format!("put 256 vectors at a time, {count}"));
    Ok(())
}

/// Puts one vector more and deletes it again, 200 times, beside the owner's `count`.
///
/// # Errors
/// The first error of the store.
pub async fn churn(vectors: &dyn VectorStore, count: usize) -> Result<()> {
    let (scope, entries) = (owner(count)?, entries(4, 200)?);
    let times = Times::of(entries.len(), async |number| {
        let one = entries.get(number..=number).unwrap_or_default();
        vectors.put(&scope, one, Visibility::OnReturn).await?;
        vectors.delete(&scope, &deletion(one.iter().map(|entry| entry.item.clone()))).await
    });
    times.await?.report("put a vector and delete it");
    Ok(())
}
