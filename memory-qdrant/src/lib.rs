#![doc = include_str!("../README.md")]

mod client;
mod collection;
mod config;
mod error;
mod filter;
mod point;
mod vectors;

pub use client::Qdrant;
pub use config::QdrantConfig;
pub use vectors::QdrantVectors;
