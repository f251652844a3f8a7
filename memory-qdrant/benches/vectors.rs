//! How much of the speed of the client alone putting and searching keep: the client makes the same calls with the same
//! points, the same conditions and the same two looks at the tombstone, and the two take turns.
//!
//! `MEMORY_TEST_QDRANT_URL=http://localhost:6334 cargo bench -p memory-qdrant --bench vectors -- [ROUNDS]`

use std::process::ExitCode;

use ::qdrant_client::Qdrant as Driver;
use ::qdrant_client::qdrant::{
    Condition, DenseVector, Filter, GetPoints, MultiDenseVector, PointId, PointStruct, Query, QueryBatchPoints,
    QueryPoints, Range, ScrollPointsBuilder, SearchParams, UpsertPoints, Value, Vector, VectorInput, VectorsOutput,
    WriteOrdering, query, vector_input, vector_output, vectors_output::VectorsOptions,
};
use memory_core::Scope;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorEntry, VectorQuery};
use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory_testkit::bench::{Outcome, Turns, against, numbers, say, vectors};
use uuid::Uuid;

const ITEMS: usize = 4_096;
const CHUNK: usize = 256;
/// How many candidates the adapter asks for beyond those wanted.
const MARGIN: u64 = 4;

/// The client alone, over the collection that the adapter made.
struct Bare {
    driver: Driver,
    collection: String,
    scope: Scope,
    tombstone: PointId,
}

impl Bare {
    /// Returns the points that the adapter stored, as they would be written for another owner.
    async fn points(&self, from: &Scope) -> Outcome<Vec<PointStruct>> {
        let own = Filter::must([Condition::matches("owner", from.key().to_owned())]);
        let request = ScrollPointsBuilder::new(&self.collection).filter(own).limit(ITEMS as u32);
        let found = self.driver.scroll(request.with_payload(true).with_vectors(true)).await?.result;
        let point = |mut found: ::qdrant_client::qdrant::RetrievedPoint| {
            found.payload.insert("owner".to_owned(), Value::from(self.scope.key()));
            PointStruct::new(Uuid::now_v7().to_string(), Vector::new_multi(pieces(found.vectors)), found.payload)
        };
        Ok(found.into_iter().map(point).collect())
    }

    async fn look(&self) -> Outcome<()> {
        let request = GetPoints {
            collection_name: self.collection.clone(),
            ids: vec![self.tombstone.clone()],
            with_payload: Some(true.into()),
            ..GetPoints::default()
        };
        self.driver.get_points(request).await?;
        Ok(())
    }

