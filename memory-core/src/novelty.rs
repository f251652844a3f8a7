//! Decides whether a fact is new or a repetition, so that one fact is kept once.

mod fingerprint;
mod gate;
mod statement;
#[cfg(test)]
mod tests;
mod tokens;

pub use fingerprint::fingerprint;
pub(crate) use fingerprint::fingerprint_before;
pub use gate::{Gate, Nearest, Reason, Repeat, Verdict, novelty};
pub use tokens::differ_in_particulars;
