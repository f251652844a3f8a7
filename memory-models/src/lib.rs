#![doc = include_str!("../README.md")]

#[cfg(feature = "local")]
mod local;
#[cfg(feature = "static")]
mod table;
#[cfg(any(feature = "local", feature = "static"))]
mod text;

#[cfg(feature = "local")]
pub use local::LocalEmbedder;
#[cfg(feature = "static")]
pub use table::StaticEmbedder;
