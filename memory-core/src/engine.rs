//! The engine: owners' handles, the two paths (write, recall), and the upkeep that makes indexes follow truth.
//!
//! | to find | look in |
//! |---|---|
//! | what is stored when a message is appended | `session.rs` |
//! | what a context holds and why | `context.rs` (the calls), `window.rs` (what was read and fits), `unfold.rs` (messages in place of summaries), `block.rs` (what is recalled, and what became of each candidate), `assemble.rs` (the order and the receipt), `render.rs` (how it looks) |
//! | how hits are found, fused and checked | `search.rs` (the calls), `terms.rs` (by which words), `legs.rs` (the indexes), `rank.rs` (the rule), `hydrate.rs` (truth); without words, `recent.rs` |
//! | how a record is stored, reinforced or superseded | `remember.rs` (the calls), `tell.rs` (what is written), `links.rs` (where) |
//! | how anything is forgotten | `forget.rs` (the order), `forget/session.rs` (a conversation), `forget/derived.rs` (what falls with it), `untell.rs` (what is left), `sources.rs` (nothing is derived from it later) |
//! | how indexes follow truth | `index.rs` (what an index is), `upkeep.rs` (the calls), `enlist.rs` (what is noted for an index that is new or was lost), `retire.rs`, `pass.rs`, `seen.rs`, `turn.rs` (why a pass ends), `project.rs`, `isolate.rs` (what cannot be embedded), `verify.rs` (what came late is cleaned out); summaries of long windows in `summarise.rs` |

mod builder;
mod careful;
mod config;
mod counted;
mod forget;
mod handle;
mod hit;
mod inner;
mod memory;
mod recall;
mod receipt;
mod render;
mod scoped;
mod session;
mod upkeep;
mod write;

pub use builder::MemoryBuilder;
pub use config::WindowConfig;
pub use forget::{Forget, ForgetReceipt, StoreErasure, Unasked};
pub use handle::{Memory, Scoped, Session};
pub use hit::{Content, Found, Hit};
pub use inner::GivenUp;
pub use memory::{IndexStatus, Status};
pub use recall::{Context, ContextRequest, Part, Search};
pub use receipt::{
    AppendReceipt, ContextReceipt, Degraded, Fold, FoldShown, History, Included, LeftOut, PartKind, Reason,
    SearchReceipt, Signals, Stage, Tokens,
};
pub use upkeep::{UpkeepReport, UpkeepTask};
pub use write::{Addition, NotTaken, Remember, RememberReceipt, Remembered, Why};
