//! One way to write into both kinds of truth store, so that their upkeep is tried by the same scenarios.

use std::sync::Arc;

use memory_core::record::Record;
use memory_core::store::Erased;
use memory_core::store::chat::{Append, Page};
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target, Upkeep};
use memory_core::{Clock as _, Epoch, RecordId, Result, Scope, SessionId};

use crate::chat::talk::{MANY, NOON, new};
use crate::check::Failure;
use crate::doubles::ManualClock;
use crate::{Bed, Boxed, Chat, Records, Subject};

/// A truth store in which something can be written under a name: a message in a session, or a version of a record.
pub(super) trait Keeper: Subject {
    fn upkeep(&self) -> &Arc<dyn Upkeep>;

    /// Writes once more under `name`; the first time is 1, as a number or a version.
    fn write<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>>;

    /// Deletes what is under `name`.
    fn remove<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>>;

    /// Returns whether anything is under `name`.
    fn holds<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<bool>>;

    fn erase<'a>(&'a self, scope: &'a Scope, below: Epoch) -> Boxed<'a, Result<Erased>>;

    /// Returns what a note about `name` is about.
    fn target(name: &str) -> Result<Target>;
}

impl Keeper for Chat {
    fn upkeep(&self) -> &Arc<dyn Upkeep> {
        self.upkeep()
    }

    fn write<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>> {
        Box::pin(async move {
            let batch = Append::new(vec![new(name)]);
            self.store().append(scope, &SessionId::new(name)?, &batch).await.map(drop)
        })
    }

    fn remove<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>> {
        Box::pin(async move {
            let session = SessionId::new(name)?;
            let seen = self.store().read(scope, &session, &Page::newest(0)).await?.state;
            self.store().delete(scope, &seen).await.map(drop)
        })
    }

    fn holds<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<bool>> {
        Box::pin(async move {
            let slice = self.store().read(scope, &SessionId::new(name)?, &Page::newest(1)).await?;
            Ok(!slice.messages.is_empty())
        })
    }

    fn erase<'a>(&'a self, scope: &'a Scope, below: Epoch) -> Boxed<'a, Result<Erased>> {
        Box::pin(async move { self.store().erase(scope, below).await })
    }

    fn target(name: &str) -> Result<Target> {
        SessionId::new(name).map(Target::Messages)
    }
}

impl Keeper for Records {
    fn upkeep(&self) -> &Arc<dyn Upkeep> {
        self.upkeep()
    }

    fn write<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>> {
        Box::pin(async move {
            let id = RecordId::of_content(name.as_bytes());
            let version = self.store().get(scope, &[id]).await?.first().map_or(0, |row| row.version);
            let record = Record { id, ..Record::new("fact", format!("{name} {version}"), NOON) };
            let puts = vec![Put { record: Arc::new(record), expect: Expect::Anything }];
            self.store().put(scope, &RecordBatch { fence: None, puts }).await.map(drop)
        })
    }

    fn remove<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<()>> {
        Box::pin(async move {
            let id = RecordId::of_content(name.as_bytes());
            self.store().delete(scope, &[(id, u64::MAX)]).await.map(drop)
        })
    }

    fn holds<'a>(&'a self, scope: &'a Scope, name: &'a str) -> Boxed<'a, Result<bool>> {
        Box::pin(async move {
            let rows = self.store().get(scope, &[RecordId::of_content(name.as_bytes())]).await?;
            Ok(!rows.is_empty())
        })
    }

    fn erase<'a>(&'a self, scope: &'a Scope, below: Epoch) -> Boxed<'a, Result<Erased>> {
        Box::pin(async move { self.store().erase(scope, below).await })
    }

    fn target(name: &str) -> Result<Target> {
        Ok(Target::Record(RecordId::of_content(name.as_bytes())))
    }
}

/// An index that follows the store under test.
pub(super) struct Follower<S> {
    pub(super) store: S,
    pub(super) index: IndexName,
    pub(super) scope: Scope,
    pub(super) clock: Arc<ManualClock>,
}

impl<S: Keeper> Follower<S> {
    /// Returns a follower that is not enlisted yet.
    pub(super) fn new(bed: &Bed<S>) -> Result<Self> {
        let (store, clock) = (bed.store.clone(), bed.clock.clone());
        Ok(Self { store, index: IndexName::new("text/test-1")?, scope: bed.scope("ada")?, clock })
    }

    /// Returns a follower that is enlisted.
    pub(super) async fn enlisted(bed: &Bed<S>) -> Result<Self> {
        let follower = Self::new(bed)?;
        crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
        Ok(follower)
    }

    /// Returns another index of the same store.
    pub(super) fn beside(&self, index: &str) -> Result<Self> {
        let (store, scope, clock) = (self.store.clone(), self.scope.clone(), self.clock.clone());
        Ok(Self { store, index: IndexName::new(index)?, scope, clock })
    }

    pub(super) async fn write(&self, names: &[&str]) -> Result<()> {
        for name in names {
            self.store.write(&self.scope, name).await?;
        }
        Ok(())
    }

    /// Returns the notes that are due so much later.
    pub(super) async fn due(&self, seconds: i64) -> Result<Vec<Note>> {
        let now = memory_core::Timestamp(self.clock.now().0 + seconds * 1_000_000);
        self.store.upkeep().pending(&self.index, now, MANY).await
    }

    /// Returns the note about `name` that is due now.
    #[track_caller]
    pub(super) fn note<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Future<Output = std::result::Result<Note, Failure>> + Send + 'a {
        let missing = Failure::new(format!("there is no note about {name}"));
        async move {
            let target = S::target(name)?;
            self.due(0).await?.into_iter().find(|note| note.target == target).ok_or(missing)
        }
    }

    /// Returns what the notes that are due now are about.
    pub(super) async fn targets(&self) -> Result<Vec<Target>> {
        Ok(self.due(0).await?.into_iter().map(|note| note.target).collect())
    }

    pub(super) async fn settle(&self, note: &Note, outcome: Outcome) -> Result<()> {
        self.store.upkeep().settle(&self.index, &[(note.clone(), outcome)]).await
    }

    /// Settles a note as far as it goes.
    pub(super) async fn done(&self, note: &Note) -> Result<()> {
        self.settle(note, Outcome::Done { through: note.upto }).await
    }

    /// Asks for another try in so many seconds.
    pub(super) async fn retry(&self, note: &Note, seconds: i64) -> Result<()> {
        let at = memory_core::Timestamp(self.clock.now().0 + seconds * 1_000_000);
        self.settle(note, Outcome::Retry { at, why: "the embedder is down".to_owned() }).await
    }

    pub(super) async fn give_up(&self, note: &Note) -> Result<()> {
        self.settle(note, Outcome::Dead { why: "the text is too long".to_owned() }).await
    }

    /// Settles everything that is due now.
    pub(super) async fn all_done(&self) -> Result<()> {
        for note in self.due(0).await? {
            self.done(&note).await?;
        }
        Ok(())
    }
}
