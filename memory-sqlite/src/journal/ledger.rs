//! The journal as it stands: a connection to its file, and in memory the places of its entries.
//!
//! A change is made in memory and collected for the file. [`Ledger::commit`] writes what was collected, as one transaction;
//! [`Ledger::undo`] takes it back.

mod tidy;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;

use memory_core::Scope;
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, SessionId};
use memory_core::store::chat::Fence;
use sqlx::SqliteConnection;

use super::config::JournalConfig;
use super::entry::{Draft, Entry, columns, insert, sum};
use super::fault::Fault;
use super::log::Log;
use super::places::{Place, Places, Room};
use super::whole::{Whole, read_whole, write_whole};
use crate::error::{BACKEND, Doing};

/// What a ledger does, in words for errors.
const READ: &str = "read the journal";

/// What a commit adds to the log, in bytes: the pages of the last entry, of the root and of the whole.
const COMMITTED: u64 = 3 * 4_096;

/// How many entries are read by one statement.
const PAGE: usize = 500;

/// A call's work on the ledger.
pub(super) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// A change of the file that waits for the commit.
#[derive(Debug)]
enum Change {
    Insert(Entry),
    Remove(Vec<u64>),
    Reject { number: u64, why: String, sum: u128 },
}

/// The journal as it stands.
#[derive(Debug)]
pub(super) struct Ledger {
    connection: SqliteConnection,
    config: JournalConfig,
    truth: Option<String>,
    places: Places,
    /// The changes since the last commit, and what stood where they were made.
    changes: Vec<Change>,
    undo: Vec<(u64, Option<Place>)>,
    /// The highest number at the last commit.
    committed: u64,
    log: Log,
    /// Whether a transaction is open.
    is_open: bool,
    /// What kept a change from being written.
    fault: Option<Fault>,
    /// How many checkpoints more find the disk full.
    #[cfg(test)]
    pub(super) full: u64,
}

impl Ledger {
    pub(super) fn new(
        connection: SqliteConnection,
        config: JournalConfig,
        truth: Option<String>,
        places: Places,
    ) -> Self {
        let committed = places.last;
        let (changes, undo) = (Vec::new(), Vec::new());
        Self {
            connection,
            config,
            truth,
            places,
            changes,
            undo,
            committed,
            log: Log::new(),
            is_open: false,
            fault: None,
            #[cfg(test)]
            full: 0,
        }
    }

    /// Returns the connection, to be closed.
    pub(super) fn into_connection(self) -> SqliteConnection {
        self.connection
    }

    /// Adds messages at the end, all or none, and returns the number of the last one.
    pub(super) fn push(&mut self, drafts: Vec<Draft>) -> Result<u64> {
        let bytes: u64 = drafts.iter().map(Draft::bytes).sum();
        let JournalConfig { messages: most, bytes: most_bytes, .. } = self.config;
        let has_room = |held: Room| {
            held.messages.saturating_add(drafts.len()) <= most && held.bytes.saturating_add(bytes) <= most_bytes
        };
        let eighth = Room { messages: most.div_ceil(8), bytes: most_bytes.div_ceil(8) };
        let counted = |draft: &Draft| self.places.counted(&draft.scope, eighth);
        if !has_room(self.places.room()) && !drafts.first().map(counted).is_some_and(has_room) {
            return Err(Error::QueueFull);
        }
        for draft in drafts {
            self.add(draft);
        }
        Ok(self.places.last)
    }

    /// Returns how many entries are rejected, of one owner or of all.
    pub(super) fn count_rejected(&self, scope: Option<&Scope>) -> usize {
        self.places.count_rejected(scope)
    }

    /// Returns how many entries there are.
    pub(super) fn count(&self) -> u64 {
        self.places.len() as u64
    }

