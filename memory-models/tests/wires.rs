//! Embedders over HTTP keep what every embedder promises, if the server does its part.

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Result;
use memory_core::hashing::HashEmbedder;
use memory_models::{HttpConfig, Ollama, OpenAi};
use memory_testkit::wire::{Asked, Reply, Server, ollama, openai};
use memory_testkit::{Embedders, Suite};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Answers with vectors in which texts that share words lie near each other.
fn script(asked: &Asked) -> Reply {
    let body = asked.json();
    let texts = body.get("input").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let vectors: Vec<Vec<f32>> = texts.map(|text| HashEmbedder::new(64).vector(text)).collect();
    let is_ollama = asked.path.starts_with("/api/");
    Reply::json(&if is_ollama { ollama::embeddings(&vectors) } else { openai::embeddings(&vectors) })
}

async fn openai(url: &str) -> Result<Embedders> {
    let server = OpenAi::compatible(HttpConfig::new(&format!("{url}/v1"))?)?;
    Ok(Arc::new(server.embedder("text-embedding-3-small").open().await?))
}

async fn ollama(url: &str) -> Result<Embedders> {
    Ok(Arc::new(Ollama::with_config(HttpConfig::new(url)?)?.embedder(Ollama::EMBEDDER).open().await?))
}

fn main() -> ExitCode {
    let Ok(runtime) = Runtime::new() else { return ExitCode::FAILURE };
    let server = runtime.block_on(Server::start(script));
    let (one, other) = (server.url(""), server.url(""));
    let openai = Suite::new("openai").embedder(move |_| {
        let url = one.clone();
        async move { openai(&url).await }
    });
    let ollama = Suite::new("ollama").embedder(move |_| {
        let url = other.clone();
        async move { ollama(&url).await }
    });
    if openai.run() == ExitCode::SUCCESS { ollama.run() } else { ExitCode::FAILURE }
}
