//! Models behind HTTP.
//!
//! | to find | look in |
//! |---|---|
//! | which server is asked, and how patiently | `config.rs` |
//! | one request: deadline, retries, rate, bounds | `client.rs`, `attempts.rs` and the parts beside them |
//! | a vendor's way to write requests and answers | `openai.rs`, `anthropic.rs`, `ollama.rs`, `rerank.rs` |
//! | streams | `chat.rs`, cut into events by `framing.rs` |
//! | what the embedder checks and cuts | `embedder.rs`, `batches.rs`, `windows.rs` |

mod anthropic;
mod attempts;
mod batches;
mod chat;
mod client;
mod config;
mod dialect;
mod embedder;
mod error;
mod framing;
mod ollama;
mod openai;
mod pace;
mod rerank;
mod retry_after;
mod spend;
mod windows;

pub use anthropic::Anthropic;
pub use chat::HttpChat;
pub use config::HttpConfig;
pub use embedder::{EmbedderOptions, HttpEmbedder};
pub use ollama::Ollama;
pub use openai::OpenAi;
pub use rerank::{HttpReranker, RerankServer};
