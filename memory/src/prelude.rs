//! What most programs call, to be imported at once: `use memory::prelude::*;`.
//!
//! No name here is one of the standard library's prelude, and none is a module: nothing of yours is hidden by it. Results are
//! [`memory::Result`](crate::Result), errors [`memory::Error`](crate::Error).
//!
//! ```
//! use memory::prelude::*;
//!
//! # async fn example() -> Result<(), String> {
//! let memory = memory::open("memory:").await.map_err(|error| error.to_string())?;
//! let memory: Memory = memory.build().await.map_err(|error| error.to_string())?;
//! let ada = memory.of(&Scope::new("acme", "ada").map_err(|error| error.to_string())?);
//! ada.remember(Remember::fact("Ada likes tea")).await.map_err(|error| error.to_string())?;
//! # Ok(())
//! # }
//! ```

pub use memory_core::engine::{
    ContextRequest, Forget, Memory, MemoryBuilder, Remember, Scoped, Search, Session, WindowConfig,
};
pub use memory_core::{
    Field, Filter, ItemId, Message, MessageId, Record, RecordId, Role, Scope, SessionId, Timestamp, Trust, Unit,
};

pub use crate::Settings;
