//! In-process stores: the executable contract of the store traits, for tests and small programs.
//!
//! Nothing survives the process. A store is plain maps behind a lock; indexes have a lock for each owner. Share it in an `Arc`.

mod best;
mod blackboard;
mod cache;
mod chat;
mod journal;
mod no_records;
mod notes;
mod owners;
mod page;
mod records;
mod text;
mod vectors;

use crate::store::{Durability, Erased, ErasureLevel, Health};

pub use blackboard::MemBlackboard;
pub use cache::MemCache;
pub use chat::MemChat;
pub use journal::MemJournal;
pub(crate) use no_records::NoRecords;
pub use records::MemRecords;
pub use text::MemText;
pub use vectors::MemVectors;

/// The name of these stores in errors, receipts and metrics.
const BACKEND: &str = "reference";

/// Implements [`Store`](crate::store::Store) for a store of this process: there is nobody to ask and nothing to close. Its method
/// `drop_below` drops what an owner stored before an epoch, and returns how many items that were. Of what comes later of such an
/// epoch the store then takes nothing, as [`erase`](crate::store::Store::erase) promises.
macro_rules! in_process {
    ($store:ident) => {
        #[async_trait::async_trait]
        impl $crate::methods::Store for $store {
            fn backend(&self) -> &'static str {
                $crate::reference::BACKEND
            }

            async fn ping(&self) -> $crate::methods::Result<$crate::methods::Health> {
                Ok($crate::reference::health())
            }

            async fn close(&self) -> $crate::methods::Result<()> {
                Ok(())
            }

            async fn erase(
                &self,
                scope: &$crate::methods::Scope,
                below: $crate::methods::Epoch,
            ) -> $crate::methods::Result<$crate::methods::Erased> {
                Ok($crate::reference::erased(self.drop_below(scope, below)?))
            }
        }
    };
}
pub(crate) use in_process;

fn health() -> Health {
    Health::new("in-process", env!("CARGO_PKG_VERSION"), Durability::Volatile)
}

/// Returns the result of an erasure that left nothing.
fn erased(removed: usize) -> Erased {
    Erased { removed: removed as u64, remaining: 0, level: ErasureLevel::Purged }
}
