//! The actor of record stores.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::record::StoredRecord;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::{Error, Fields, Filter, Record, RecordId};

use super::actor::Actor;
use super::owner::{NOON, Owner};
use super::texts::filter;
use crate::generate::Random;
use crate::upkeep::bury;
use crate::{Records, Scene, equal};

pub(super) struct RecordActor {
    store: Records,
    owner: Owner,
    model: BTreeMap<RecordId, (Arc<Record>, u64)>,
    /// How often the fence rose.
    raised: u64,
}

impl RecordActor {
    pub(super) fn new(store: Records, owner: Owner) -> Self {
        Self { store, owner, model: BTreeMap::new(), raised: 0 }
    }

    /// Puts a record, expecting what is there or something else.
    async fn put(&mut self, random: &mut Random) -> Scene {
        let fields = self.owner.fields(memory_core::Unit::Record);
        let text = format!("{} remembers {}", self.owner.mark, random.below(3));
        let mut record = Record { id: RecordId(self.owner.id(random)), ..Record::new("fact", text, NOON) };
        (record.first.tags, record.first.metadata) = (fields.tags, fields.metadata);
        let record = Arc::new(record);
        let stored = self.model.get(&record.id).cloned();
        let expect = match random.below(3) {
            0 => Expect::Absent,
            1 => Expect::Version(stored.as_ref().map_or(77, |(_, version)| *version)),
            _ => Expect::Anything,
        };
        let batch = RecordBatch { fence: None, puts: vec![Put { record: record.clone(), expect }] };
        let answer = self.store.store().put(&self.owner.scope, &batch).await;
        match (stored, expect) {
            (Some((same, version)), _) if same == record => return equal(answer?, [version]),
            (Some(_), Expect::Absent) => fails!(answer, Error::IdConflict { .. }),
            (None, Expect::Version(_)) => fails!(answer, Error::Conflict),
            (stored, _) => {
                let version = answer?.first().copied().unwrap_or(0);
                let before = stored.map_or(0, |(_, version)| version);
                check!(version > before, "the version {version} follows {before}");
                self.model.insert(record.id, (record, version));
            }
        }
        Ok(())
    }

    fn compare(&self, found: Vec<StoredRecord>, promised: impl Iterator<Item = RecordId>) -> Scene {
        found.iter().try_for_each(|row| self.owner.wrote(&row.record.text))?;
        let found: Vec<_> = found.into_iter().map(|row| (row.record, row.version)).collect();
        equal(found, promised.filter_map(|id| self.model.get(&id).cloned()).collect::<Vec<_>>())
    }

    async fn scan(&self, filter: &Filter, after: Option<RecordId>, limit: usize) -> Scene {
        let found = self.store.store().scan(&self.owner.scope, filter, after, limit).await?;
        let listed = self.model.iter().filter(|(id, _)| after.is_none_or(|after| **id > after));
        let listed = listed.filter(|(_, (record, _))| filter.matches(&Fields::of_record(record)));
        self.compare(found, listed.map(|(id, _)| *id).take(limit))
    }

    async fn newest(&self, filter: &Filter, limit: usize) -> Scene {
        let found = self.store.store().newest(&self.owner.scope, filter, None, limit).await?;
        let mut listed: Vec<_> = self.model.values().map(|(record, _)| record).collect();
        listed.retain(|record| filter.matches(&Fields::of_record(record)));
        listed.sort_by_key(|record| Reverse((record.created_at(), record.id)));
        self.compare(found, listed.into_iter().map(|record| record.id).take(limit))
    }

    /// Raises the fence, which nobody else raises.
    async fn raise(&mut self) -> Scene {
        let store = self.store.store();
        let fence = store.fence(&self.owner.scope).await?;
        equal(fence.generation, self.raised)?;
        self.raised += 1;
        equal(store.advance(&self.owner.scope, fence).await?.generation, self.raised)
    }

    fn ids(&self, random: &mut Random) -> Vec<RecordId> {
        let mut ids: Vec<_> = (0..random.below(4)).map(|_| RecordId(self.owner.any_id(random))).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

#[async_trait]
impl Actor for RecordActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        let (store, scope) = (self.store.store().clone(), self.owner.scope.clone());
        match random.below(100) {
            0..=34 => self.put(random).await,
            35..=59 => {
                let ids = self.ids(random);
                self.compare(store.get(&scope, &ids).await?, ids.into_iter())
            }
            60..=79 => {
                if random.chance(1, 4) {
                    return self.newest(&filter(&self.owner, random), random.below(8)).await;
                }
                let after = random.chance(1, 2).then(|| RecordId(self.owner.any_id(random)));
                self.scan(&filter(&self.owner, random), after, random.below(8)).await
            }
            80..=84 => Ok(store.touch(&scope, &self.ids(random), NOON).await?),
            85..=88 => self.raise().await,
            89..=98 => {
                let ids = self.ids(random);
                let version = |id: &RecordId| self.model.get(id).map_or(0, |(_, version)| *version);
                let records: Vec<_> = ids.iter().map(|id| (*id, version(id))).collect();
                self.raised += u64::from(!ids.is_empty());
                let promised = ids.iter().filter(|id| self.model.remove(*id).is_some()).count();
                equal(store.delete(&scope, &records).await?, promised as u64)
            }
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        self.scan(&Filter::All, None, 1_000).await
    }

    async fn erase(&mut self) -> Scene {
        let epoch = bury(self.store.upkeep(), &self.owner.scope).await?;
        let erased = self.store.store().erase(&self.owner.scope, epoch).await?;
        equal((erased.removed, erased.remaining), (self.model.len() as u64, 0))?;
        self.model.clear();
        self.raised = self.store.store().fence(&self.owner.scope).await?.generation;
        Ok(())
    }
}
