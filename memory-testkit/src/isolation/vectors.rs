//! The actor of vector stores.

use async_trait::async_trait;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorQuery};
use memory_core::{Epoch, Filter, SessionId, Version};

use super::actor::Actor;
use super::owner::Owner;
use super::texts::{any_items, deletion, filter, item};
use crate::generate::{Random, unit_vector};
use crate::vectors::build::{entry, query};
use crate::vectors::model::VectorModel;
use crate::{Scene, Vectors, equal};

pub(super) struct VectorActor {
    store: Vectors,
    owner: Owner,
    model: VectorModel,
    epoch: Epoch,
}

impl VectorActor {
    pub(super) fn new(store: Vectors, owner: Owner) -> Self {
        Self { store, owner, model: VectorModel::default(), epoch: Epoch(0) }
    }

    async fn put(&mut self, random: &mut Random) -> Scene {
        let id = self.owner.id(random);
        let item = item(random, id)?;
        let dimension = self.store.space().dimension;
        let pieces = (0..1 + random.below(2)).map(|_| unit_vector(random, dimension)).collect();
        let mut fields = self.owner.fields(item.unit());
        fields.session = Some(SessionId::new("s")?);
        let late = u64::from(random.chance(1, 10));
        let version = Version { epoch: Epoch(self.epoch.0.saturating_sub(late)), revision: random.below(4) as u64 };
        let entry = VectorEntry { version, fields, ..entry(item, pieces) };
        self.store.put(&self.owner.scope, std::slice::from_ref(&entry), Visibility::OnReturn).await?;
        self.model.put(&[entry]);
        Ok(())
    }

    async fn ask(&mut self, query: &VectorQuery) -> Scene {
        let hits = self.store.search(&self.owner.scope, query).await?;
        hits.iter().try_for_each(|hit| self.owner.owns(&hit.fields))?;
        self.model.check(query, &hits)
    }
}

#[async_trait]
impl Actor for VectorActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        match random.below(100) {
            0..=34 => self.put(random).await,
            35..=84 => {
                let mut query = query(&self.store, unit_vector(random, self.store.space().dimension));
                (query.filter, query.limit) = (filter(&self.owner, random), 1 + random.below(12));
                query.with_vectors = random.chance(1, 4);
                self.ask(&query).await
            }
            85..=90 => {
                let items = any_items(&self.owner, random)?;
                let mut found = self.store.versions(&self.owner.scope, &items).await?;
                found.sort();
                found.dedup();
                equal(found, self.model.versions(&items))
            }
            91..=98 => {
                let what = deletion(&self.owner, random)?;
                self.store.delete(&self.owner.scope, &what).await?;
                self.model.delete(&what);
                Ok(())
            }
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        let mut query = query(&self.store, vec![1.0; self.store.space().dimension]);
        (query.filter, query.limit, query.with_vectors) = (Filter::All, 1_000, true);
        self.ask(&query).await
    }

    async fn erase(&mut self) -> Scene {
        self.epoch.0 += 1;
        let erased = self.store.erase(&self.owner.scope, self.epoch).await?;
        equal(erased.remaining, 0)?;
        self.model.erase(self.epoch);
        Ok(())
    }
}
