//! Deterministic test data: the same seed gives the same data on every machine.

mod deletions;
mod fields;
mod filters;
mod names;
mod random;
mod terms;
mod vectors;

pub use deletions::{LAST, bound, deletion, session_deletion};
pub use fields::{METADATA_KEYS, fields, item, metadata, record, values};
pub use filters::filter;
pub use names::{HOSTILE_NAMES, LETTERS, name, owners};
pub use random::Random;
pub use terms::{VOCABULARY, entry, term, terms};
pub use vectors::{Cluster, unit_vector};
