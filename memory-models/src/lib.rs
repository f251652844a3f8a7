#![doc = include_str!("../README.md")]

#[cfg(feature = "http")]
mod chat;
#[cfg(feature = "http")]
mod extractor;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "local")]
mod local;
#[cfg(feature = "http")]
mod marks;
#[cfg(feature = "http")]
mod summarizer;
#[cfg(feature = "static")]
mod table;
#[cfg(any(feature = "http", feature = "local", feature = "static"))]
mod text;

#[cfg(feature = "http")]
pub use chat::{Answer, ChatModel, ChatRequest, Pieces, StopReason, Usage};
#[cfg(feature = "http")]
pub use extractor::{ChatExtractor, EXTRACTION_PROMPT};
#[cfg(feature = "http")]
pub use http::{
    Anthropic, EmbedderOptions, HttpChat, HttpConfig, HttpEmbedder, HttpReranker, Ollama, OpenAi, RerankServer,
};
#[cfg(feature = "local")]
pub use local::LocalEmbedder;
#[cfg(feature = "http")]
pub use summarizer::{ChatSummarizer, SUMMARY_PROMPT, SYNOPSIS_PROMPT};
#[cfg(feature = "static")]
pub use table::StaticEmbedder;
