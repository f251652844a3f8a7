//! The actor of blackboards.

use std::collections::BTreeMap;

use async_trait::async_trait;
use memory_core::Epoch;
use memory_core::store::blackboard::{BlackboardEntry, BoardQuery};

use super::actor::Actor;
use super::owner::Owner;
use crate::generate::Random;
use crate::text::build::terms;
use crate::{Boards, Scene, equal};

const KEYS: [&str; 6] = ["a", "ab", "a:b", "*", "b", "%"];

pub(super) struct BoardActor {
    store: Boards,
    owner: Owner,
    model: BTreeMap<&'static str, String>,
    epoch: Epoch,
}

impl BoardActor {
    pub(super) fn new(store: Boards, owner: Owner) -> Self {
        Self { store, owner, model: BTreeMap::new(), epoch: Epoch(0) }
    }

    async fn get(&self, key: &str) -> Scene {
        let found = self.store.get(&self.owner.scope, self.epoch, key).await?.map(|found| found.value);
        found.iter().try_for_each(|value| self.owner.wrote(value))?;
        equal(found.as_ref(), self.model.get(key))
    }

    async fn search(&self, query: &BoardQuery, limit: usize, promised: usize) -> Scene {
        let found = self.store.search(&self.owner.scope, self.epoch, query, limit).await?;
        found.iter().try_for_each(|hit| self.owner.wrote(&hit.entry.value))?;
        equal(found.len(), promised.min(limit))
    }
}

#[async_trait]
impl Actor for BoardActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        let (key, scope) = (random.pick(&KEYS), &self.owner.scope);
        match random.below(100) {
            0..=29 => {
                let value = format!("{} notes {}", self.owner.mark, random.below(1_000));
                let entry = BlackboardEntry {
                    terms: terms(&["river", &self.owner.mark])?,
                    vector: Some(vec![1.0, random.below(9) as f32]),
                    ..BlackboardEntry::new(key, &value)
                };
                equal(self.store.put(scope, self.epoch, &entry).await?, Vec::<String>::new())?;
                self.model.insert(key, value);
                Ok(())
            }
            30..=59 => self.get(key).await,
            60..=74 => {
                let mark = self.owner.any_mark(random);
                let promised = if mark == self.owner.mark { self.model.len() } else { 0 };
                self.search(&BoardQuery::Terms(terms(&[&mark])?), 1 + random.below(8), promised).await
            }
            75..=84 => self.search(&BoardQuery::Vector(vec![1.0, 1.0]), 1 + random.below(8), self.model.len()).await,
            85..=89 => equal(self.store.stats(scope, self.epoch).await?.live, self.model.len() as u64),
            90..=98 => equal(self.store.delete(scope, self.epoch, key).await?, self.model.remove(key).is_some()),
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        for key in KEYS {
            self.get(key).await?;
        }
        self.search(&BoardQuery::Terms(terms(&["river"])?), 100, self.model.len()).await
    }

    async fn erase(&mut self) -> Scene {
        self.epoch.0 += 1;
        let erased = self.store.erase(&self.owner.scope, self.epoch).await?;
        equal((erased.removed, erased.remaining), (self.model.len() as u64, 0))?;
        self.model.clear();
        Ok(())
    }
}
