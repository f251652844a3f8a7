//! Recall: searching the memory, and composing the context that a model is sent.

mod alone;
mod arrange;
mod asking;
mod block;
mod contents;
mod context;
mod each;
mod exact;
mod floor;
mod fresh;
mod history;
mod hydrate;
mod legs;
mod newest;
mod pages;
mod passage;
mod plan;
mod question;
mod rank;
mod request;
mod reuse;
mod search;
mod sharing;
mod shown;
mod stages;
mod terms;
mod told;
mod unfold;
mod usual;
mod window;
mod within;
mod working;

pub use contents::Context;
pub use question::Search;
pub use request::ContextRequest;
pub use told::Part;
