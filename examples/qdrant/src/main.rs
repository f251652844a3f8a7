//! Conversations in one SQLite file, search by meaning in a Qdrant server.
//!
//! `QDRANT_URL=http://localhost:6334 cargo run -p example-qdrant -- memory.sqlite "green tea"`

use std::io::Write;
use std::sync::Arc;

use memory::analysis::Analysis;
use memory::model::Embedder;
use memory::model::HashEmbedder;
use memory::qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory::sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};
use memory::store::Truth;
use memory::{Memory, Message, Role, Scope, Search, SessionId};

const SAID: [&str; 4] = [
    "I drink green tea in the morning.",
    "My order E-4471-B has not arrived yet.",
    "We moved to a house by the sea.",
    "The cat sleeps on the keyboard.",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(words)) = (arguments.next(), arguments.next()) else {
        return Err("give the path of a file and what to search for".into());
    };
    let config = QdrantConfig::from_env()?.ok_or("set QDRANT_URL, such as http://localhost:6334")?;

    // Truth: what was said, whole and durable. The index by words stands beside it in the same file.
    let sqlite = Sqlite::connect(SqliteConfig::new(file)).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&sqlite)));
    let records = Truth::records(Arc::new(SqliteRecords::new(&sqlite)));
    let text = Arc::new(SqliteText::new(&sqlite, Analysis::english().name()));

    // Pointers: ids and vectors. This embedder needs no model and knows no meanings; bring a real one.
    let embedder = Arc::new(HashEmbedder::new(256));
    let server = Qdrant::connect(config).await?;
    let vectors = Arc::new(QdrantVectors::open(&server, embedder.space().clone()).await?);

    let memory = Memory::builder(chat, records).text(text).vectors(vectors, embedder).build().await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let session = ada.session(&SessionId::new("small talk")?);
    session.append(SAID.map(|said| Message::new(Role::User, said, memory.now())).to_vec()).await?;
    // A crash before this leaves the notes of what is still to be indexed: the next upkeep does it.
    memory.upkeep_once().await?;

    let found = ada.search(&Search::new(words.as_str()).limit(2)).await?;
    let mut out = std::io::stdout().lock();
    for hit in &found.hits {
        writeln!(out, "{}", hit.content.text())?;
    }
    let receipt = &found.receipt;
    let (near, worded) = (receipt.vector_candidates, receipt.text_candidates);
    writeln!(out, "  ({near} near in meaning, {worded} with words of it; missing: {:?})", receipt.degraded)?;
    memory.close().await?;
    Ok(())
}
