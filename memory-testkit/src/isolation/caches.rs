//! The actor of caches.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::Epoch;

use super::actor::Actor;
use super::owner::Owner;
use crate::generate::Random;
use crate::{Caches, Scene, equal};

const HOUR: Duration = Duration::from_secs(3_600);
const KEYS: [&str; 6] = ["a", "ab", "a:b", "*", "\0", ""];
const CAP: usize = 3;

pub(super) struct CacheActor {
    store: Caches,
    owner: Owner,
    values: BTreeMap<&'static str, Vec<u8>>,
    lists: BTreeMap<&'static str, Vec<Vec<u8>>>,
    epoch: Epoch,
}

impl CacheActor {
    pub(super) fn new(store: Caches, owner: Owner) -> Self {
        Self { store, owner, values: BTreeMap::new(), lists: BTreeMap::new(), epoch: Epoch(0) }
    }

    fn value(&self, random: &mut Random) -> Vec<u8> {
        format!("{} keeps {}", self.owner.mark, random.below(1_000)).into_bytes()
    }

    async fn get(&self, key: &str) -> Scene {
        let found = self.store.get(&self.owner.scope, self.epoch, key).await?;
        if let Some(found) = &found {
            self.owner.wrote(&String::from_utf8_lossy(found))?;
        }
        equal(found.as_ref(), self.values.get(key))
    }

    async fn tail(&self, list: &str) -> Scene {
        let found = self.store.tail(&self.owner.scope, self.epoch, list, 9).await?;
        found.iter().try_for_each(|value| self.owner.wrote(&String::from_utf8_lossy(value)))?;
        equal(found, self.lists.get(list).cloned().unwrap_or_default())
    }
}

#[async_trait]
impl Actor for CacheActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        let (key, list) = (random.pick(&KEYS), random.pick(&["list", "list:a"]));
        let (scope, epoch) = (&self.owner.scope, self.epoch);
        match random.below(100) {
            0..=24 => {
                let value = self.value(random);
                self.store.put(scope, epoch, key, &value, HOUR).await?;
                self.values.insert(key, value);
                Ok(())
            }
            25..=64 => self.get(key).await,
            65..=74 => {
                let value = self.value(random);
                self.store.push(scope, epoch, list, &value, CAP, HOUR).await?;
                let held = self.lists.entry(list).or_default();
                held.push(value);
                let over = held.len().saturating_sub(CAP);
                held.drain(..over);
                Ok(())
            }
            75..=89 => self.tail(list).await,
            90..=98 => {
                let keys: Vec<&str> = if random.chance(1, 3) { Vec::new() } else { vec![key, list] };
                self.store.delete(scope, epoch, &keys).await?;
                self.values.retain(|held, _| !keys.contains(held));
                self.lists.retain(|held, _| !keys.contains(held));
                Ok(())
            }
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        for key in KEYS {
            self.get(key).await?;
        }
        self.tail("list").await?;
        self.tail("list:a").await
    }

    async fn erase(&mut self) -> Scene {
        self.epoch.0 += 1;
        let erased = self.store.erase(&self.owner.scope, self.epoch).await?;
        equal((erased.removed, erased.remaining), ((self.values.len() + self.lists.len()) as u64, 0))?;
        self.values.clear();
        self.lists.clear();
        Ok(())
    }
}
