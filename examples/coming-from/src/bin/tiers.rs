//! Coming from MUXI's three tiers: its `MemoryManager`, `WorkingMemory`, `VectorMemory` or `MilvusClient`, and what is `persistent`.
//!
//! `cargo run -p coming-from --bin tiers`

use std::io::{self, Write};

use memory::{Remember, Scope, WorkingNote};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `MemoryManager`: one memory has all tiers. A `MilvusClient` would be an index of vectors: `Settings::with_vectors`.
    let memory = memory::open("memory:").await?.build().await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);

    // `WorkingMemory.add`: bounded in bytes, and gone with the process.
    ada.note(WorkingNote::new("The weather in Lisbon is sunny, 24 degrees.", "weather")).await?;
    // `persistent`: a record, which stays. Told twice, it is one record still: the half of `rank_and_dedupe` that removes doubles.
    ada.remember(Remember::preference("Ada likes sunny terraces")).await?;
    let again = ada.remember(Remember::preference("Ada likes sunny terraces")).await?;
    writeln!(io::stdout(), "told twice: {:?}", again.outcome)?;

    // `generate_synopsis`: asked for once, and built by upkeep.
    ada.synopsis().await?;
    memory.upkeep_once().await?;
    if let Some(identity) = ada.synopsis().await?.identity {
        writeln!(io::stdout(), "synopsis: {}", identity.text)?;
    }

    // The query planner's `get_context`: ranked over all tiers, and no longer than its budget, which is `fit_to_window`.
    let context = ada.context("How is the weather in Lisbon?", 4_000).await?;
    let is_told = context.messages().any(|message| message.text().contains("24 degrees"));
    writeln!(io::stdout(), "the context has the note: {is_told}")?;
    writeln!(io::stdout(), "tokens: at most {}", context.receipt.tokens.limit)?;
    Ok(())
}
