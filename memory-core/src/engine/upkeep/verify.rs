//! Verifying: a walk compares the indexes with truth, step by step, and deletes from them what truth does not hold.
//!
//! A put may reach its index long after its caller has given up, when its item is forgotten and that note is settled. No note
//! tells of such an entry. Searches do not show it, and upkeep deletes those that searches hit; this walk finds the rest.
//!
//! A step visits at most 256 entries of an index and 16 owners, at least ten seconds after the last step by the memory's
//! clock. So its cost does not depend on how much is stored: 100,000 entries take an hour, or three if nothing is written.
//! The first step comes ten seconds after the memory was opened. Only this process knows where its walk stands; at the end it
//! begins again.
//!
//! The walk visits the owners that truth lists: those with data or a tombstone, for whom anything was ever stored. If truth was
//! restored from a backup older than an owner, that owner's entries are shown to nobody, and stay until the owner is erased.

use std::collections::HashSet;

use crate::engine::inner::{Index, Inner, Step};
use crate::error::{Error, Result};
use crate::id::{ItemId, Seq, SessionId, Unit, Version};
use crate::index::{SPAN_MESSAGES, deleted_version, span_range};
use crate::scope::Scope;
use crate::store::chat::{Page, View};
use crate::store::text::Deletion;
use crate::store::upkeep::IndexName;

use super::report::UpkeepReport;

