//! Checking truth again after a put. A slow process could bring back what was forgotten meanwhile, and settled by another
//! process. So an entry stays only if truth has not changed since it was read.

use std::collections::{BTreeMap, HashMap};

use futures_util::future::join_all;

use crate::engine::inner::{Index, Inner, Noted, Vectors};
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId, Seq, SeqRange, SessionId, Version};
use crate::scope::{Epoch, Scope};
use crate::store::chat::{Fence, Page, SessionState};
use crate::store::text::Deletion;

/// How often an entry is put again because truth has changed again.
const LOOKS: usize = 8;
/// How many records are put again together.
const RECORDS: usize = 256;

/// The state of truth when something was read for an index.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    scope: Scope,
    seen: Seen,
    /// The entries made from it.
    items: Vec<(ItemId, Version)>,
}

#[derive(Clone, Debug)]
enum Seen {
    Messages {
        session: SessionId,
        range: SeqRange,
        fence: Fence,
        revision: u64,
    },
    /// The version of a record; none if there is no record.
    Record(RecordId, Option<u64>),
}

impl Sight {
    pub(crate) fn of_messages(
        scope: &Scope,
        state: &SessionState,
        range: SeqRange,
        items: Vec<(ItemId, Version)>,
    ) -> Self {
        let SessionState { session, fence, revision, .. } = state.clone();
        let seen = Seen::Messages { session, range, fence, revision };
        Self { scope: scope.clone(), seen, items }
    }

    /// Adds what was read of the same session later. If that part has changed, so has the first.
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.items.extend(later.items);
        self
    }

    pub(crate) fn of_record(scope: &Scope, id: RecordId, version: Option<u64>, epoch: Epoch) -> Self {
        let item = |revision| (ItemId::Record(id), Version { epoch, revision });
        let items = version.map(item).into_iter().collect();
        Self { scope: scope.clone(), seen: Seen::Record(id, version), items }
    }

    /// Notes that an index has what was read, so that it is not read from truth in its place any more.
    pub(crate) fn note_indexed(&self, index: &Index) {
        let items = self.items.iter().map(|(item, version)| (item.clone(), version.revision));
        index.unindexed.remove(&self.scope, items);
    }
}

impl Inner {
    /// Replaces what was put by what truth holds now, wherever truth has changed since. Call it when what was put is findable.
    /// Returns the failures, each with the place of its sight.
    pub(crate) async fn put_true(&self, index: &Index, sights: Vec<Sight>) -> Vec<(usize, Error)> {
        let records = self.versions_of(&sights).await;
        let changes = sights.iter().map(|sight| self.has_changed(sight, &records));
        let changes = join_all(changes).await;
        let mut failures = Vec::new();
        for (place, (sight, change)) in sights.into_iter().zip(changes).enumerate() {
            let done = match change {
                Ok(false) => continue,
                Ok(true) => self.put_until_true(index, sight).await,
                Err(error) => Err(error),
            };
            failures.extend(done.err().map(|error| (place, error)));
        }
        failures
    }

