//! Coming from MUXI's `BufferMemory`.
//!
//! `cargo run -p coming-from --bin muxi`

use std::io::{self, Write};

use memory::{BufferConfig, Message, Role, Scope, Search, SessionId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `BufferMemory(max_size = 10, buffer_multiplier = 10, recency_bias = 0.3)`
    let memory = memory::open("memory:").await?.buffer(BufferConfig::balanced()).build().await?;
    // No user id in the metadata: every call names its owner.
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let buffer = ada.session(&SessionId::new("chat")?);

    // `add(text, role, metadata)`
    buffer.append(vec![Message::new(Role::User, "My rose is called Aurora.", memory.now())]).await?;
    buffer.append(vec![Message::new(Role::Assistant, "A fine name.", memory.now())]).await?;

    // `get_recent_messages(n)`
    let recent = buffer.recent().await?;
    writeln!(io::stdout(), "recent: {}", recent.len())?;
    // `search(query, limit)`
    let found = buffer.search(&Search::new("What is my rose called?").limit(3)).await?;
    if let Some(best) = found.hits.first() {
        writeln!(io::stdout(), "found: {}", best.content.text())?;
    }
    Ok(())
}