/// How many entries one step visits at most.
const ENTRIES: usize = 256;
/// How many messages are asked for at once. They come whole, and may take 4 MiB each.
const MESSAGES: usize = 4;
/// How many owners one step visits at most.
pub(super) const OWNERS: usize = 16;
/// The entries that truth does not hold, or the truth store that could not be asked, with its error.
type Absent = std::result::Result<Vec<(ItemId, Version)>, (&'static str, Error)>;

impl Inner {
    /// Takes a step of the walk through an index, if it is due. What cannot be compared now is left to the next round.
    pub(crate) async fn verify(&self, index: &Index, report: &mut UpkeepReport) {
        if self.turn.is_ending() || !index.is_filled() {
            return;
        }
        let Some(step) = index.walk.take(self.clock.now()) else { return };
        if let Err(error) = self.go_on(index, step, report).await {
            report.fail(&error);
        }
    }

    async fn go_on(&self, index: &Index, step: Step, report: &mut UpkeepReport) -> Result<()> {
        let (followed, walk) = (self.followed(&index.name).await?, &index.walk);
        let Step { owner: last, mut item, .. } = step;
        let mut owners = self.owners_after(last.as_ref()).await?;
        if let Some(begun) = last.filter(|_| item.is_some()) {
            owners.insert(0, begun);
        }
        let (is_end, mut left) = (owners.len() < OWNERS, ENTRIES);
        for owner in owners.into_iter().take(OWNERS) {
            let after = item.take();
            // Even if this fails, the next step goes on behind this owner.
            walk.stands_at(Some(owner.clone()), None);
            let mut page = index.scan(&owner, after.as_ref(), left).await?;
            let is_all = page.len() < left;
            left = left.saturating_sub(page.len());
            if let Some((last, _)) = page.last().filter(|_| !is_all) {
                walk.stands_at(Some(owner.clone()), Some(last.clone()));
            }
            page.retain(|(item, _)| followed.contains(&item.unit()));
            let absent = self.absent(&owner, page).await.map_err(|(_, error)| error)?;
            if !absent.is_empty() {
                tracing::warn!(
                    index = index.name.as_str(),
                    entries = absent.len(),
                    "an index held what truth does not"
                );
                let count = absent.len();
                self.renew_spans(&owner, &absent).await?;
                index.delete(&owner, &Deletion::Items(absent)).await?;
                report.cleaned += count;
            }
            if !is_all {
                return Ok(());
            }
        }
        if is_end {
            walk.stands_at(None, None);
        }
        Ok(())
    }

    /// Indexes again what stands where these spans did. After very many changes of a conversation, the entry of a span that is there
    /// looks like one of a generation that was deleted ([`deleted_version`]): the new entry has a higher version, and stays.
    async fn renew_spans(&self, scope: &Scope, absent: &[(ItemId, Version)]) -> Result<()> {
        for (item, _) in absent {
            if let ItemId::Span(session, number) = item {
                let range = span_range(*number);
                self.index_again(scope, session, range.first, range.last).await?;
            }
        }
        Ok(())
    }

    /// Returns the kinds of items that are compared: those of the truth stores that the index follows.
    async fn followed(&self, index: &IndexName) -> Result<Vec<Unit>> {
        let [chat, records] = self.truths();
        let (chat, records) = tokio::try_join!(chat.indexes(), records.indexes())?;
        let mut units = Vec::new();
        if chat.iter().any(|followed| followed.name == *index) {
            units.extend([Unit::Message, Unit::Span]);
        }
        if records.iter().any(|followed| followed.name == *index) {
            units.push(Unit::Record);
        }
        Ok(units)
    }

    /// Returns the first owners after `last` that either truth store lists.
    pub(super) async fn owners_after(&self, last: Option<&Scope>) -> Result<Vec<Scope>> {
        let [chat, records] = self.truths();
        let (chat, records) = tokio::try_join!(chat.owners(last, OWNERS), records.owners(last, OWNERS))?;
        let mut owners = [chat, records].concat();
        owners.sort_by(|one, other| one.key().cmp(other.key()));
        owners.dedup();
        owners.truncate(OWNERS);
        Ok(owners)
    }

    /// Returns those of an owner's entries that truth does not hold. Their versions were read before truth is, so deleting up to
    /// them spares what is stored under their ids later.
    ///
    /// # Errors
    /// The error of a truth store that could not be asked: then nothing is known of any entry.
    pub(crate) async fn absent(&self, scope: &Scope, entries: Vec<(ItemId, Version)>) -> Absent {
        let messages: Vec<_> = entries.iter().filter_map(|(item, _)| item.as_message()).collect();
        let records: Vec<_> = entries.iter().filter_map(|(item, _)| item.as_record()).collect();
        let held_messages = async {
            let mut held = Vec::new();
            for ids in messages.chunks(MESSAGES) {
                let found = self.bare.chat.get(scope, ids).await.map_err(|error| ("chat", error))?;
                if found.complete {
                    held.extend(found.messages.iter().map(|row| row.id));
                } else {
                    // A part of truth did not answer: nothing is known of the ids that it did not return.
                    held.extend(ids);
                }
            }
            Ok(held)
        };
        let held_records = async {
            if records.is_empty() {
                return Ok(Vec::new());
            }
            self.bare.records.get(scope, &records).await.map_err(|error| ("records", error))
        };
        let (messages, records) = tokio::try_join!(held_messages, held_records)?;
        let records = records.into_iter().map(|stored| ItemId::Record(stored.record.id));
        let held: HashSet<ItemId> = messages.into_iter().map(ItemId::Message).chain(records).collect();
        let mut absent = Vec::new();
        for (item, version) in entries {
            let is_held = match &item {
                ItemId::Span(session, number) => {
                    let held = self.holds_span(scope, session, *number, version).await;
                    held.map_err(|error| ("chat", error))?
                }
                _ => held.contains(&item),
            };
            if !is_held {
                absent.push((item, version));
            }
        }
        Ok(absent)
    }

    /// Returns whether truth holds a message of a span whose entry has this version. An entry of a deleted generation is not
    /// held.
    async fn holds_span(&self, scope: &Scope, session: &SessionId, number: u32, version: Version) -> Result<bool> {
        let range = span_range(number);
        let before = Seq(range.first.0.saturating_sub(1));
        // Usually the first message is there, so the others are read only if it is not.
        for limit in [1, SPAN_MESSAGES as usize] {
            let slice = self.bare.chat.read(scope, session, &Page::after(before, limit, View::Log)).await?;
            let is_deleted = deleted_version(&slice.state).is_some_and(|deleted| version <= deleted);
            let is_said = slice.messages.iter().filter(|row| range.contains(row.seq)).any(|row| {
                row.covers.is_none() && row.message.as_ref().is_some_and(|message| !message.role.is_instruction())
            });
            if !slice.complete || is_said && !is_deleted {
                return Ok(true);
            }
            if is_deleted {
                return Ok(false);
            }
        }
        Ok(false)
    }
}