    /// Replaces what was put by what truth holds now, until truth does not change meanwhile.
    async fn put_until_true(&self, index: &Index, mut sight: Sight) -> Result<()> {
        for _ in 0..LOOKS {
            sight = self.put_instead(index, sight).await?;
            let records = self.versions_of(std::slice::from_ref(&sight)).await;
            if !self.has_changed(&sight, &records).await? {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    async fn put_instead(&self, index: &Index, old: Sight) -> Result<Sight> {
        let new = match &old.seen {
            Seen::Messages { session, range, .. } => self.put_messages(index, &old.scope, session, *range).await?,
            Seen::Record(id, _) => self.put_record(index, &old.scope, *id).await?,
        };
        let stays = |item: &ItemId| new.items.iter().any(|(new, _)| new == item);
        let gone = old.items.into_iter().filter(|(item, _)| !stays(item)).collect();
        index.delete(&old.scope, &Deletion::Items(gone)).await?;
        index.flush().await?;
        Ok(new)
    }

    /// Indexes messages of a session by words again, because their neighbours have changed. Findable on return.
    pub(crate) async fn index_again(&self, scope: &Scope, session: &SessionId, from: Seq, upto: Seq) -> Result<()> {
        let Some(index) = self.indexes.iter().find(|index| index.as_text().is_some()) else { return Ok(()) };
        let sight = self.put_messages(index, scope, session, SeqRange { first: from, last: upto }).await?;
        index.flush().await?;
        self.put_true(index, vec![sight]).await.pop().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Puts the owner's records of which tellings were taken back, as truth holds them now, into every index that holds them.
    /// Findable on return, except for those by meaning that would have to be embedded: the index holds nothing of them until their
    /// notes are carried out. Returns the failures. After one, the next call puts them again.
    pub(crate) async fn index_taken_back(&self, scope: &Scope) -> Vec<(&'static str, Error)> {
        let noted = self.taken_back.of(scope);
        let ids: Vec<RecordId> = noted.records.keys().copied().collect();
        let has_more = noted.more.is_some();
        // Before they are put: what truth has replaced by now, no index holds afterwards.
        let replaced = match self.replaced(scope, noted).await {
            Ok(replaced) => replaced,
            Err(error) => return vec![("records", error)],
        };
        let (again, ids) = (self.indexes.iter(), ids.as_slice());
        let again = again.map(|index| async move {
            let done = match has_more {
                true => self.put_all_again(index, scope).await,
                false => self.put_again(index, scope, ids).await,
            };
            (index.part(), done)
        });
        let done = join_all(again).await.into_iter();
        let failures: Vec<_> = done.filter_map(|(part, done)| Some((part, done.err()?))).collect();
        if failures.is_empty() {
            self.taken_back.remove(scope, &replaced);
        }
        failures
    }

    /// Returns those of the records that truth does not hold any more in the version noted. Another call is about to replace the
    /// others, or failed to.
    async fn replaced(&self, scope: &Scope, mut noted: Noted) -> Result<Noted> {
        let ids: Vec<RecordId> = noted.records.keys().copied().collect();
        for batch in ids.chunks(RECORDS) {
            for stored in self.bare.records.get(scope, batch).await? {
                let is_there = noted.records.get(&stored.record.id).is_some_and(|version| stored.version <= *version);
                if is_there {
                    noted.records.remove(&stored.record.id);
                }
            }
        }
        Ok(noted)
    }

    /// Puts those of the owner's records into an index of which it holds an older version than truth.
    async fn put_all_again(&self, index: &Index, scope: &Scope) -> Result<()> {
        let mut after = None;
        loop {
            let page = index.scan(scope, after.as_ref(), RECORDS).await?;
            let is_last = page.len() < RECORDS;
            after = page.last().map(|(item, _)| item.clone());
            let held = page.iter().filter_map(|(item, version)| Some((item.as_record()?, version.revision)));
            let held: HashMap<RecordId, u64> = held.collect();
            let ids: Vec<RecordId> = held.keys().copied().collect();
            let mut older = Vec::new();
            for stored in self.bare.records.get(scope, &ids).await? {
                let id = stored.record.id;
                older.extend(held.get(&id).filter(|version| **version < stored.version).map(|_| id));
            }
            self.put_again(index, scope, &older).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Puts those of the records into an index that it holds. Others have a note, and nothing of them is there.
    async fn put_again(&self, index: &Index, scope: &Scope, ids: &[RecordId]) -> Result<()> {
        for batch in ids.chunks(RECORDS) {
            let items: Vec<ItemId> = batch.iter().copied().map(ItemId::Record).collect();
            let held = index.versions(scope, &items).await?;
            let held: Vec<RecordId> = held.iter().filter_map(|(item, _)| item.as_record()).collect();
            if held.is_empty() {
                continue;
            }
            if let Some(vectors) = index.as_vectors() {
                self.put_again_kept(index, vectors, scope, &held).await?;
                continue;
            }
            let (sights, untaken) = self.put_records(index, scope, &held).await?;
            index.flush().await?;
            if let Some((_, error)) = self.put_true(index, sights).await.pop() {
                return Err(error);
            }
            if let Some(rejected) = untaken.refused.into_iter().chain(untaken.delayed).next() {
                return Err(rejected.error);
            }
        }
        Ok(())
    }

    /// Puts records into an index of vectors without asking an embedder. What has changed meanwhile is deleted: it has a later
    /// note.
    async fn put_again_kept(&self, index: &Index, vectors: &Vectors, scope: &Scope, ids: &[RecordId]) -> Result<()> {
        let (sights, refused) = self.put_kept(index, vectors, scope, ids).await?;
        index.flush().await?;
        let records = self.versions_of(&sights).await;
        let mut changed = Vec::new();
        for sight in sights {
            if self.has_changed(&sight, &records).await? {
                changed.extend(sight.items);
            }
        }
        if !changed.is_empty() {
            index.delete(scope, &Deletion::Items(changed)).await?;
            index.flush().await?;
        }
        refused.into_iter().next().map_or(Ok(()), |rejected| Err(rejected.error))
    }

    /// Returns the versions that truth holds of the records in `sights`, by owner.
    async fn versions_of(&self, sights: &[Sight]) -> HashMap<Scope, Result<HashMap<RecordId, u64>>> {
        let mut asked: BTreeMap<&Scope, Vec<RecordId>> = BTreeMap::new();
        for sight in sights {
            if let Seen::Record(id, _) = &sight.seen {
                asked.entry(&sight.scope).or_default().push(*id);
            }
        }
        let answers = asked.into_iter().map(|(scope, ids)| async move {
            let stored = self.bare.records.get(scope, &ids).await;
            let versions = |stored: Vec<crate::record::StoredRecord>| {
                stored.into_iter().map(|stored| (stored.record.id, stored.version)).collect()
            };
            (scope.clone(), stored.map(versions))
        });
        join_all(answers).await.into_iter().collect()
    }

    async fn has_changed(
        &self,
        sight: &Sight,
        records: &HashMap<Scope, Result<HashMap<RecordId, u64>>>,
    ) -> Result<bool> {
        match &sight.seen {
            Seen::Messages { session, fence, revision, .. } => {
                let state = self.bare.chat.read(&sight.scope, session, &Page::newest(0)).await?.state;
                Ok((state.fence, state.revision) != (*fence, *revision))
            }
            Seen::Record(id, version) => match records.get(&sight.scope) {
                Some(Ok(versions)) => Ok(versions.get(id) != version.as_ref()),
                Some(Err(error)) => Err(error.clone()),
                None => Ok(true),
            },
        }
    }
}
