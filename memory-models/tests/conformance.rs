//! The embedders keep what every embedder promises.

use std::process::ExitCode;
use std::sync::Arc;

use memory_models::{LocalEmbedder, StaticEmbedder};
use memory_testkit::{Embedders, Suite};

fn main() -> ExitCode {
    let table = Suite::new("static").embedder(|_| async { Ok(Arc::new(StaticEmbedder::new()) as Embedders) });
    let local = Suite::new("local").embedder(|_| async { Ok(Arc::new(LocalEmbedder::new()) as Embedders) });
    if table.run() == ExitCode::SUCCESS { local.run() } else { ExitCode::FAILURE }
}
