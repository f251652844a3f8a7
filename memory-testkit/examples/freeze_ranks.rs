//! Writes what the questions of the fixture find into `fixtures/ranks.json` (a text store) and `fixtures/figures.json`
//! (the engine), from a run over the in-process stores: `cargo run -p memory-testkit --example freeze_ranks`.
//!
//! To be run when ranking is changed on purpose; the difference belongs into the same commit, with its reason.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use memory_core::reference::{MemChat, MemText};
use memory_core::{Analysis, Clock as _, Scope, Truth};
use memory_testkit::Texts;
use memory_testkit::doubles::ManualClock;
use memory_testkit::fixture::{Fixture, Ranks, Table, memory};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let fixture = Fixture::load()?;
    let analysis = Analysis::english();
    let store: Texts = Arc::new(MemText::new(analysis.name()));
    let scope = Scope::new("fixture", "owner")?;
    fixture.put(&store, &scope, &analysis).await?;
    let ranks = Ranks::of_store(&store, &scope, &fixture, &analysis, ManualClock::default().now()).await?;

    let memory = memory(Truth::chat(Arc::new(MemChat::default()))).await?;
    let owner = fixture.append(&memory).await?;
    let figures = Table::of(&fixture.ask(&owner).await?, &fixture)?;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    std::fs::write(folder.join("ranks.json"), ranks.to_text())?;
    std::fs::write(folder.join("figures.json"), figures.to_text())?;
    Ok(())
}
