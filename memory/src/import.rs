//! Conversations that other programs wrote, or that [`export`](crate::transfer::export) wrote: a file in, durable
//! messages out, whatever the format and the size.
//!
//! A file is read in a thread of its own, an element at a time, and written in batches of at most 256 items. An import
//! may be stopped at any moment and repeated: messages without ids get ids made from their place and content, so a
//! second import of the file adds nothing, and one that was cut off goes on.
//!
//! ```
//! use memory::Scope;
//! use memory::import::{Import, Source};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! let file = std::io::Cursor::new(r#"[{"role": "user", "content": "Where is my order?"}]"#); // or a `File`
//!
//! let source = Source::new(ada.scope(), "support", memory.now());
//! let mut import = Import::begin(ada, file, source)?;
//! while let Some(progress) = import.step().await? {
//!     println!("{} items are durable", progress.committed);
//! }
//! let tally = import.finish();
//! assert_eq!((tally.added, tally.rejected), (1, 0));
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! What a file says is trusted no further than a document unless [`Source::trusting_roles`] says otherwise: its system
//! messages are kept, and stand in no context.

mod aside;
mod bounded;
mod chatgpt;
mod claude;
mod conversation;
mod export;
mod files;
mod format;
mod group;
mod identity;
mod item;
mod items;
mod job;
mod locomo;
mod longmemeval;
mod messages;
mod meter;
mod openai;
mod patience;
mod position;
mod prose;
mod queue;
mod read;
mod refusal;
mod source;
mod stream;
mod surrogates;
mod tally;
#[cfg(test)]
mod tests;
mod time;
mod weight;
mod writer;
mod zip;

pub use bounded::weighs_at_most;
pub use format::Format;
pub use identity::message_id;
pub use item::{Item, LeftOut};
pub use items::Items;
pub use job::{Import, Progress};
pub use position::Within;
pub use refusal::{Foreign, Refusal};
pub use source::Source;
pub use surrogates::mend_surrogates;
pub use tally::{Rejection, Tally};
pub use time::longmemeval_time;
