#![doc = include_str!("../README.md")]

#[cfg(feature = "local")]
mod local;
#[cfg(feature = "static")]
mod table;

#[cfg(feature = "local")]
pub use local::LocalEmbedder;
#[cfg(feature = "static")]
pub use table::StaticEmbedder;