    /// Adds entries with their numbers.
    pub(super) fn restore(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.set(entry.number, Some(Place::of(&entry)));
            self.changes.push(Change::Insert(entry));
        }
    }

    fn add(&mut self, draft: Draft) {
        self.places.last += 1;
        let entry = Entry::waiting(self.places.last, draft);
        self.set(entry.number, Some(Place::of(&entry)));
        self.changes.push(Change::Insert(entry));
    }

    fn set(&mut self, number: u64, place: Option<Place>) {
        let before = self.places.set(number, place);
        self.undo.push((number, before));
    }

    /// Returns up to `limit` entries that wait, or that were rejected.
    pub(super) async fn read(
        &mut self,
        scope: Option<&Scope>,
        session: Option<&SessionId>,
        rejected: bool,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let is_meant =
            |place: &Place| place.is_rejected == rejected && session.is_none_or(|session| place.session == *session);
        let meant = self.places.of(scope).filter(|(_, place)| is_meant(place)).take(limit);
        let numbers: Vec<u64> = meant.map(|(number, _)| number).collect();
        self.entries(&numbers).await
    }

    /// Finds every entry by its number, which may fail where reading them in order does not.
    ///
    /// # Errors
    /// `Corrupt` if one is missing, or not as it was written.
    pub(super) async fn check(&mut self) -> Result<()> {
        let numbers: Vec<u64> = self.places.of(None).map(|(number, _)| number).collect();
        for some in numbers.chunks(PAGE) {
            self.entries(some).await?;
        }
        Ok(())
    }

    /// Returns the entries with these numbers.
    ///
    /// # Errors
    /// `Corrupt` if one is missing, or not as it was written.
    async fn entries(&mut self, numbers: &[u64]) -> Result<Vec<Entry>> {
        if let Err(fault) = self.write().await {
            let error = fault.error();
            self.fault = Some(fault);
            return Err(error);
        }
        let mut entries = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(PAGE) {
            let sql = concat!(
                "SELECT ",
                columns!(),
                " FROM entry WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number"
            );
            let rows = sqlx::query(sql).bind(list(some)).fetch_all(&mut self.connection).await.doing(READ)?;
            for row in &rows {
                entries.push(Entry::read(row, READ)?);
            }
        }
        let is_whole = entries.len() == numbers.len()
            && entries.iter().zip(numbers).all(|(entry, number)| {
                let place = self.places.get(*number);
                entry.number == *number && place.is_some_and(|place| place.sum == entry.sum)
            });
        if is_whole { Ok(entries) } else { Err(Error::corrupt(BACKEND, "an entry of the journal is missing")) }
    }

    /// Removes entries that wait; other numbers are skipped.
    pub(super) fn acknowledge(&mut self, numbers: &[u64]) {
        let numbers = self.of_these(numbers, false);
        self.remove(numbers);
    }

    /// Returns those of the numbers whose entries wait, or were rejected.
    fn of_these(&self, numbers: &[u64], rejected: bool) -> BTreeSet<u64> {
        let is_meant = |number: &u64| self.places.get(*number).is_some_and(|place| place.is_rejected == rejected);
        numbers.iter().copied().filter(is_meant).collect()
    }

    fn remove(&mut self, numbers: BTreeSet<u64>) -> u64 {
        let count = numbers.len() as u64;
        for number in &numbers {
            self.set(*number, None);
        }
        if count > 0 {
            self.changes.push(Change::Remove(numbers.into_iter().collect()));
        }
        count
    }

    /// Rejects an entry, if it waits.
    pub(super) fn reject(&mut self, number: u64, why: String) {
        let Some(place) = self.places.get(number).filter(|place| !place.is_rejected) else { return };
        let sum = sum(number, place.digest, Some(&why));
        let place = Place { is_rejected: true, bytes: place.bytes + why.len() as u64, sum, ..place.clone() };
        self.set(number, Some(place));
        self.changes.push(Change::Reject { number, why, sum });
    }

    /// Puts rejected entries at the end, each with its new fence.
    pub(super) async fn revive(&mut self, revived: &[(u64, Option<Fence>)]) -> Result<()> {
        let rejected = |number: &u64| self.places.get(*number).is_some_and(|place| place.is_rejected);
        let revived: BTreeMap<u64, Option<Fence>> =
            revived.iter().copied().filter(|(number, _)| rejected(number)).collect();
        let numbers: Vec<u64> = revived.keys().copied().collect();
        let entries = self.entries(&numbers).await?;
        self.remove(numbers.into_iter().collect());
        for (Entry { draft, .. }, fence) in entries.into_iter().zip(revived.into_values()) {
            self.add(draft.with_fence(fence));
        }
        Ok(())
    }

    /// Removes rejected entries; other numbers are skipped. Returns how many.
    pub(super) fn discard(&mut self, numbers: &[u64]) -> u64 {
        let numbers = self.of_these(numbers, true);
        self.remove_for_good(numbers)
    }

    /// Removes an owner's entries that are meant, rejected ones too; returns how many.
    pub(super) fn erase(
        &mut self,
        scope: &Scope,
        is_meant: impl Fn(&SessionId, MessageId, Option<Fence>) -> bool,
    ) -> u64 {
        let places = self.places.of(Some(scope));
        let meant = places.filter(|(_, place)| is_meant(&place.session, place.id, place.fence));
        let numbers: BTreeSet<u64> = meant.map(|(number, _)| number).collect();
        self.remove_for_good(numbers)
    }

    /// Removes entries that must leave no trace; returns how many.
    fn remove_for_good(&mut self, numbers: BTreeSet<u64>) -> u64 {
        let count = self.remove(numbers);
        // What has left the journal before may stand in the log or in the file all the same.
        self.log.hide(self.log.holds_traces() || !self.changes.is_empty());
        count
    }

    /// Writes what was collected into a transaction, which it begins.
    async fn write(&mut self) -> Result<(), Fault> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if !self.is_open {
            sqlx::query("BEGIN IMMEDIATE").execute(&mut self.connection).await?;
            self.is_open = true;
        }
        let mut inserts = Vec::new();
        for change in std::mem::take(&mut self.changes) {
            let (query, rows) = match change {
                Change::Insert(entry) => {
                    self.log.add(entry.draft.bytes());
                    inserts.push(entry);
                    continue;
                }
                Change::Remove(numbers) => {
                    self.log.removed();
                    let sql = "DELETE FROM entry WHERE number IN (SELECT value FROM json_each(?))";
                    (sqlx::query(sql).bind(list(&numbers)), numbers.len())
                }
                Change::Reject { number, why, sum } => {
                    let query = sqlx::query("UPDATE entry SET why = ?, sum = ? WHERE number = ?");
                    (query.bind(why).bind(sum.to_le_bytes().to_vec()).bind(number.cast_signed()), 1)
                }
            };
            insert(&mut self.connection, &std::mem::take(&mut inserts)).await?;
            let changed = query.execute(&mut self.connection).await?.rows_affected();
            self.log.add(64 * changed);
            if changed != rows as u64 {
                return Err(Fault::Broken(Error::corrupt(BACKEND, "an entry of the journal is missing")));
            }
        }
        Ok(insert(&mut self.connection, &inserts).await?)
    }

    /// Makes all changes durable.
    pub(super) async fn commit(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.write().await?;
        if self.is_open {
            let whole = self.whole();
            write_whole(&mut self.connection, &whole).await?;
            sqlx::query("COMMIT").execute(&mut self.connection).await?;
            (self.is_open, self.committed) = (false, whole.last);
            self.log.add(COMMITTED);
        }
        self.undo.clear();
        Ok(())
    }

    /// Takes back what was changed since the last commit.
    ///
    /// # Errors
    /// Any, if the file is not as it was then.
    pub(super) async fn undo(&mut self) -> Result<(), Fault> {
        self.changes.clear();
        for (number, before) in std::mem::take(&mut self.undo).into_iter().rev() {
            self.places.set(number, before);
        }
        self.places.last = self.committed;
        if std::mem::take(&mut self.is_open) {
            // Some faults end the transaction by themselves: then this fails, and the next shows that none is open.
            let _ = sqlx::query("ROLLBACK").execute(&mut self.connection).await;
            sqlx::query("BEGIN IMMEDIATE").execute(&mut self.connection).await?;
            sqlx::query("ROLLBACK").execute(&mut self.connection).await?;
        }
        let whole = read_whole(&mut self.connection).await.map_err(Fault::Broken)?;
        let changed = || Fault::Broken(Error::corrupt(BACKEND, "the journal is not as it was"));
        if whole == self.whole() { Ok(()) } else { Err(changed()) }
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    /// Runs a statement.
    #[cfg(test)]
    pub(super) fn run(&mut self, sql: &'static str) -> Work<'_, ()> {
        Box::pin(
            async move { sqlx::raw_sql(sql).execute(&mut self.connection).await.map(drop).doing("run a statement") },
        )
    }

    /// Returns what the entries are as a whole.
    fn whole(&self) -> Whole {
        let Places { last, mark, .. } = self.places;
        Whole { last, count: self.count(), mark, truth: self.truth.clone() }
    }

    /// Returns whether something stands in the log.
    pub(super) fn is_logged(&self) -> bool {
        self.log.is_filled()
    }

    /// Returns whether somebody has removed what must leave no trace since this was last asked.
    pub(super) fn has_hidden(&mut self) -> bool {
        self.log.take_asked()
    }
}

/// Returns numbers as a JSON list, so that one statement takes any number of them.
fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}
