//! What receipts are made of: why an item is in an answer, why another is not, and what could not be asked.
//!
//! ```
//! use memory::receipt::Reason;
//! use memory::{Message, Role, Scope, Search, SessionId};
//!
//! # async fn example() -> memory::Result<()> {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! let session = ada.session(&SessionId::new("talk")?);
//! let said = |text| Message::new(Role::User, text, memory.now());
//! session.append(vec![said("My dentist is Dr. Marsh."), said("Find me another dentist.")]).await?;
//! memory.upkeep_once().await?;
//!
//! let found = ada.search(&Search::new("dentist").limit(1)).await?;
//! assert_eq!(found.receipt.terms, ["dentist"]);
//! assert_eq!(found.receipt.left_out[0].reason, Reason::BelowLimit);
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```

pub use memory_core::engine::{
    Addition, AppendReceipt, BoardReceipt, BoardResults, BoardStats, ContextReceipt, Degraded, Fold, FoldShown,
    ForgetReceipt, GivenUp, History, Included, IndexStatus, JournalStatus, Lapse, LeftOut, NotTaken, NoteReceipt,
    PartKind, Reason, RememberReceipt, Remembered, SearchReceipt, Sharing, Signals, Stage, StoreErasure, SynopsisShown,
    Tokens, Unasked, UpkeepReport, Why,
};
pub use memory_core::novelty::Reason as SkipReason;
