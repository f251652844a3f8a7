//! The local embedder keeps what every embedder promises.

use std::process::ExitCode;
use std::sync::Arc;

use memory_models::LocalEmbedder;
use memory_testkit::{Embedders, Suite};

fn main() -> ExitCode {
    Suite::new("local").embedder(|_| async { Ok(Arc::new(LocalEmbedder::new()) as Embedders) }).run()
}
