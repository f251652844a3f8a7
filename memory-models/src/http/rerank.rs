//! Rerankers over HTTP.
//!
//! Shapes: <https://docs.cohere.com/reference/rerank>, <https://jina.ai/reranker/> and, of vLLM and llama.cpp, the same; that of
//! text-embeddings-inference is `/rerank` in <https://huggingface.github.io/text-embeddings-inference/>.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::Result;
use memory_core::model::Reranker;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::attempts::end_of;
use super::client::{Client, KeyIn};
use super::config::HttpConfig;
use super::dialect::{Placed, RerankDialect, answer, in_order, json as read_json};
use super::error::Fault;

const RERANK: &str = "rerank";

static COMMON: RerankDialect = RerankDialect { path: &["rerank"], batch: 1_000, body: common_body, read: common };
static TEI: RerankDialect = RerankDialect { path: &["rerank"], batch: 32, body: tei_body, read: tei };

/// A server of rerankers. Cheap to clone; clones share their connections and bounds.
///
/// ```no_run
/// use memory_models::{HttpConfig, RerankServer};
///
/// # fn example(key: &str) -> memory_core::Result<()> {
/// let cohere = RerankServer::cohere(key)?.reranker("rerank-v3.5");
/// let jina = RerankServer::jina(key)?.reranker("jina-reranker-v2-base-multilingual");
/// let vllm = RerankServer::with_config(HttpConfig::new("http://127.0.0.1:8000/v1")?)?.reranker("BAAI/bge-reranker-base");
/// let tei = RerankServer::tei(HttpConfig::new("http://127.0.0.1:8080")?)?.reranker("BAAI/bge-reranker-base");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RerankServer {
    client: Arc<Client>,
    dialect: &'static RerankDialect,
}

impl RerankServer {
    /// Where Cohere is asked.
    pub const COHERE: &str = "https://api.cohere.com/v2";
    /// Where Jina is asked.
    pub const JINA: &str = "https://api.jina.ai/v1";

    /// Returns Cohere, with the usual patience.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn cohere(key: impl Into<String>) -> Result<Self> {
        Self::with_config(HttpConfig::new(Self::COHERE)?.with_key(key))
    }

    /// Returns Jina, with the usual patience.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn jina(key: impl Into<String>) -> Result<Self> {
        Self::with_config(HttpConfig::new(Self::JINA)?.with_key(key))
    }

    /// Returns a server that is asked as Cohere and Jina are, such as vLLM and llama.cpp. Its address ends where `/rerank` follows.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn with_config(config: HttpConfig) -> Result<Self> {
        Self::of(config, &COMMON)
    }

    /// Returns a server of text-embeddings-inference, which has one model. Its address ends where `/rerank` follows.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn tei(config: HttpConfig) -> Result<Self> {
        Self::of(config, &TEI)
    }

    fn of(config: HttpConfig, dialect: &'static RerankDialect) -> Result<Self> {
        Ok(Self { client: Arc::new(Client::new("reranker", config, KeyIn::Bearer, &[])?), dialect })
    }

    /// Returns the reranker of this name.
    pub fn reranker(&self, model: impl Into<String>) -> HttpReranker {
        HttpReranker { server: self.clone(), model: model.into() }
    }
}

/// A reranker over HTTP. Cheap to clone.
///
/// Texts are judged in batches, of which each score is of its own text alone.
#[derive(Clone, Debug)]
pub struct HttpReranker {
    server: RerankServer,
    model: String,
}

impl HttpReranker {
    async fn batch(&self, question: &str, texts: &[&str], until: Instant) -> Result<Vec<f32>> {
        let RerankServer { client, dialect } = &self.server;
        let body = (dialect.body)(&self.model, question, texts);
        let given = client.post(RERANK, dialect.path, &body, dialect.read, until).await?;
        let scores = in_order(given, texts.len()).and_then(|scores| {
            let is_sound = scores.iter().all(|score| score.is_finite());
            if is_sound { Ok(scores) } else { Err(Fault::Garbled("a score is not finite")) }
        });
        scores.map_err(|fault| fault.while_doing(client.backend, RERANK))
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn rerank(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>> {
        let RerankServer { client, dialect } = &self.server;
        let until = end_of(client.config.deadline);
        let asked = texts.chunks(dialect.batch).map(|batch| self.batch(question, batch, until));
        Ok(client.all(RERANK, asked, until).await?.concat())
    }
}

fn common_body(model: &str, question: &str, texts: &[&str]) -> Value {
    json!({ "model": model, "query": question, "documents": texts, "top_n": texts.len() })
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    index: usize,
    relevance_score: f32,
}

fn common(bytes: &[u8]) -> Placed<f32> {
    let results: Results = answer(bytes)?;
    Ok(results.results.into_iter().map(|judged| (judged.index, judged.relevance_score)).collect())
}

/// The model is the server's; a text that is too long for it is cut.
fn tei_body(_: &str, question: &str, texts: &[&str]) -> Value {
    json!({ "query": question, "texts": texts, "truncate": true })
}

#[derive(Deserialize)]
struct Rank {
    index: usize,
    score: f32,
}

fn tei(bytes: &[u8]) -> Placed<f32> {
    let ranks: Vec<Rank> = read_json(bytes)?;
    Ok(ranks.into_iter().map(|rank| (rank.index, rank.score)).collect())
}
