#![doc = include_str!("../README.md")]

mod open;

pub use memory_core::engine::*;
pub use memory_core::*;
#[cfg(feature = "sqlite")]
pub use memory_sqlite as sqlite;
pub use open::{open, open_with};
