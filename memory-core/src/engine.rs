//! The engine: the handles of owners, the write path, the recall path, and the upkeep that makes indexes follow truth.
//!
//! | to find | look in |
//! |---|---|
//! | what is stored when a message is appended | `session.rs`; an answer that grows, or messages in place of others `edit.rs` |
//! | how a branch shares the past of another conversation | `fork.rs` (how it begins), `past.rs` (what it inherits, in pages), `recall/window/past.rs` (in contexts) |
//! | default values for calls that leave them out | `defaults.rs` |
//! | what a context holds and why | `recall/context.rs` and, without a conversation, `recall/alone.rs` (the calls), `recall/plan.rs` (how much of each tier), `recall/told.rs` (the synopsis), `recall/window.rs` (what was read and fits), `recall/unfold.rs` (messages in place of summaries), `recall/block.rs` (what is recalled), `recall/contents.rs` (the order and the receipt), `render.rs` (how it looks) |
//! | how hits are found, fused and checked | `recall/search.rs` (the calls), `recall/terms.rs` (by which words), `recall/legs.rs` (the indexes), `recall/rank.rs` (the rule), `recall/hydrate.rs` (truth); of several owners at once `recall/sharing.rs`; without words `recall/newest.rs`; within a conversation `recall/within.rs` |
//! | how a record is stored, reinforced, superseded, retired or changed in its place | `write/remember.rs`, `write/retire.rs` and `write/put.rs` (the calls), `write/tell.rs` (what is written), `write/links.rs` (where), `write/places.rs` (told by more than one), `write/sources.rs` (nothing is derived from what is not there) |
//! | how anything is forgotten | `forget.rs` (the order), `forget/session.rs` (a conversation), `forget/derived.rs` (what falls with it), `forget/trace.rs` and `forget/removals.rs` (summaries whose removal is cut off), `forget/untell.rs` (what is left), `inner/taken_back.rs` (what indexes have not followed yet) |
//! | what waits in a journal | `inner/behind.rs`, `journal.rs` (the calls) |
//! | how indexes follow truth | `inner/index.rs` (what an index is), `upkeep.rs` (the calls), `upkeep/pass.rs`, `upkeep/project.rs` (from truth to entries), `upkeep/enlist.rs` (an index that is new or was lost), `upkeep/verify.rs` (what came late), `upkeep/empty.rs` (rebuilding and retiring); summaries in `upkeep/summarise.rs`; facts in `upkeep/finding.rs` (when), `inner/finding.rs` (beside what), `upkeep/extract.rs` (how) |
//! | how long and how much is kept | `retention.rs` (for whom), `upkeep/lapse.rs` (the steps), `upkeep/lapsed.rs` (which messages), `upkeep/held.rs` (what stays in any case) |
//! | what agents share on a board | `board.rs` (the calls), `upkeep/boards.rs` (what expires, and what an erasure left) |
//! | what is noted for a while | `note.rs` (the call), `recall/working.rs` (how it is found), `upkeep/working.rs` (what expires); the tier itself is `crate::working` |
//! | who an owner is and what it is about | `synopsis.rs` (the call), `inner/synopses.rs` (how long it is good), `upkeep/synopsis.rs` (how it is built) |
//! | what receipts say in words | `receipt/words.rs` |
//! | what is logged and told to whoever watches | `event.rs`, `inner/tell.rs` |

mod board;
mod builder;
mod careful;
mod counted;
mod damage;
mod defaults;
mod edit;
mod event;
mod forget;
mod fork;
mod handle;
mod hit;
mod inner;
mod journal;
mod memory;
mod note;
mod past;
mod recall;
mod receipt;
mod render;
mod retention;
mod scoped;
mod session;
mod synopsis;
mod title;
mod upkeep;
mod write;

pub use board::{Board, BoardEntry, BoardReceipt, BoardResults, BoardStats};
pub use builder::MemoryBuilder;
pub use defaults::Defaults;
pub use edit::Draft;
pub use event::{Event, Observer};
pub use forget::{Forget, ForgetReceipt, StoreErasure, Unasked};
pub use fork::ForkPoint;
pub use handle::{Memory, Scoped, Session};
pub use hit::{Content, Hit, SearchResults};
pub use inner::GivenUp;
pub use journal::Refused;
pub use memory::{IndexStatus, JournalStatus, Status};
pub use note::{NoteReceipt, WorkingNote};
pub use past::{HistoryEdge, HistoryPage};
pub use recall::{Context, ContextRequest, Part, Search};
pub use receipt::{
    AppendReceipt, ContextReceipt, Degraded, Fold, FoldShown, History, Included, LeftOut, PartKind, Reason,
    SearchReceipt, Sharing, Signals, Stage, SynopsisShown, Tokens,
};
pub use render::{Shown, fenced};
pub use retention::{Retained, Retention};
pub use synopsis::{Synopsis, SynopsisConfig, SynopsisHalf};
pub use title::Title;
pub use upkeep::{Lapse, UpkeepReport, UpkeepTask};
pub use write::{Addition, NotTaken, Remember, RememberReceipt, Remembered, Why};
