//! The names that most programs use, in one import: `use memory::prelude::*;`.
//!
//! It hides nothing: it holds no name of the standard library's prelude, and no module. Name results and errors by their paths:
//! [`memory::Result`](crate::Result) and [`memory::Error`](crate::Error).
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

pub use memory_core::engine::{ContextRequest, Forget, Memory, MemoryBuilder, Remember, Scoped, Search, Session};
pub use memory_core::window::BufferConfig;
pub use memory_core::{
    Field, Filter, ItemId, Message, MessageId, Record, RecordId, Role, Scope, SessionId, Timestamp, Trust, Unit,
};

pub use crate::Settings;
