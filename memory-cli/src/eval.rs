//! Measuring recall: conversations with questions whose evidence is known, searched through the public interface.

mod caching;
mod locomo;
mod longmemeval;
mod metrics;
mod read;
mod run;
mod sample;
mod set;
mod table;
mod vectors;

pub(crate) use caching::CachingEmbedder;
pub(crate) use run::{Leg, run};
pub(crate) use set::{Set, SetKind};
pub(crate) use table::{in_words, to_json};
pub(crate) use vectors::Vectors;
