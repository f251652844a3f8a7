//! Models over HTTP, as far as they are built in.

#[cfg(not(feature = "http-models"))]
mod absent;
#[cfg(feature = "http-models")]
mod key;
#[cfg(feature = "http-models")]
mod served;

#[cfg(not(feature = "http-models"))]
pub(crate) use absent::{Model, embedder};
#[cfg(feature = "http-models")]
pub(crate) use served::{Model, embedder};

/// An answer that is whole.
#[derive(Debug)]
pub(crate) struct Answered {
    /// Why it ended.
    pub(crate) stop: &'static str,
    /// Tokens of the request and of the answer.
    pub(crate) usage: Option<(u64, u64)>,
}
