//! Hybrid search (words and meaning, fused, read from truth) through the public calls of a memory, over stores in this
//! process and over a file, at growing numbers of messages of one owner; and of an owner of 10 beside them.
//!
//! `cargo bench -p memory-sqlite --bench hybrid`; `-- 1000 10000` for these sizes only, `-- 10000 times=50` for fifty times
//! as many searches, which a profiler sees better than the filling.
//!
//! The embedder looks vectors up, so that only the memory is measured. Goals in this process: 2 ms at 10,000, 20 ms at
//! 100,000, 0.3 ms for an owner of 10 beside 10,000.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, MemoryBuilder, Scoped, Search};
use memory_core::model::{Embedder, Purpose};
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorQuery, VectorStore};
use memory_core::vector::EmbeddingSpace;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{
    Epoch, Fields, Filter, ItemId, Message, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Truth, Unit,
    Version,
};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};
use memory_testkit::bench::{Times, heading, say};
use memory_testkit::generate::{Cluster, Random};

const DIMENSION: usize = 384;
const SESSION: usize = 200;
const VOCABULARY: usize = 30_000;

/// Gives every text a vector of its own, drawn when it is first seen: at a search it is looked up.
#[derive(Debug)]
struct Prepared {
    space: EmbeddingSpace,
    cluster: Cluster,
    queries: HashMap<String, Vec<f32>>,
    random: Mutex<Random>,
}

impl Prepared {
    fn new(queries: &[String]) -> Self {
        let mut random = Random::new(7);
        let cluster = Cluster::new(&mut random, 50, DIMENSION);
        let queries = queries.iter().map(|words| (words.clone(), cluster.draw(&mut random))).collect();
        let space = EmbeddingSpace {
            model: "bench".to_owned(),
            dimension: DIMENSION,
            normalised: false,
            recipe: "1".to_owned(),
        };
        Self { space, cluster, queries, random: Mutex::new(random) }
    }
}

#[async_trait]
impl Embedder for Prepared {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vector =
            |text: &&str| self.queries.get(*text).cloned().unwrap_or_else(|| self.cluster.draw(&mut random));
        Ok(texts.iter().map(&mut vector).collect())
    }
}

/// Words by their frequency: the n-th is n times rarer than the first, as in natural text.
fn words(random: &mut Random, count: usize) -> Vec<String> {
    let scale = (VOCABULARY as f64).ln();
    let word = |random: &mut Random| format!("w{:x}", (random.unit() * scale).exp() as usize + 30);
    (0..count).map(|_| word(random)).collect()
}

fn questions() -> Vec<String> {
    let mut random = Random::new(3);
    (0..50).map(|_| words(&mut random, 8).join(" ")).collect()
}

/// Appends messages of 45 words, and lets the indexes follow.
async fn fill(owner: &Scoped, random: &mut Random, count: usize) -> Result<()> {
    for (number, from) in (0..count).step_by(SESSION).enumerate() {
        let session = owner.session(&SessionId::new(&format!("session {number}"))?);
        let message = |place: usize, random: &mut Random| {
            let role = if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
            Message::new(role, words(random, 45).join(" "), Timestamp(place as i64 * 60_000_000))
        };
        let messages = (from..count.min(from + SESSION)).map(|place| message(place, random)).collect();
        session.append(messages).await?;
    }
    let report = owner.memory().upkeep_once().await?;
    if report.failures.is_empty() { Ok(()) } else { Err(memory_core::Error::invalid(report.failures.join(", "))) }
}

async fn in_process(embedder: Arc<Prepared>) -> Result<Memory> {
    let (chat, records) = (Truth::chat(Arc::new(MemChat::default())), Truth::records(Arc::new(MemRecords::default())));
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    build(Memory::builder(chat, records).text(text).vectors(vectors, embedder)).await
}

async fn in_file(path: &std::path::Path, embedder: Arc<Prepared>) -> Result<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    let (chat, records) =
        (Truth::chat(Arc::new(SqliteChat::new(&file))), Truth::records(Arc::new(SqliteRecords::new(&file))));
    let text = Arc::new(SqliteText::new(&file, Analysis::english().name()));
    let vectors = Arc::new(SqliteVectors::new(&file, embedder.space().clone()));
    build(Memory::builder(chat, records).text(text).vectors(vectors, embedder)).await
}

async fn build(builder: MemoryBuilder) -> Result<Memory> {
    builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await
}

async fn search(name: &str, owner: &Scoped, questions: &[String], count: usize) -> Result<()> {
    let searches: Vec<Search> = questions.iter().map(|words| Search::new(words.clone())).collect();
    for search in &searches {
        let found = owner.search(search).await?;
        assert!(found.hits.len() == 10 && found.receipt.degraded.is_empty(), "{name}: {:?}", found.receipt.degraded);
    }
    let times = Times::of(count, async |number| {
        let Some(search) = searches.get(number % searches.len()) else { return Ok(()) };
        owner.search(search).await.map(|_| ())
    });
    times.await?.report(name);
    Ok(())
}

