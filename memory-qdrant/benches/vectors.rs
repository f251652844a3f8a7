//! How long putting and searching takes, beside the client alone making the same calls: the same points, the same
//! conditions, the same two looks at the tombstone.
//!
//! `MEMORY_TEST_QDRANT_URL=http://localhost:6334 cargo bench -p memory-qdrant --bench vectors`

mod measure;

use ::qdrant_client::Qdrant as Driver;
use ::qdrant_client::qdrant::{
    Condition, DenseVector, Filter, GetPoints, MultiDenseVector, PointId, PointStruct, Query, QueryBatchPoints,
    QueryPoints, Range, ScrollPointsBuilder, SearchParams, UpsertPoints, Value, Vector, VectorInput, VectorsOutput,
    WriteOrdering, query, vector_input, vector_output, vectors_output::VectorsOptions,
};
use memory_core::text::Visibility;
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorQuery, VectorStore};
use memory_core::{
    Epoch, Fields, Filter as CoreFilter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit,
    Version,
};
use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory_testkit::generate::{Cluster, Random};
use uuid::Uuid;

use measure::{Times, heading, say};

const DIMENSION: usize = 384;
const ITEMS: usize = 4_096;
const CHUNK: usize = 256;
const SEARCHES: usize = 200;
const LIMIT: usize = 20;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn space() -> EmbeddingSpace {
    let (model, recipe) = ("bench".to_owned(), "1".to_owned());
    EmbeddingSpace { model, dimension: DIMENSION, normalised: true, recipe }
}

fn entries(random: &mut Random, cluster: &Cluster) -> Result<Vec<VectorEntry>> {
    let entry = |number: usize| {
        let session = SessionId::new(&format!("session {}", number / 12))?;
        let mut fields = Fields::of_span(&session, Seq(number as u64 % 12 + 1), Timestamp(number as i64 * 1_000_000));
        fields.unit = Unit::Message;
        fields.role = Some(if number.is_multiple_of(2) { Role::User } else { Role::Assistant });
        Ok(VectorEntry {
            item: ItemId::Message(MessageId::fresh()),
            version: Version { epoch: Epoch(0), revision: 2 },
            pieces: vec![cluster.draw(random)],
            fields,
        })
    };
    (0..ITEMS).map(entry).collect()
}

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
            range("revision", Range { lte: Some(2.0), ..Range::default() }),
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

    async fn search(&self, sought: &[f32]) -> Outcome<usize> {
        let one = MultiDenseVector { vectors: vec![DenseVector { data: sought.to_vec() }] };
        let input = VectorInput { variant: Some(vector_input::Variant::MultiDense(one)) };
        let candidates = QueryPoints {
            collection_name: self.collection.clone(),
            query: Some(Query { variant: Some(query::Variant::Nearest(input)) }),
            filter: Some(Filter::must([Condition::matches("owner", self.scope.key().to_owned())])),
            params: Some(SearchParams { exact: Some(true), ..SearchParams::default() }),
            limit: Some(LIMIT as u64 + 4),
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

async fn adapter_puts(store: &QdrantVectors, scope: &Scope, entries: &[VectorEntry]) -> Result<Times> {
    let batches: Vec<_> = entries.chunks(CHUNK).collect();
    let times = Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        store.put(scope, batch, Visibility::AfterFlush).await.map(|_| ())
    });
    times.await
}

async fn adapter_searches(store: &QdrantVectors, scope: &Scope, sought: &[Vec<f32>]) -> Result<Times> {
    let query = |vector: &Vec<f32>| VectorQuery {
        space: space(),
        vector: vector.clone(),
        filter: CoreFilter::All,
        limit: LIMIT,
        floor: None,
        with_vectors: false,
    };
    let queries: Vec<_> = sought.iter().map(query).collect();
    let times = Times::of(queries.len(), async |number| {
        let Some(query) = queries.get(number) else { return Ok(()) };
        store.search(scope, query).await.map(|_| ())
    });
    times.await
}

fn told<T>(answer: Outcome<T>) -> Result<T> {
    answer.map_err(|error| memory_core::Error::corrupt("bench", error.to_string()))
}

async fn run(url: &str) -> Outcome<()> {
    let prefix = format!("bench-{}", Uuid::now_v7().simple());
    let server = Qdrant::connect(QdrantConfig::new(url).with_prefix(prefix)).await?;
    let store = QdrantVectors::open(&server, space()).await?;
    let driver = Driver::from_url(url).skip_compatibility_check().build()?;
    let (ada, bob) = (Scope::new("bench", "ada")?, Scope::new("bench", "bob")?);
    let tombstone = PointId::from(Uuid::now_v7().to_string());
    let bare = Bare { driver, collection: store.collection().to_owned(), scope: bob, tombstone };
    let mut random = Random::new(1);
    let cluster = Cluster::new(&mut random, 50, DIMENSION);
    let entries = entries(&mut random, &cluster)?;
    let sought: Vec<_> = (0..SEARCHES).map(|_| cluster.draw(&mut random)).collect();
    let health = server.ping().await?;
    say(&format!("{} {}; {ITEMS} items of {DIMENSION} numbers", health.server, health.version));
    heading();
    adapter_puts(&store, &ada, &entries).await?.report("warm-up: put 256 items");
    let points = bare.points(&ada).await?;
    let batches: Vec<_> = points.chunks(CHUNK).collect();
    for turn in ["first", "again", "again"] {
        let times = Times::of(batches.len(), async |number| {
            told(bare.put(batches.get(number).copied().unwrap_or_default()).await)
        });
        times.await?.report(&format!("client: put 256 items, {turn}"));
        adapter_puts(&store, &ada, &entries).await?.report(&format!("adapter: put 256 items, {turn}"));
    }
    for turn in ["first", "again", "again"] {
        let times = Times::of(sought.len(), async |number| {
            told(bare.search(sought.get(number).map_or(&[][..], Vec::as_slice)).await).map(|_| ())
        });
        times.await?.report(&format!("client: search, {turn}"));
        adapter_searches(&store, &ada, &sought).await?.report(&format!("adapter: search, {turn}"));
    }
    bare.driver.delete_collection(store.collection()).await?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the configuration of the bench")]
fn main() -> Outcome<()> {
    let Ok(url) = std::env::var("MEMORY_TEST_QDRANT_URL") else {
        say("skipped: MEMORY_TEST_QDRANT_URL is not set");
        return Ok(());
    };
    tokio::runtime::Runtime::new()?.block_on(run(&url))
}
