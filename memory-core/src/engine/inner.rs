//! The state that all handles of a memory share: stores, indexes, settings, and what waits for upkeep.

mod asked;
mod beginnings;
mod behind;
mod boards;
mod buffers;
mod enlistment;
mod extraction;
mod finding;
mod given_up;
mod index;
mod kept_vectors;
mod lapses;
#[cfg(test)]
mod schedules;
mod synopses;
mod taken_back;
mod tell;
mod turn;
mod unindexed;
mod walk;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId};
use crate::layer::{CacheLayer, WriteBehind};
use crate::limits::Limits;
use crate::model::{Reranker, Summarizer, TokenCounter};
use crate::scope::Scope;
use crate::store::blackboard::Blackboard;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::text::TextStore;
use crate::store::truth::Truth;
use crate::store::upkeep::{Backlog, IndexName};
use crate::stores::Stores;
use crate::sync::Lock;
use crate::time::{Clock, Timestamp};
use crate::working::WorkingTier;

use super::defaults::Defaults;
use super::event::Observer;

pub(super) use asked::Asked;
pub(super) use beginnings::{Beginnings, Begun};
pub(super) use boards::Boards;
pub(super) use buffers::Buffers;
pub(super) use enlistment::{Enlistment, EnlistmentState, NOTED_IN_ONE_STEP};
pub(super) use extraction::Extraction;
pub(super) use finding::{Finding, Found};
pub(super) use given_up::GivenUpCounts;
pub(super) use index::{Index, Kind, Vectors};
pub(super) use kept_vectors::KeptVectors;
pub(super) use lapses::{Excess, Lapses, Looked, Place, Stand};
pub(super) use synopses::{Built, Half, Synopses};
pub(super) use taken_back::{Noted, TakenBack};
pub(super) use turn::{Ended, Turn};
pub(super) use unindexed::{Mark, Unindexed, Written};
pub(super) use walk::{Step, Walk};

pub use given_up::GivenUp;

#[derive(Debug)]
pub(super) struct Inner {
    /// All stores, as they are used: guarded and cached.
    pub(super) stores: Stores,
    pub(super) chat: Truth<dyn ChatStore>,
    pub(super) records: Truth<dyn RecordStore>,
    /// Whether truth is open for reading only.
    pub(super) only_reads: bool,
    /// The first vector index answers searches in words; others only those with a vector of their space.
    pub(super) indexes: Vec<Index>,
    pub(super) cache: Option<Arc<CacheLayer>>,
    /// The journal before conversations.
    pub(super) behind: Option<Arc<WriteBehind>>,
    pub(super) bare: Bare,
    /// The boards of owners.
    pub(super) board: Arc<dyn Blackboard>,
    /// The notes of owners.
    pub(super) working: Arc<WorkingTier>,
    /// How long a search waits for an index.
    pub(super) patience: Duration,
    pub(super) analysis: Analysis,
    pub(super) counter: Arc<dyn TokenCounter>,
    pub(super) summarizer: Arc<dyn Summarizer>,
    pub(super) reranker: Option<Arc<dyn Reranker>>,
    /// Who finds facts in what is said.
    pub(super) extraction: Option<Extraction>,
    /// How far that is, beside the passes of upkeep.
    pub(super) finding: Finding,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    /// What calls have that say nothing else.
    pub(super) defaults: Defaults,
    pub(super) touch: bool,
    /// Wakes the upkeep task after a write.
    pub(super) changed: Notify,
    /// Lets one upkeep pass of this process run at a time.
    pub(super) turn: Turn,
    /// Which records were returned and when. Upkeep writes it down.
    pub(super) accessed: Lock<Vec<(Scope, Vec<RecordId>, Timestamp)>>,
    /// Items that searches found in an index and not in truth. Upkeep deletes them from the indexes. A hint: if it is lost, the
    /// next search renews it.
    pub(super) absent: Lock<Vec<(Scope, Vec<ItemId>)>>,
    /// Records that the indexes may still hold with tellings that were taken back. No forget of the owner in this process is complete
    /// until they do not.
    pub(super) taken_back: TakenBack,
    /// The settings of conversations, and which of them are too full.
    pub(super) buffers: Buffers,
    /// How many items were given up although their notes were carried out.
    pub(super) given_up: GivenUpCounts,
    /// Budgets of contexts that the store does not know yet.
    pub(super) asked: Asked,
    /// What the newest contexts began with.
    pub(super) beginnings: Beginnings,
    /// Which synopses are kept, and which are to be built.
    pub(super) synopses: Synopses,
    /// When the working tier was swept last.
    pub(super) swept: Lock<Timestamp>,
    /// How long things are kept, and how far upkeep has come with it.
    pub(super) lapses: Lapses,
    /// Which boards upkeep is to visit, and how long searches of boards took. A hint, and figures.
    pub(super) boards: Boards,
}

/// Truth without the journal and the cache before it. Reads that decide a write, or fill an index, go here: a stale cache entry
/// may be shown for a while, and what waits has no number yet, but nothing lasting is made from either.
#[derive(Debug)]
pub(super) struct Bare {
    pub(super) chat: Arc<dyn ChatStore>,
    pub(super) records: Arc<dyn RecordStore>,
}

/// Returns the error for an index that cannot be filled, because truth is open for reading only.
pub(super) fn unbuilt() -> Error {
    let what = "build this index: what is stored was opened for reading alone".to_owned();
    Error::Unsupported { backend: "memory", what }
}

impl Inner {
    /// Returns the index of this name, if it is open here.
    pub(super) fn index(&self, name: &IndexName) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == *name)
    }

    /// Returns the text index.
    pub(super) fn text(&self) -> Option<&Arc<dyn TextStore>> {
        self.indexes.iter().find_map(Index::as_text)
    }

    /// Returns the vector index that answers searches in words.
    pub(super) fn vectors(&self) -> Option<&Vectors> {
        self.indexes.iter().find_map(Index::as_vectors)
    }

    /// Returns the index whose hits a search completes by what the index may not have yet: that of words, else the first.
    pub(super) fn completed(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.as_text().is_some()).or(self.indexes.first())
    }

    /// Notes what was written, oldest first, for searches and gates to find before the indexes have it.
    pub(super) fn note_written(&self, scope: &Scope, written: &[Written]) {
        for index in &self.indexes {
            index.unindexed.note(scope, written.iter().cloned());
        }
    }

    /// Drops what is noted of an owner as written.
    pub(super) fn forget_written(&self, scope: &Scope) {
        self.indexes.iter().for_each(|index| index.unindexed.forget(scope));
    }

    /// Returns whether this index answers searches in words: it is the first of its kind.
    pub(super) fn answers(&self, index: &Index) -> bool {
        self.indexes.iter().find(|other| other.part() == index.part()).is_some_and(|first| first.name == index.name)
    }

    /// Returns the indexes that cannot follow truth, because truth is open for reading only and does not know them.
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
