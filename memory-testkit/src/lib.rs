#![doc = include_str!("../README.md")]
#![deny(dead_code)]

#[macro_use]
mod check;
#[macro_use]
mod scenario;
mod bad_input;
mod bed;
mod behind;
pub mod bench;
pub mod blackboard;
mod boxed;
pub mod cache;
pub mod chat;
mod closing;
mod crowd;
pub mod doubles;
mod dropped;
pub mod embedder;
mod environment;
mod erasers;
pub mod faults;
mod filters;
pub mod fixture;
pub mod forgetting;
pub mod generate;
pub mod isolation;
pub mod journal;
pub mod measure;
pub mod memory;
mod odd;
mod program;
pub mod records;
mod running;
mod scanning;
#[cfg(feature = "containers")]
pub mod services;
mod set_aside;
pub mod siege;
pub mod simulation;
mod suite;
pub mod summarizer;
pub mod text;
mod trial;
mod upkeep;
pub mod vectors;
pub mod wire;

pub use bed::{
    Bed, Boards, Caches, Chat, Embedders, Journals, Open, Opener, Records, Setting, Subject, Summarizers, Texts,
    Vectors, opener,
};
pub use boxed::Boxed;
pub use check::{Failure, SLACK, Scene, equal};
pub use environment::{length, rounds};
pub use program::printed;
pub use running::RunningWatch;
pub use scenario::{Needs, Scenario};
pub use suite::{OFFICIAL_ONLY, OfficialOnly, Presence, Suite};
pub use trial::{Outcome, Verdict, run_table};
