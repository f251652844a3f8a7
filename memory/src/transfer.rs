//! Everything of an owner, out of one store and into another: exports as JSON lines, which [`import`](crate::import)
//! reads, and moves from stores to stores, with checksums.
//!
//! ```
//! use memory::Scope;
//! use memory::transfer::{Move, export};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = Scope::new("acme", "ada")?;
//! let mut lines = Vec::new(); // or a `File`
//! let exported = export(&memory.of(&ada), None, &mut lines).await?;
//! assert_eq!((exported.rows, exported.records), (0, 0));
//!
//! let source = memory::Settings::new("memory:").connect().await?;
//! let target = memory::Settings::new("memory:").connect().await?;
//! let moved = Move::new(&source, target).owner(&ada).await?;
//! assert!(moved.problems.is_empty(), "what was copied was read back and is the same");
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! Boards ([`Scoped::blackboard`](crate::Scoped::blackboard)) are neither exported nor moved: what stands there is for now, and
//! expires. The new place begins with empty ones, and [`Moved::on_board`] tells how many entries stay behind. What is noted in a
//! process ([`Scoped::note`](crate::Scoped::note)) stays there too.
//!
//! An export begins with its version and its owner; then come the rows of each session in order, then the records, and
//! last how many there are, by which a file that was cut is known.

mod checksum;
mod copy;
mod error;
mod export;
mod extra;
pub(crate) mod line;
mod moved;
mod older;
mod owners;
mod problem;
mod rows;
mod session_reader;
mod spool;

pub use checksum::Checksum;
pub use copy::Move;
pub use error::Error;
pub use export::export;
pub use line::Exported;
pub use moved::Moved;
pub use owners::{holds_records, owners};
pub use problem::Problem;
