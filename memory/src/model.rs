//! The models that a memory asks: embedders, summarisers, token counters. Bring yours by implementing a trait, or take one of
//! `memory::models`: those inside the program, and with the feature `http-models` those of OpenAI, Anthropic, Ollama and others.
//!
//! ```
//! use memory::model::{Embedder, HashEmbedder};
//!
//! // No model: texts that share words lie near each other. Good for tests.
//! let embedder = HashEmbedder::new(64);
//! assert_eq!(embedder.space().dimension, 64);
//! ```

pub use memory_core::hashing::HashEmbedder;
pub use memory_core::model::*;
pub use memory_core::vector::{EmbeddingSpace, Similarity};
