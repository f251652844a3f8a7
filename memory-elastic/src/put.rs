//! Storing entries: the newest version of an item stays, and nothing of an epoch that was erased.
//!
//! The server orders writes of one document by its *external version*. That is enough until something is deleted: then
//! it remembers the version for a minute (`index.gc_deletes`) and forgets it afterwards, so it would refuse what may be
//! stored again, and later accept what is older. Therefore a refusal is never believed: the document is read, and what
//! is there or is not there decides, by a write that holds only as long as nobody else has written meanwhile.
//!
//! Erased epochs do not depend on deleted documents: a document of its own, which is never deleted, says below which
//! epoch an owner was erased. It is read before the writes, and once more *behind* them in the same request and shard:
//! an erasure that began in between is seen there, and one that begins later finds what was written. If nobody hears that
//! answer, the put is repeated, and then clears away what it left of epochs that were erased meanwhile. What the server
//! writes of the first put only after the repeated one has looked stays hidden until upkeep's walk finds it, or
//! the owner is erased again.

use std::collections::{BTreeSet, HashMap};

use memory_core::error::{Error, Result};
use memory_core::store::text::{Rejected, Visibility};
use memory_core::{ItemId, Scope};

use crate::bulk::{Act, Bulk, Done, Operation, Outcome};
use crate::document::{erasure_id, id_of, unpack};
use crate::error::{Doing, Fault, stopped};
use crate::index::Index;

const PUT: &str = "put entries";

/// How often a write is tried that others come before.
const ROUNDS: usize = 50;

/// An entry as a document.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) item: ItemId,
    pub(crate) epoch: u64,
    /// The packed version.
    pub(crate) version: i64,
    pub(crate) source: String,
}

/// Stores entries; returns those that the server refused for what they hold.
///
/// It is a task of its own: whoever goes away leaves nothing half done.
pub(crate) async fn put(
    index: &Index,
    scope: &Scope,
    entries: Vec<Incoming>,
    visibility: Visibility,
) -> Result<Vec<Rejected>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let call = index.elastic.enter().await?;
    let (index, scope) = (index.clone(), scope.clone());
    let task = tokio::spawn(async move {
        let _call = call;
        let guard = erasure_id(&scope);
        Putting { index: &index, scope: &scope, guard: &guard, visibility, rejected: Vec::new(), written: Vec::new() }
            .run(entries)
            .await
    });
    task.await.map_err(|_| stopped(PUT))?
}

struct Putting<'a> {
    index: &'a Index,
    scope: &'a Scope,
    guard: &'a str,
    visibility: Visibility,
    rejected: Vec<Rejected>,
    /// What was stored, by epoch, so that it can be taken back if the epoch turns out to be erased.
    written: Vec<(u64, Operation)>,
}

