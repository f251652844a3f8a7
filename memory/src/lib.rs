#![doc = include_str!("../README.md")]

mod backend;
mod no_records;
mod open;
mod settings;
mod stores;

pub use backend::{Backend, without_secrets};
pub use memory_core::engine::*;
pub use memory_core::*;
#[cfg(feature = "elastic")]
pub use memory_elastic as elastic;
#[cfg(feature = "local")]
pub use memory_models as models;
#[cfg(feature = "postgres")]
pub use memory_postgres as postgres;
#[cfg(feature = "qdrant")]
pub use memory_qdrant as qdrant;
#[cfg(feature = "redis")]
pub use memory_redis as redis;
#[cfg(feature = "sqlite")]
pub use memory_sqlite as sqlite;
pub use open::{open, open_with};
pub use settings::Settings;
pub use stores::Stores;
