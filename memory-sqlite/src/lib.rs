#![doc = include_str!("../README.md")]

mod body;
mod chat;
mod client;
mod config;
#[cfg(test)]
mod damaged;
mod error;
mod filter;
mod index;
mod journal;
mod notes;
mod number;
mod owner;
mod records;
mod row;
mod statement;
mod text;
mod upkeep;
mod vectors;

pub use chat::SqliteChat;
pub use client::{SCHEMA_VERSION, Sqlite};
pub use config::{SqliteConfig, Synchronous};
pub use journal::{JournalConfig, Recovered, SqliteJournal};
pub use records::SqliteRecords;
pub use text::SqliteText;
pub use vectors::SqliteVectors;