impl Putting<'_> {
    async fn run(mut self, entries: Vec<Incoming>) -> Result<Vec<Rejected>> {
        self.index.check().await?;
        let known = self.index.look(self.scope.key(), &[self.guard], "below", PUT).await?;
        let below = known.into_iter().flatten().map(|stored| stored.number.unsigned_abs()).max().unwrap_or_default();
        let (entries, erased): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.epoch >= below);
        self.clear_away(&erased, below).await?;
        let mut entries = newest(entries.into_iter());
        let mut writes: Vec<Operation> = entries.iter().map(|entry| self.first(entry)).collect();
        let mut below = below;
        for _ in 0..ROUNDS {
            if entries.is_empty() {
                return self.take_back(below).await;
            }
            let Done { outcomes, below: seen } = self.bulk(Some(self.guard)).run(&writes).await?;
            below = below.max(seen);
            let late = self.settle(entries, &writes, outcomes)?;
            (entries, writes) = self.decide(late).await?;
        }
        // Others write these items without a pause.
        Err(Fault::Answer { status: 409, kind: String::new(), after: None }).doing(PUT)
    }

    fn bulk<'b>(&'b self, guard: Option<&'b str>) -> Bulk<'b> {
        let Self { index, scope, visibility, .. } = self;
        Bulk { index, routing: scope.key(), visibility: *visibility, guard, doing: PUT }
    }

    fn first(&self, entry: &Incoming) -> Operation {
        let act = Act::Put { version: entry.version, source: entry.source.clone() };
        Operation { id: id_of(self.scope, &entry.item), act }
    }

    /// Notes what became of each write, and returns the entries that something came before.
    fn settle(
        &mut self,
        entries: Vec<Incoming>,
        writes: &[Operation],
        outcomes: Vec<Outcome>,
    ) -> Result<Vec<Incoming>> {
        // The server reads a document before it looks for another one that is newer.
        let is_taken = |outcome: &Outcome| outcome.is_done() || outcome.is_conflict();
        let takes_any = !self.written.is_empty() || outcomes.iter().any(is_taken);
        let takes_others = (takes_any || outcomes.len() > 1).then_some(takes_any);
        let (mut late, mut failed) = (Vec::new(), None);
        for ((entry, write), outcome) in entries.into_iter().zip(writes).zip(outcomes) {
            if outcome.is_done() {
                let Outcome { seq_no, primary_term, version, .. } = outcome;
                let act = Act::DeleteIf { seq_no, primary_term };
                self.written.push((entry.epoch, Operation { id: write.id.clone(), act }));
                // The server had forgotten the version of a deleted document just then, and began to count anew: put
                // once more, so that nothing older passes for newer.
                if version < entry.version {
                    late.push(entry);
                }
            } else if outcome.is_conflict() {
                late.push(entry);
            } else {
                match outcome.error(PUT, takes_others) {
                    Ok(error) => self.rejected.push(Rejected { item: entry.item, error }),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(late), Err)
    }

    /// Reads what is stored of these entries' items, drops those that are older, and says how to write the others.
    async fn decide(&self, late: Vec<Incoming>) -> Result<(Vec<Incoming>, Vec<Operation>)> {
        let (mut entries, mut writes) = (Vec::new(), Vec::new());
        if late.is_empty() {
            return Ok((entries, writes));
        }
        let ids: Vec<String> = late.iter().map(|entry| id_of(self.scope, &entry.item)).collect();
        let wanted: Vec<&str> = ids.iter().map(String::as_str).collect();
        let stored = self.index.look(self.scope.key(), &wanted, "version", PUT).await?;
        for ((entry, id), stored) in late.into_iter().zip(ids).zip(stored) {
            let source = entry.source.clone();
            let act = match stored {
                Some(stored) if stored.number > entry.version => continue,
                Some(stored) if stored.number == entry.version && self.has_written(&id, stored.seq_no) => {
                    Act::Put { version: entry.version, source }
                }
                Some(stored) => Act::Replace { seq_no: stored.seq_no, primary_term: stored.primary_term, source },
                None => Act::Create { source },
            };
            entries.push(entry);
            writes.push(Operation { id, act });
        }
        Ok((entries, writes))
    }

    /// Returns whether the document is as this put has just stored it.
    fn has_written(&self, id: &str, seq_no: i64) -> bool {
        let is_it =
            |write: &Operation| write.id == id && matches!(write.act, Act::DeleteIf { seq_no: s, .. } if s == seq_no);
        self.written.iter().any(|(_, write)| is_it(write))
    }

    /// Deletes what this put has stored of epochs that were erased while it ran, unless it was replaced since.
    async fn take_back(self, below: u64) -> Result<Vec<Rejected>> {
        let erased = self.written.iter().filter(|(epoch, _)| *epoch < below).map(|(_, delete)| delete.clone());
        let mut last: HashMap<String, Operation> = HashMap::new();
        // Of several writes of one document only the last is still as it was written.
        last.extend(erased.map(|delete| (delete.id.clone(), delete)));
        let deletes: Vec<Operation> = last.into_values().collect();
        self.delete(&deletes).await?;
        Ok(self.rejected)
    }

    /// Deletes what an earlier attempt of this put has stored of entries that are erased now, and could not take back.
    /// What the server stores of that attempt after this look is left to upkeep's walk.
    async fn clear_away(&self, erased: &[Incoming], below: u64) -> Result<()> {
        let ids: BTreeSet<String> = erased.iter().map(|entry| id_of(self.scope, &entry.item)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let wanted: Vec<&str> = ids.iter().map(String::as_str).collect();
        let stored = self.index.look(self.scope.key(), &wanted, "version", PUT).await?;
        let found = ids.into_iter().zip(stored).filter_map(|(id, stored)| Some((id, stored?)));
        let left = found.filter(|(_, stored)| unpack(stored.number).epoch.0 < below);
        let deletes: Vec<Operation> = left
            .map(|(id, stored)| {
                let act = Act::DeleteIf { seq_no: stored.seq_no, primary_term: stored.primary_term };
                Operation { id, act }
            })
            .collect();
        self.delete(&deletes).await
    }

    /// Deletes documents, but none that was changed since it was read or written.
    async fn delete(&self, deletes: &[Operation]) -> Result<()> {
        if deletes.is_empty() {
            return Ok(());
        }
        let Done { outcomes, .. } = self.bulk(None).run(deletes).await?;
        check_deleted(&outcomes, PUT)
    }
}

/// Returns `Ok` if each document was deleted, was not there, or had been changed.
///
/// # Errors
/// That of the first deletion that failed.
pub(crate) fn check_deleted(outcomes: &[Outcome], doing: &'static str) -> Result<()> {
    let failed = outcomes.iter().find(|outcome| !outcome.is_done() && !outcome.is_absent() && !outcome.is_conflict());
    failed.map_or(Ok(()), |outcome| Err(outcome.error(doing, None).unwrap_or_else(|error: Error| error)))
}

/// Of several entries of one item the newest stays; of equal versions the last.
fn newest(entries: impl Iterator<Item = Incoming>) -> Vec<Incoming> {
    let mut places: HashMap<ItemId, usize> = HashMap::new();
    let mut kept: Vec<Incoming> = Vec::new();
    for entry in entries {
        match places.get(&entry.item).and_then(|place| kept.get_mut(*place)) {
            Some(earlier) if earlier.version > entry.version => {}
            Some(earlier) => *earlier = entry,
            None => {
                places.insert(entry.item.clone(), kept.len());
                kept.push(entry);
            }
        }
    }
    kept
}
