//! An agent over one SQLite file whose model is asked over HTTP, streamed. Where its vendor embeds too, search by meaning is by the
//! vendor's embedder. Long conversations are summarised by the model, and what is recalled is judged by a reranker, if one is named.
//!
//! `MODEL_API_KEY=… cargo run -p example-models -- memory.sqlite openai https://api.openai.com/v1 gpt-5-mini`, or
//! `cargo run -p example-models -- memory.sqlite ollama http://127.0.0.1:11434 llama3.2`; then say something.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use memory::model::{Embedder, Reranker};
use memory::models::{Anthropic, ChatModel, ChatRequest, ChatSummarizer, HttpConfig, Ollama, OpenAi, RerankServer};
use memory::{Message, Role, Scope, SessionId, Settings};

type Failure = Box<dyn std::error::Error>;
type Models = (Arc<dyn ChatModel>, Option<Arc<dyn Embedder>>);

/// Returns the chat model and the embedder of a vendor.
async fn models(vendor: &str, config: HttpConfig, name: &str) -> Result<Models, Failure> {
    Ok(match vendor {
        "anthropic" => (Arc::new(Anthropic::with_config(config)?.chat(name)), None),
        "ollama" => {
            let ollama = Ollama::with_config(config)?;
            let embedder = ollama.embedder(Ollama::EMBEDDER).open().await?;
            (Arc::new(ollama.chat(name)), Some(Arc::new(embedder)))
        }
        "azure" => (Arc::new(OpenAi::azure(config)?.chat(name)), None),
        "openai" | "compatible" => {
            let open = if vendor == "openai" { OpenAi::with_config } else { OpenAi::compatible };
            let openai = open(config)?;
            let embedder = openai.embedder("text-embedding-3-small").open().await?;
            (Arc::new(openai.chat(name)), Some(Arc::new(embedder)))
        }
        other => return Err(format!("{other} is none of openai, compatible, azure, anthropic, ollama").into()),
    })
}

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "this is configuration: where the key is")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, vendor, url, name, reranker @ ..] = arguments.as_slice() else {
        return Err("give a file, a vendor, its address, a model's name, and perhaps a reranker's address".into());
    };
    let config = HttpConfig::new(url)?;
    let config = std::env::var("MODEL_API_KEY").map_or(config.clone(), |key| config.with_key(key));
    let (model, embedder) = models(vendor, config, name).await?;

    let settings = Settings::new(file);
    let settings = embedder.map_or(settings.clone(), |embedder| settings.with_embedder(embedder));
    let mut builder = settings.open().await?.summarizer(Arc::new(ChatSummarizer::new(Arc::clone(&model))));
    if let Some(url) = reranker.first() {
        let reranker: Arc<dyn Reranker> =
            Arc::new(RerankServer::with_config(HttpConfig::new(url)?)?.reranker("rerank"));
        builder = builder.reranker(reranker);
    }
    let memory = builder.build().await?;
    let session = memory.of(&Scope::new("acme", "ada")?).session(&SessionId::new("models")?);

    for line in io::stdin().lock().lines() {
        let line = line?;
        session.append(vec![Message::new(Role::User, line.as_str(), memory.now())]).await?;
        let context = session.context(&line, 3_000).await?;
        // An answer that breaks off is an error, and leaves nothing behind.
        let mut draft = session.draft();
        let mut show = |piece: &str| {
            draft.push(piece);
            let _ = write!(io::stdout(), "{piece}").and_then(|()| io::stdout().flush());
        };
        let answer = model.stream(&ChatRequest::new(context.messages().cloned().collect()), &mut show).await?;
        match answer.stop.name() {
            stop @ ("length" | "refused") => draft.finish_early(stop).await?,
            _ => draft.finish().await?,
        };
        writeln!(io::stdout(), "\n  ({:?}, {:?})", answer.stop, answer.usage)?;
        memory.upkeep_once().await?;
    }
    memory.close().await?;
    Ok(())
}
