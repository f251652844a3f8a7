//! Conversations in one SQLite file, search by words on an Elasticsearch server.
//!
//! `ELASTIC_HOST=localhost cargo run -p example-elastic -- memory.sqlite "green tea"`

use std::io::Write;
use std::sync::Arc;

use memory::analysis::Analysis;
use memory::elastic::{Configured, Elastic, ElasticText};
use memory::sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords};
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
    // Without ELASTIC_HOST the backend is disabled: this is an error that says so.
    let config = Configured::from_environment()?.enabled()?;

    // Truth: what was said, whole and durable.
    let sqlite = Sqlite::connect(SqliteConfig::new(file)).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&sqlite)));
    let records = Truth::records(Arc::new(SqliteRecords::new(&sqlite)));

    // Pointers: ids and terms, never the text. The server finds, core ranks.
    let server = Elastic::connect(config).await?;
    let text = Arc::new(ElasticText::open(&server, Analysis::english().name()).await?);

    let memory = Memory::builder(chat, records).text(text).build().await?;
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
    writeln!(out, "  ({} with words of it; missing: {:?})", receipt.text_candidates, receipt.degraded)?;
    memory.close().await?;
    Ok(())
}
