//! The board of one owner.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::error::{Error, Result};
use crate::scope::Epoch;
use crate::store::blackboard::{BlackboardEntry, BlackboardStats, BoardHit, Keep, Posted, Sought};
use crate::store::text::Term;
use crate::time::Timestamp;
use crate::vector::Similarity;

#[derive(Debug)]
struct Entry {
    posted: Posted,
    terms: HashSet<Term>,
    /// Its vector at unit length.
    direction: Option<Vec<f32>>,
    /// The number of the last use that keeps it.
    used: u64,
}

impl Entry {
    fn is_live(&self, now: Timestamp) -> bool {
        self.posted.expires_at.is_none_or(|at| at > now)
    }

    fn similarity(&self, sought: &Sought<'_>) -> Option<Similarity> {
        sought.similarity(&self.terms, self.direction.as_deref())
    }
}

/// A board: entries by key, and keys by the last use that keeps them. Uses are numbered, because a clock may stand still.
#[derive(Debug, Default)]
pub(super) struct Board {
    entries: BTreeMap<String, Entry>,
    uses: BTreeMap<u64, String>,
    expiring: BTreeSet<(Timestamp, String)>,
    last_use: u64,
    keep: Keep,
    /// The epoch of all entries: an erasure leaves none of an earlier one.
    epoch: Epoch,
    accesses: u64,
    evictions: u64,
    hits: u64,
    misses: u64,
}

impl Board {
    pub(super) fn new(keep: Keep) -> Self {
        Self { keep, ..Self::default() }
    }

    /// Brings the board to an epoch; a later one empties it.
    ///
    /// # Errors
    /// `Fenced` for an earlier one.
    pub(super) fn advance(&mut self, epoch: Epoch) -> Result<()> {
        if epoch < self.epoch {
            return Err(Error::Fenced);
        }
        self.erase(epoch);
        Ok(())
    }

    /// Puts an entry and returns the keys of the live entries that were evicted.
    pub(super) fn put(
        &mut self,
        entry: &BlackboardEntry,
        direction: Option<Vec<f32>>,
        now: Timestamp,
        expires_at: Option<Timestamp>,
        capacity: usize,
    ) -> Vec<String> {
        let BlackboardEntry { key, value, terms, vector: _, ttl: _ } = entry;
        self.remove(key);
        let evicted = self.make_room(capacity, now);
        let (key, value) = (key.clone(), value.clone());
        let posted = Posted { key: key.clone(), value, at: now, expires_at, access_count: 0, last_accessed: None };
        self.last_use += 1;
        self.uses.insert(self.last_use, key.clone());
        if let Some(at) = expires_at {
            self.expiring.insert((at, key.clone()));
        }
        let terms = terms.iter().cloned().collect();
        self.entries.insert(key, Entry { posted, terms, direction, used: self.last_use });
        evicted
    }

    /// Makes room for one entry. Evicts expired entries first, and only as many as necessary.
    fn make_room(&mut self, capacity: usize, now: Timestamp) -> Vec<String> {
        if self.entries.len() >= capacity {
            self.sweep(now);
        }
        let mut evicted = Vec::new();
        while self.entries.len() >= capacity {
            let Some(key) = self.uses.values().next().cloned() else { break };
            self.remove(&key);
            self.evictions += 1;
            evicted.push(key);
        }
        evicted
    }

    fn remove(&mut self, key: &str) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.uses.remove(&entry.used);
        if let Some(at) = entry.posted.expires_at {
            self.expiring.remove(&(at, key.to_owned()));
        }
        Some(entry)
    }

    pub(super) fn get(&mut self, key: &str, now: Timestamp) -> Option<Posted> {
        let found = self.access(key, now);
        match found {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        found
    }

    /// Returns a live entry and counts this use.
    fn access(&mut self, key: &str, now: Timestamp) -> Option<Posted> {
        let entry = self.entries.get_mut(key).filter(|entry| entry.is_live(now))?;
        self.accesses += 1;
        if self.keep == Keep::Used {
            self.last_use += 1;
            self.uses.remove(&entry.used);
            self.uses.insert(self.last_use, key.to_owned());
            entry.used = self.last_use;
        }
        entry.posted.access_count += 1;
        entry.posted.last_accessed = Some(now);
        Some(entry.posted.clone())
    }

    pub(super) fn search(&mut self, sought: &Sought<'_>, limit: usize, now: Timestamp) -> Vec<BoardHit> {
        let live = self.entries.iter().filter(|(_, entry)| entry.is_live(now));
        let mut found: Vec<(Similarity, String)> =
            live.filter_map(|(key, entry)| Some((entry.similarity(sought)?, key.clone()))).collect();
        // Stable, and the keys are in order already.
        found.sort_by(|(a, _), (b, _)| b.value().total_cmp(&a.value()));
        found.truncate(limit);
        let mut hits: Vec<BoardHit> = Vec::with_capacity(found.len());
        // The best entry is used last, so that it is evicted last.
        for (similarity, key) in found.into_iter().rev() {
            hits.extend(self.access(&key, now).map(|entry| BoardHit { entry, similarity }));
        }
        hits.reverse();
        hits
    }

    pub(super) fn delete(&mut self, key: &str, now: Timestamp) -> bool {
        self.remove(key).is_some_and(|entry| entry.is_live(now))
    }

    pub(super) fn sweep(&mut self, now: Timestamp) -> u64 {
        let expired: Vec<String> =
            self.expiring.iter().take_while(|(at, _)| *at <= now).map(|(_, key)| key.clone()).collect();
        expired.iter().filter_map(|key| self.remove(key)).count() as u64
    }

    /// Removes everything, unless this was done for `below` before; returns how many entries there were.
    pub(super) fn erase(&mut self, below: Epoch) -> usize {
        if self.epoch >= below {
            return 0;
        }
        let removed = self.entries.len();
        *self = Self { epoch: below, ..Self::new(self.keep) };
        removed
    }

    pub(super) fn stats(&self, capacity: u64, now: Timestamp) -> BlackboardStats {
        let expired = self.expiring.iter().take_while(|(at, _)| *at <= now).count() as u64;
        BlackboardStats {
            live: self.entries.len() as u64 - expired,
            expired,
            capacity,
            accesses: self.accesses,
            evictions: self.evictions,
            hits: self.hits,
            misses: self.misses,
        }
    }
}
