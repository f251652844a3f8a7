//! Measuring recall: conversations with questions whose evidence is known, searched through the public interface.

mod locomo;
mod longmemeval;
mod memo;
mod metrics;
mod run;
mod sample;
mod set;
mod table;
mod vectors;

pub(crate) use memo::Memo;
pub(crate) use run::{Leg, run};
pub(crate) use set::{Kind, Set};
pub(crate) use table::{in_words, to_json};
pub(crate) use vectors::Vectors;
