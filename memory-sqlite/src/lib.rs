//! SQLite backend of the memory layer for LLM agents: truth and indexes in one file.

mod chat;
mod client;
mod config;
mod error;
mod filter;
mod index;
mod notes;
mod number;
mod owner;
mod posting;
mod records;
mod row;
mod text;
mod upkeep;
mod vectors;

pub use chat::SqliteChat;
pub use client::Sqlite;
pub use config::{SqliteConfig, Synchronous};
pub use records::SqliteRecords;
pub use text::SqliteText;
pub use vectors::SqliteVectors;
