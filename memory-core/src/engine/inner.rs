//! What all handles of a memory share: its stores and indexes, its rules, and what waits for upkeep.

mod asked;
mod enlistment;
mod given_up;
mod index;
mod kept_vectors;
mod turn;
mod walk;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId, SessionId};
use crate::layer::CacheLayer;
use crate::limits::Limits;
use crate::model::{Summarizer, TokenCounter};
use crate::scope::Scope;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::text::TextStore;
use crate::store::truth::Truth;
use crate::store::upkeep::{Backlog, IndexName};
use crate::stores::Stores;
use crate::time::{Clock, Timestamp};

use super::config::WindowConfig;

pub(super) use asked::Asked;
pub(super) use enlistment::{Enlistment, Known, NOTED_IN_ONE_STEP};
pub(super) use given_up::GivenUpCounts;
pub(super) use index::{Index, Kind, Vectors};
pub(super) use kept_vectors::KeptVectors;
pub(super) use turn::Turn;
pub(super) use walk::{Step, Walk};

pub use given_up::GivenUp;

#[derive(Debug)]
pub(super) struct Inner {
    /// All parts, as they are used.
    pub(super) stores: Stores,
    pub(super) chat: Truth<dyn ChatStore>,
    pub(super) records: Truth<dyn RecordStore>,
    /// Whether what is stored may only be read.
    pub(super) only_reads: bool,
    /// Of several by meaning the first one answers.
    pub(super) indexes: Vec<Index>,
    pub(super) cache: Option<Arc<CacheLayer>>,
    pub(super) bare: Bare,
    /// How long a search waits for an index.
    pub(super) patience: Duration,
    pub(super) analysis: Analysis,
    pub(super) counter: Arc<dyn TokenCounter>,
    pub(super) summarizer: Arc<dyn Summarizer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) window: WindowConfig,
    pub(super) touch: bool,
    /// Wakes the upkeep task after a write.
    pub(super) changed: Notify,
    /// The turn of the one upkeep pass of this process.
    pub(super) turn: Turn,
    /// Records that were returned and when, to be written down by upkeep.
    pub(super) accessed: Mutex<Vec<(Scope, Vec<RecordId>, Timestamp)>>,
    /// Items that searches found in an index and not in truth, to be cleaned out by upkeep: a hint, renewed by the next
    /// search if it is lost.
    pub(super) absent: Mutex<Vec<(Scope, Vec<ItemId>)>>,
    /// Sessions whose window was too full: a hint, renewed by the next append if it is lost.
    pub(super) full: Mutex<BTreeSet<(Scope, SessionId)>>,
    /// How many items were given up while their notes went on.
    pub(super) given_up: GivenUpCounts,
    /// Budgets that the store does not know of yet.
    pub(super) asked: Asked,
}

/// Truth without the cache before it: read for all that decides a write, and for indexes. What a cache did not hear of is shown
/// late for a while, but nothing is made of it that stays.
#[derive(Debug)]
pub(super) struct Bare {
    pub(super) chat: Arc<dyn ChatStore>,
    pub(super) records: Arc<dyn RecordStore>,
}

/// Returns the error for an index that truth cannot note anything for.
pub(super) fn unbuilt() -> Error {
    let what = "build this index: what is stored was opened for reading alone".to_owned();
    Error::Unsupported { backend: "memory", what }
}

impl Inner {
    /// Returns the index of this name, if it is open here.
    pub(super) fn index(&self, name: &IndexName) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == *name)
    }

    /// Returns the index by words.
    pub(super) fn text(&self) -> Option<&Arc<dyn TextStore>> {
        self.indexes.iter().find_map(Index::as_text)
    }

    /// Returns the index by meaning that answers.
    pub(super) fn vectors(&self) -> Option<&Vectors> {
        self.indexes.iter().find_map(Index::as_vectors)
    }

    /// Returns whether questions in words are answered by this index: it is not one beside another of its kind.
    pub(super) fn answers(&self, index: &Index) -> bool {
        self.indexes.iter().find(|other| other.part() == index.part()).is_some_and(|first| first.name == index.name)
    }

    /// Returns the indexes that hold nothing of what is stored, or not all, and never will.
    pub(super) fn behind_for_ever(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.enlistment.is_none())
    }

    pub(super) async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        if self.behind_for_ever().any(|behind| behind.name == *index) {
            return Err(unbuilt());
        }
        let (chat, records) = (self.chat.upkeep(), self.records.upkeep());
        let (chat, records) = tokio::try_join!(chat.backlog(index), records.backlog(index))?;
        Ok(Backlog { pending: chat.pending + records.pending, dead: chat.dead + records.dead })
    }

    pub(super) async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        let (chat, records) = (self.chat.upkeep(), self.records.upkeep());
        let (chat, records) = tokio::try_join!(chat.backlog_of(scope, index), records.backlog_of(scope, index))?;
        Ok(Backlog { pending: chat.pending + records.pending, dead: chat.dead + records.dead })
    }
}
