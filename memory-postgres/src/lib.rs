#![doc = include_str!("../README.md")]

mod chat;
mod client;
mod config;
mod error;
mod filter;
mod index;
mod notes;
mod number;
mod owner;
mod records;
mod row;
mod statement;
mod text;
mod upkeep;
mod vectors;

pub use chat::PgChat;
pub use client::Postgres;
pub use config::{PostgresConfig, Tls};
pub use records::PgRecords;
pub use text::PgText;
pub use vectors::PgVectors;
