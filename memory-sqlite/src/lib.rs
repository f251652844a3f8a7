//! SQLite backend of the memory layer for LLM agents: truth and indexes in one file.

#[cfg_attr(not(test), expect(dead_code, reason = "the stores use it"))]
mod client;
mod config;
mod error;
#[expect(dead_code, reason = "the stores use it")]
mod filter;

pub use client::Sqlite;
pub use config::{SqliteConfig, Synchronous};
