#![doc = include_str!("../README.md")]

#[cfg(feature = "local")]
mod local;

#[cfg(feature = "local")]
pub use local::LocalEmbedder;
