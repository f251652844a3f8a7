#![doc = include_str!("../README.md")]

mod bulk;
mod client;
mod config;
mod delete;
mod document;
mod error;
mod filter;
mod index;
mod put;
mod scan;
mod text;
mod transport;
mod vectors;

pub use client::Elastic;
pub use config::{Configured, ElasticConfig};
pub use elasticsearch;
pub use text::ElasticText;
pub use vectors::ElasticVectors;
