//! Measuring recall: conversations with questions whose evidence is known, searched through the public interface.

mod beam;
mod caching;
mod chats;
mod folder;
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
pub(crate) use table::{in_words, misses, to_json};
pub(crate) use vectors::Vectors;
