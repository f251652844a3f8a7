//! The embedder that `--embedder` selects.

use std::sync::Arc;

use clap::ValueEnum;
use memory::model::Embedder;

use crate::failure::Failure;

/// Who turns texts into vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Embedding {
    /// A small English model inside the program
    Local,
    /// Nobody: search is by words alone
    None,
}

/// Returns the embedder wished; without a wish the one that is built in, if there is one.
pub(crate) fn embedder(wished: Option<Embedding>) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    match wished {
        Some(Embedding::None) => Ok(None),
        None => Ok(local()),
        Some(Embedding::Local) => match local() {
            Some(embedder) => Ok(Some(embedder)),
            None => Err(Failure::Usage("the local embedder is not built in: build with --features local".to_owned())),
        },
    }
}

#[cfg(feature = "local")]
fn local() -> Option<Arc<dyn Embedder>> {
    Some(Arc::new(memory::models::LocalEmbedder::new()))
}

#[cfg(not(feature = "local"))]
fn local() -> Option<Arc<dyn Embedder>> {
    None
}
