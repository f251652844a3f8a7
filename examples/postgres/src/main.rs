//! What a person told, kept and searched in PostgreSQL: run it twice, and the second run knows what the first was told.
//!
//! `DATABASE_URL=postgres://memory@localhost/app cargo run -p example-postgres`

use std::io::Write as _;
use std::sync::Arc;

use memory::analysis::Analysis;
use memory::postgres::{PgChat, PgRecords, PgText, Postgres, PostgresConfig};
use memory::store::Truth;
use memory::store::chat::{Page, View};
use memory::{Memory, Message, Role, Scope, Search, SessionId};

#[expect(clippy::disallowed_methods, reason = "the configuration of the example")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = setting("DATABASE_URL").ok_or("DATABASE_URL names the database")?;
    let schema = setting("DATABASE_SCHEMA").unwrap_or_else(|| "memory".to_owned());
    // Creates the schema and its tables the first time.
    let server = Postgres::connect(PostgresConfig::new(&url)?.with_schema(&schema)?).await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "row-level security binds this role: {}", server.is_walled())?;

    let (chat, records) = (Arc::new(PgChat::new(&server)), Arc::new(PgRecords::new(&server)));
    let text = Arc::new(PgText::new(&server, Analysis::english().name()));
    let memory = Memory::builder(Truth::chat(chat), Truth::records(records)).text(text).build().await?;
    // Every call names its owner: there is no way to anybody's data without one.
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let session = ada.session(&SessionId::new("notes")?);
    session.append(vec![Message::new(Role::User, "I take my tea without milk.", memory.now())]).await?;

    let log = session.read(&Page::after(memory::Seq(0), 100, View::Log)).await?;
    writeln!(out, "ada has said {} things", log.messages.len())?;
    // Another owner has a session of the same name, and nothing in it.
    let bob = memory.of(&Scope::new("acme", "bob")?).session(&SessionId::new("notes")?);
    writeln!(out, "bob has said {} things", bob.read(&Page::newest(100)).await?.messages.len())?;

    // The index lies beside the truth, but follows it by notes, as it would on another server.
    memory.upkeep_once().await?;
    for person in ["ada", "bob"] {
        let found = memory.of(&Scope::new("acme", person)?).search(&Search::new("tea").limit(100)).await?;
        writeln!(out, "{} things of {person} are about tea", found.hits.len())?;
    }
    memory.close().await?;
    Ok(())
}