async fn measure(kind: &str, memory: &Memory, questions: &[String], sizes: &[usize], times: usize) -> Result<()> {
    let mut random = Random::new(11);
    for size in sizes {
        let owner = memory.of(&Scope::new("bench", &format!("owner of {size}"))?);
        fill(&owner, &mut random, *size).await?;
        search(&format!("{kind}, {size}"), &owner, questions, 200 * times).await?;
    }
    let small = memory.of(&Scope::new("bench", "owner of 10")?);
    fill(&small, &mut random, 10).await?;
    search(&format!("{kind}, an owner of 10"), &small, questions, 500 * times).await
}

/// The two stores of this process alone: what a search of each takes, and a put of one entry.
async fn legs(embedder: &Prepared, questions: &[String], size: usize) -> Result<()> {
    let (mut random, analysis, scope) = (Random::new(13), Analysis::english(), Scope::new("bench", "legs")?);
    let (text, vectors) = (MemText::new(analysis.name()), MemVectors::new(embedder.space().clone()));
    let extra = 2_000;
    let (mut text_entries, mut vector_entries) = (Vec::new(), Vec::new());
    for number in 0..size + extra {
        let mut fields = Fields::of_span(&SessionId::new("s")?, Seq(1), Timestamp(number as i64));
        fields.unit = Unit::Message;
        let item = ItemId::Message(MessageId::of_content(&number.to_le_bytes()));
        let version = Version { epoch: Epoch(0), revision: 0 };
        let own = analysis.document(&words(&mut random, 45).join(" "));
        let near = analysis.document(&words(&mut random, 60).join(" "));
        let near = near.into_iter().map(|(term, count)| (term, count as f32 * 0.3)).collect();
        text_entries.push(TextEntry { item: item.clone(), version, own, near, fields: fields.clone() });
        let pieces = vec![embedder.cluster.draw(&mut random)];
        vector_entries.push(VectorEntry { item, version, pieces, fields });
    }
    let (text_new, vectors_new) = (text_entries.split_off(size), vector_entries.split_off(size));
    text.put(&scope, &text_entries, Visibility::OnReturn).await?;
    vectors.put(&scope, &vector_entries, Visibility::OnReturn).await?;
    let queries: Vec<TextQuery> = questions
        .iter()
        .map(|words| {
            let terms: Vec<Term> = analysis.query(words);
            TextQuery { terms, unit: Unit::Message, filter: Filter::current(Timestamp(0)), limit: 100 }
        })
        .collect();
    let times = Times::of(200, async |number| {
        let Some(query) = queries.get(number % queries.len()) else { return Ok(()) };
        text.search(&scope, query).await.map(|_| ())
    });
    times.await?.report(&format!("words alone, {size}"));
    let sought: Vec<VectorQuery> = (0..50)
        .map(|_| VectorQuery {
            space: embedder.space().clone(),
            vector: embedder.cluster.draw(&mut random),
            filter: Filter::current(Timestamp(0)),
            limit: 100,
            floor: None,
            with_vectors: false,
        })
        .collect();
    let times = Times::of(200, async |number| {
        let Some(query) = sought.get(number % sought.len()) else { return Ok(()) };
        vectors.search(&scope, query).await.map(|_| ())
    });
    times.await?.report(&format!("vectors alone, {size}"));
    let times = Times::of(extra, async |number| {
        let new = text_new.get(number..=number).unwrap_or_default();
        text.put(&scope, new, Visibility::OnReturn).await.map(|_| ())
    });
    times.await?.report(&format!("put words, {size}"));
    let times = Times::of(extra, async |number| {
        let new = vectors_new.get(number..=number).unwrap_or_default();
        vectors.put(&scope, new, Visibility::OnReturn).await.map(|_| ())
    });
    times.await?.report(&format!("put a vector, {size}"));
    Ok(())
}

async fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let given: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![1_000, 10_000, 100_000] } else { given };
    let times = std::env::args().find_map(|argument| argument.strip_prefix("times=")?.parse().ok()).unwrap_or(1);
    let questions = questions();
    let embedder = Arc::new(Prepared::new(&questions));
    heading();
    for size in &sizes {
        legs(&embedder, &questions, *size).await?;
    }
    measure("in this process", &in_process(Arc::clone(&embedder)).await?, &questions, &sizes, times).await?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    measure("in a file", &in_file(&path, embedder).await?, &questions, &sizes, times).await?;
    say(&format!("{DIMENSION} numbers a vector; the file has {} bytes", std::fs::metadata(&path)?.len()));
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