    async fn put(&self, points: &[PointStruct]) -> Outcome<()> {
        self.look().await?;
        let range = |key: &str, range: Range| Condition::range(key, range);
        let same = Filter::must([
            range("epoch", Range { gte: Some(0.0), lte: Some(0.0), ..Range::default() }),
            range("revision", Range { lte: Some(0.0), ..Range::default() }),
        ]);
        let older = [range("epoch", Range { lt: Some(0.0), ..Range::default() }), same.into()];
        let request = UpsertPoints {
            collection_name: self.collection.clone(),
            wait: Some(true),
            points: points.to_vec(),
            update_filter: Some(Filter {
                must: vec![Condition::matches("owner", self.scope.key().to_owned())],
                should: vec![Filter::should(older).into()],
                ..Filter::default()
            }),
            ordering: Some(WriteOrdering { r#type: 2 }),
            ..UpsertPoints::default()
        };
        self.driver.upsert_points(request).await?;
        self.look().await
    }

    async fn search(&self, sought: &VectorQuery) -> Outcome<usize> {
        let one = MultiDenseVector { vectors: vec![DenseVector { data: sought.vector.clone() }] };
        let input = VectorInput { variant: Some(vector_input::Variant::MultiDense(one)) };
        let candidates = QueryPoints {
            collection_name: self.collection.clone(),
            query: Some(Query { variant: Some(query::Variant::Nearest(input)) }),
            filter: Some(Filter::must([Condition::matches("owner", self.scope.key().to_owned())])),
            params: Some(SearchParams { exact: Some(true), ..SearchParams::default() }),
            limit: Some(sought.limit as u64 + MARGIN),
            with_payload: Some(vec!["owner", "item", "epoch", "pieces", "fields"].into()),
            ..QueryPoints::default()
        };
        let tombstone = QueryPoints {
            collection_name: self.collection.clone(),
            filter: Some(Filter::must([Condition::has_id([self.tombstone.clone()])])),
            limit: Some(1),
            with_payload: Some(true.into()),
            ..QueryPoints::default()
        };
        let request = QueryBatchPoints {
            collection_name: self.collection.clone(),
            query_points: vec![candidates, tombstone],
            ..QueryBatchPoints::default()
        };
        Ok(self.driver.query_batch(request).await?.result.first().map_or(0, |found| found.result.len()))
    }
}

fn pieces(vectors: Option<VectorsOutput>) -> Vec<Vec<f32>> {
    let Some(VectorsOptions::Vector(found)) = vectors.and_then(|vectors| vectors.vectors_options) else {
        return Vec::new();
    };
    match found.vector {
        Some(vector_output::Vector::MultiDense(multi)) => multi.vectors.into_iter().map(|piece| piece.data).collect(),
        _ => Vec::new(),
    }
}

async fn puts(
    store: &QdrantVectors,
    bare: &Bare,
    scope: &Scope,
    entries: &[VectorEntry],
    rounds: usize,
) -> Outcome<()> {
    let points = bare.points(scope).await?;
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let put = async |entries| Ok(store.put(scope, entries, Visibility::AfterFlush).await?);
        turns.take("library", entries.chunks(CHUNK), put).await?;
        let put = async |points: &[PointStruct]| bare.put(points).await;
        turns.take("client alone, the same calls", points.chunks(CHUNK), put).await?;
    }
    turns.report(&format!("put of {CHUNK} vectors"));
    Ok(())
}

async fn searches(
    store: &QdrantVectors,
    bare: &Bare,
    scope: &Scope,
    queries: &[VectorQuery],
    rounds: usize,
) -> Outcome<()> {
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let ask = async |query| vectors::whole(store.search(scope, query).await?.len(), query);
        turns.take("library", queries, ask).await?;
        let ask = async |query| vectors::whole(bare.search(query).await?, query);
        turns.take("client alone, the same calls", queries, ask).await?;
    }
    turns.report(&format!("search of {ITEMS}"));
    Ok(())
}

async fn run(url: String) -> Outcome<()> {
    let [rounds] = numbers([9]);
    let prefix = format!("bench-{}", Uuid::now_v7().simple());
    let server = Qdrant::connect(QdrantConfig::new(&url).with_prefix(prefix)).await?;
    let store = QdrantVectors::open(&server, vectors::space("bench")).await?;
    let driver = Driver::from_url(&url).skip_compatibility_check().build()?;
    let (ada, bob) = (Scope::new("bench", "ada")?, Scope::new("bench", "bob")?);
    let tombstone = PointId::from(Uuid::now_v7().to_string());
    let bare = Bare { driver, collection: store.collection().to_owned(), scope: bob, tombstone };
    let health = server.ping().await?;
    let dimension = vectors::DIMENSION;
    say(&format!("{} {}; {ITEMS} items of {dimension} numbers each, {rounds} rounds", health.server, health.version));
    let entries = vectors::entries(1, ITEMS)?;
    store.put(&ada, &entries, Visibility::AfterFlush).await?;
    puts(&store, &bare, &ada, &entries, rounds).await?;
    let queries: Vec<_> = vectors::queries().into_iter().map(|vector| vectors::query(&store, vector)).collect();
    searches(&store, &bare, &ada, &queries, rounds).await?;
    bare.driver.delete_collection(store.collection()).await?;
    Ok(())
}

fn main() -> ExitCode {
    against("qdrant", run)
}
