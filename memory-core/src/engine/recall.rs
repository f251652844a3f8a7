//! Recall: searching the memory, and composing the context that a model is sent.

mod arrange;
mod block;
mod contents;
mod context;
mod floor;
mod fresh;
mod hydrate;
mod legs;
mod newest;
mod pages;
mod passage;
mod question;
mod rank;
mod reuse;
mod search;
mod shown;
mod terms;
mod unfold;
mod window;

pub use contents::{Context, Part};
pub use context::ContextRequest;
pub use question::Search;
pub(crate) use reuse::Beginning;
