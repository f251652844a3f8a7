//! What the program `memory` and its server share: the JSON of what a memory answers, titles of many conversations, and
//! forgetting by names and bare ids.
//!
//! ```
//! use memory::{Remember, Scope, edge};
//!
//! # async fn example() -> memory::Result<()> {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! let told = ada.remember(Remember::fact("Ada has a cat")).await?;
//! for stored in ada.get(&[told.id]).await? {
//!     assert_eq!(edge::record(&stored, memory.now())["text"], "Ada has a cat");
//! }
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```

mod editing;
mod forgetting;
mod json;
mod titles;

pub use editing::{edited, told_in};
pub use forgetting::{forget_ids, forget_session};
pub use json::{context, hit, message, record, sent, session, with};
pub use memory_core::engine::{Shown, fenced};
pub use titles::titles;
