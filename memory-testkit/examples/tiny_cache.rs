//! A cache in one file: one lock, one map, and every promise kept.
//!
//! `cargo run --example tiny_cache` plays the suite on it.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::store::cache::Cache;
use memory_core::store::{Durability, Erased, ErasureLevel, Health, Store};
use memory_core::{Clock, Epoch, Error, Result, Scope, Timestamp};
use memory_testkit::{Caches, Setting, Suite};

/// What is under a key: a value alone, or a list.
#[derive(Clone, Debug)]
enum Content {
    Value(Vec<u8>),
    List(Vec<Vec<u8>>),
}

#[derive(Debug, Default)]
struct Contents {
    /// Every key begins with its owner, then the epoch it was written in.
    entries: BTreeMap<(Scope, Epoch, String), (Content, Timestamp)>,
    /// What an owner wrote before this is erased, also what arrives late.
    below: HashMap<Scope, Epoch>,
}

#[derive(Debug)]
struct TinyCache {
    clock: Arc<dyn Clock>,
    state: Mutex<Contents>,
}

impl TinyCache {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what lives under a key.
    fn read(&self, scope: &Scope, epoch: Epoch, key: &str) -> Option<Content> {
        let state = self.lock();
        let (content, until) = state.entries.get(&(scope.clone(), epoch, key.to_owned()))?;
        (*until > self.clock.now()).then(|| content.clone())
    }

    /// Puts what `next` makes of that.
    fn write(
        &self,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        ttl: Duration,
        next: impl FnOnce(Option<Content>) -> Content,
    ) -> Result<()> {
        if ttl.is_zero() {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        let now = self.clock.now();
        let until = now.checked_add(ttl)?;
        // One lock over reading and writing: two pushes at once are both kept.
        let mut state = self.lock();
        if state.below.get(scope).is_some_and(|below| epoch < *below) {
            return Ok(());
        }
        let key = (scope.clone(), epoch, key.to_owned());
        let old = state.entries.remove(&key).filter(|(_, until)| *until > now);
        state.entries.insert(key, (next(old.map(|(content, _)| content)), until));
        Ok(())
    }
}

#[async_trait]
impl Store for TinyCache {
    fn backend(&self) -> &'static str {
        "tiny"
    }

    async fn ping(&self) -> Result<Health> {
        Ok(Health::new("tiny", "1", Durability::Volatile))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let mut state = self.lock();
        let erased = state.below.entry(scope.clone()).or_default();
        *erased = below.max(*erased);
        let before = state.entries.len();
        state.entries.retain(|(owner, epoch, _), _| owner != scope || *epoch >= below);
        let removed = (before - state.entries.len()) as u64;
        Ok(Erased { removed, remaining: 0, level: ErasureLevel::Purged })
    }
}

#[async_trait]
impl Cache for TinyCache {
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(match self.read(scope, epoch, key) {
            Some(Content::Value(value)) => Some(value),
            _ => None,
        })
    }

    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        self.write(scope, epoch, key, ttl, |_| Content::Value(value.to_vec()))
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        let mut state = self.lock();
        for key in keys {
            state.entries.remove(&(scope.clone(), epoch, (*key).to_owned()));
        }
        Ok(())
    }

    async fn push(&self, scope: &Scope, epoch: Epoch, key: &str, new: &[u8], cap: usize, ttl: Duration) -> Result<()> {
        if cap == 0 {
            return Err(Error::invalid("a list keeps at least one value"));
        }
        self.write(scope, epoch, key, ttl, |old| {
            let mut list = if let Some(Content::List(list)) = old { list } else { Vec::new() };
            list.push(new.to_vec());
            Content::List(list.split_off(list.len().saturating_sub(cap)))
        })
    }

    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>> {
        Ok(match self.read(scope, epoch, key) {
            Some(Content::List(mut list)) => list.split_off(list.len().saturating_sub(count)),
            _ => Vec::new(),
        })
    }
}

fn main() -> ExitCode {
    // Opened twice by one name it is one store, as a server would be.
    let stores = Mutex::new(HashMap::new());
    let open = move |setting: Setting| {
        let new = || Arc::new(TinyCache { clock: setting.clock, state: Mutex::default() }) as Caches;
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let store: Caches = stores.entry(setting.name).or_insert_with(new).clone();
        std::future::ready(Ok(store))
    };
    Suite::new("tiny").cache(open).run()
}
