//! SQLite backend of the memory layer for LLM agents: truth and indexes in one file.

mod chat;
mod client;
mod config;
mod error;
#[expect(dead_code, reason = "the indexes use it")]
mod filter;
mod notes;
mod number;
mod owner;
mod records;
mod row;
mod upkeep;

pub use chat::SqliteChat;
pub use client::Sqlite;
pub use config::{SqliteConfig, Synchronous};
pub use records::SqliteRecords;
