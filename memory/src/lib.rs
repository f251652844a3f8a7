// Of two definitions of a link the first counts: files that lie beside the README are in the repository, not in the docs.
#![doc = concat!(
    "[memory-cli/README.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/memory-cli/README.md\n",
    "[docs/benchmarks.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/benchmarks.md\n",
    "[docs/recall.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/recall.md\n",
    "[docs/settings.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/settings.md\n",
    "[examples/quickstart]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/quickstart/src/main.rs\n",
    "[examples/postgres]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/postgres/src/main.rs\n",
    "[examples/redis]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/redis/src/main.rs\n",
    "[examples/qdrant]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/qdrant/src/main.rs\n",
    "[examples/elastic]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/elastic/src/main.rs\n",
    "[memory-models]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/memory-models/README.md\n",
    "[examples/models]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/models/src/main.rs\n",
    "[memory-server]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/memory-server/README.md\n",
    "[examples/all-four]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/examples/all-four/src/main.rs\n",
    "[docs/backends.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/backends.md\n",
    "[docs/operations.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/operations.md\n",
    "[docs/upgrade.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/upgrade.md\n",
    "[docs/faults.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/faults.md\n",
    "[docs/complaints.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/complaints.md\n",
    "[docs/reliability.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reliability.md\n",
    "[docs/write-gate.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/write-gate.md\n",
    "[CONTRIBUTING.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/CONTRIBUTING.md\n",
    "[ARCHITECTURE.md]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/ARCHITECTURE.md\n"
)]
#![doc = include_str!("../README.md")]

mod backend;
pub mod coming_from;
#[cfg(feature = "edge")]
pub mod edge;
#[cfg(feature = "transfer")]
pub mod import;
pub mod model;
mod open;
pub mod prelude;
pub mod receipt;
mod settings;
pub mod store;
#[cfg(feature = "transfer")]
pub mod transfer;

pub use backend::Backend;
pub use memory_core::engine::{
    AppendReceipt, Board, BoardEntry, Content, Context, ContextRequest, Defaults, Draft, Event, Forget, ForgetReceipt,
    ForkPoint, HistoryEdge, HistoryPage, Hit, Memory, MemoryBuilder, Observer, Part, Refused, Remember,
    RememberReceipt, Retained, Retention, Scoped, Search, SearchResults, Session, Status, Synopsis, SynopsisConfig,
    SynopsisHalf, Title, UpkeepReport, UpkeepTask, WorkingNote,
};
pub use memory_core::novelty::{Gate, Repeat};
pub use memory_core::window::{BufferConfig, Folding};
pub use memory_core::working::WorkingConfig;
pub use memory_core::{
    Block, Error, Field, Filter, ItemId, Message, MessageId, Record, RecordId, Result, Role, Scalar, Scope, Seq,
    SessionId, StoredMessage, StoredRecord, Stores, Timestamp, Trust, Unit,
};
pub use memory_core::{analysis, extract, layer, message, rank, screen, window};
#[cfg(feature = "elastic")]
pub use memory_elastic as elastic;
#[cfg(any(feature = "http-models", feature = "local", feature = "static"))]
pub use memory_models as models;
#[cfg(feature = "postgres")]
pub use memory_postgres as postgres;
#[cfg(feature = "qdrant")]
pub use memory_qdrant as qdrant;
#[cfg(feature = "redis")]
pub use memory_redis as redis;
#[cfg(feature = "sqlite")]
pub use memory_sqlite as sqlite;
pub use open::{open, open_with, over};
pub use settings::{Problem, Settings, SettingsError};
