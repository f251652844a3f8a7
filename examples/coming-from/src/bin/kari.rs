//! Coming from Kari: `ingest` behind the surprise gate, `query` and `recall`, `prune`, `purge`, the decay of `NeuroVault`, and the
//! `SessionBuffer` with its `replay`.
//!
//! `cargo run -p coming-from --bin kari -- FOLDER`

use std::io::{self, Write};
use std::time::Duration;

use memory::rank::Decay;
use memory::{Forget, Gate, Message, Remember, Role, Scope, Search, SessionId, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give the path of a folder")?;
    // `SessionBuffer`: what is said is in a journal first, and the database may be away.
    let settings = Settings::new(format!("{folder}/kari.sqlite")).with_journal(format!("{folder}/journal.sqlite"));
    let memory = settings.open().await?.build().await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let session = ada.session(&SessionId::new("monday")?);
    let said = vec![Message::new(Role::User, "I am on the train to Porto.", memory.now())];
    let receipt = session.append(said).await?;
    writeln!(io::stdout(), "said: {:?}", receipt.durability)?;
    // `replay`: by itself when a memory is opened, in batches while it is open, and now.
    let left = memory.flush(Duration::from_secs(5)).await;
    writeln!(io::stdout(), "left: {left}")?;

    // `ingest`, for an hour, unless it says what is known.
    let fact = || Remember::fact("Ada is on the train to Porto").short_term().gated(Gate::default());
    let (told, again) = (ada.remember(fact()).await?, ada.remember(fact()).await?);
    writeln!(io::stdout(), "told: {:?}, then {:?}", told.outcome, again.outcome)?;
    // `query`, `recall`
    let found = ada.recall(&Search::kari("Where is Ada?")).await?;
    let is_found = found.hits.iter().any(|hit| hit.item.id() == told.id.to_string());
    writeln!(io::stdout(), "found: {is_found}")?;

    // The decay of `NeuroVault`.
    let week = Duration::from_secs(7 * 86_400);
    writeln!(io::stdout(), "left after a week: {:.2}", Decay::kari().at(week))?;
    // `prune`: what has outlived its time goes with upkeep. `purge`: all of it goes now.
    memory.upkeep_once().await?;
    let receipt = ada.forget(&Forget::Everything).await?;
    writeln!(io::stdout(), "purged: {}", receipt.complete)?;
    memory.close().await?;
    Ok(())
}
