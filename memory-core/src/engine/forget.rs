//! Forgetting, in order: derived items, truth, every copy, and a last check that nothing is left.

mod bounds;
mod damaged;
mod derived;
mod places;
mod receipt;
mod removals;
mod session;
mod trace;
mod untell;
mod words;

use std::collections::HashSet;

use futures_util::future::join_all;

use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId, SeqRange, SessionId};
use crate::layer::cached::noting;
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::{Backlog, IndexName};

use super::damage::Salvaged;
use super::event::Event;
use super::handle::Scoped;
use super::inner::Inner;
use bounds::{ATTEMPTS, BATCH};
use derived::{Fall, Protected};
use places::{Standing, neighbourhoods};
use receipt::{Draft, erasure};
use trace::Trace;

pub(crate) use trace::is_trace;

pub use receipt::{ForgetReceipt, StoreErasure, Unasked};

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// Single messages. Their numbers stay taken.
    Messages(Vec<MessageId>),
    /// Records, and notes.
    Records(Vec<RecordId>),
    /// A conversation, with the records that belong to it.
    Session(SessionId),
    /// Everything of the owner, board and notes too.
    Everything,
}

impl Scoped {
    /// Forgets for good: from its return on, no call returns any of it, nor anything derived from it.
    ///
    /// Forgetting a source also forgets the records derived from it, those derived from them, and so on. Forgetting a message
    /// also forgets every summary that covers it. The items derived last go first, and what was asked for goes last. So if a
    /// call fails or its future is dropped, the same call completes it, at any later time. Once the sources are gone, derived
    /// records are looked for once more, because another task may have added one meanwhile. Until that is done, a record of kind
    /// `removal` names the summaries that go with the messages; no search finds it. Nothing can be derived from a record that is
    /// about to be forgotten. A record that expired and was deleted breaks the chain: what was derived from it stays when its own
    /// source is forgotten.
    ///
    /// Truth goes before the indexes, so nothing can be hydrated from then on. The receipt names an index that fails; its note
    /// stays pending, and upkeep completes it. No embedder is asked: a record that stays without some of its tellings may be found
    /// by its meaning only after the next upkeep. After [`Forget::Everything`], older handles are `Fenced`. While such an erasure is
    /// under way, or was cut off, no other forget reports itself complete until the erasure is.
    ///
    /// Notes of this process fall with what they were derived from. Another process drops such a note before it is shown again.
    ///
    /// The board of the owner ([`Board`](super::Board)) is emptied by [`Forget::Everything`], and by nothing less: its entries
    /// name no sources.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::SessionId;
    /// use memory_core::engine::Forget;
    ///
    /// let receipt = ada.forget(&Forget::Session(SessionId::new("support")?)).await?;
    /// assert!(receipt.complete, "{receipt}"); // nothing is left anywhere
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "purge")]
    #[doc(alias = "delete_all")]
    #[doc(alias = "delete_messages")]
    #[doc(alias = "reset")]
    #[tracing::instrument(name = "forget", level = "debug", skip_all)]
    pub async fn forget(&self, what: &Forget) -> Result<ForgetReceipt> {
        self.forget_with(what, Protected::Falls).await
    }

    /// Forgets messages or records in batches of 256; no batch with which a record would fall that is pinned or on hold.
    pub(super) async fn forget_unless_protected(&self, what: &Forget) -> Result<ForgetReceipt> {
        self.forget_with(what, Protected::Stops).await
    }

    async fn forget_with(&self, what: &Forget, protected: Protected) -> Result<ForgetReceipt> {
        let forgotten = async {
            match what {
                Forget::Messages(ids) => self.forget_messages(ids, protected).await,
                Forget::Records(ids) => self.forget_records(ids, protected).await,
                Forget::Session(session) => self.forget_session(session).await,
                Forget::Everything => self.forget_everything().await,
            }
        };
        let (receipt, uncached) = noting(forgotten).await;
        self.inner().indexes.iter().for_each(|index| index.drop_kept(self.scope()));
        if *what == Forget::Everything {
            self.inner().forget_written(self.scope());
            self.inner().taken_back.forget(self.scope());
            self.inner().buffers.forget(self.scope());
            self.inner().beginnings.forget(self.scope());
            self.inner().synopses.forget(self.scope());
            self.inner().lapses.forget(self.scope());
            self.inner().boards.forget(self.scope(), self.inner().clock.now());
        }
        if protected == Protected::Falls {
            self.inner().lapses.outdate(self.scope());
        }
        let mut receipt = receipt?.without_cache(uncached).with_unasked(self.inner().unasked(self.scope()).await);
        receipt.complete = receipt.complete && matches!(self.is_half_erased().await, Ok(false));
        receipt.epoch.into_iter().for_each(|epoch| self.inner().given_up.forget(self.scope(), epoch));
        self.inner().changed.notify_one();
        let ForgetReceipt { removed, derived, complete, .. } = receipt;
        self.inner().tell(Some(self.scope()), &Event::Forgotten { removed, derived, complete });
        Ok(receipt)
    }

    /// Returns whether an erasure of everything has deleted the conversations but not yet the records, because it is under way
    /// or was cut off. Then the message ids by which to look for derived records are gone.
    async fn is_half_erased(&self) -> Result<bool> {
        let (chat, records) = (self.inner().chat.upkeep(), self.inner().records.upkeep());
        let (chat, records) = tokio::try_join!(chat.epoch(self.scope()), records.epoch(self.scope()))?;
        Ok(chat > records)
    }

    async fn forget_messages(&self, ids: &[MessageId], protected: Protected) -> Result<ForgetReceipt> {
        let mut draft = Draft::default();
        // Their summaries are gone: nothing can be stopped any more, and what retention may not touch stays.
        let kept = if protected == Protected::Falls { Protected::Falls } else { Protected::Stays };
        self.end_removals(kept, &mut draft).await?;
        for batch in ids.chunks(BATCH) {
            self.forget_together(batch, protected, &mut draft).await?;
        }
        Ok(draft.finish())
    }

    async fn forget_together(&self, ids: &[MessageId], protected: Protected, draft: &mut Draft) -> Result<()> {
        let inner = self.inner();
        let mut standing = self.standing(ids).await?;
        let named = ids.iter().chain(&standing.summaries).copied().map(ItemId::Message);
        let mut fall = Fall::of(named, protected);
        let mut traces = self.fell_traced(ids, &mut standing, &mut fall).await?;
        if fall.is_stopped {
            self.stop(&fall, draft).await;
            return self.untrace(&traces).await;
        }
        let known = standing.summaries.len();
        standing.add(inner.chat.store().redact(self.scope(), ids).await?);
        // A fold has come in between.
        traces.extend(self.trace(standing.summaries_since(known)).await?);
        fall.items.extend(standing.summaries_since(known).iter().copied().map(ItemId::Message));
        self.outrun_puts().await?;
        fall.note_gone();
        draft.is_unsettled |= !self.settle(&mut fall).await?;
        draft.removed += standing.asked;
        draft.derived += standing.fallen + fall.derived + self.drop_notes(&fall.items).1;
        self.clear_indexes(&fall.items, draft).await;
        // The index entries of the neighbours hold words of the forgotten messages.
        for (session, SeqRange { first, last }) in neighbourhoods(standing.places) {
            let again = inner.index_again(self.scope(), &session, first, last).await;
            draft.failures.extend(again.err().map(|error| ("neighbours", error)));
        }
        // As where retention ends what another call left: who forgets the messages themselves still needs the traces.
        if !fall.has_spared {
            self.untrace_settled(&traces, draft).await;
        }
        Ok(())
    }

    /// Deletes what falls with messages and the summaries that cover them, and leaves traces of these summaries, until there are no
    /// further ones. So the names of the summaries outlive the messages, which are redacted next.
    async fn fell_traced(&self, ids: &[MessageId], standing: &mut Standing, fall: &mut Fall) -> Result<Vec<Trace>> {
        let mut traces = Vec::new();
        for _ in 0..ATTEMPTS {
            self.fell(fall).await?;
            if fall.is_stopped {
                return Ok(traces);
            }
            traces.extend(self.trace(&standing.summaries).await?);
            let known = standing.summaries.len();
            standing.add_summaries(self.standing(ids).await?.summaries);
            let new = standing.summaries_since(known);
            if new.is_empty() {
                return Ok(traces);
            }
            fall.items.extend(new.iter().copied().map(ItemId::Message));
        }
        Err(Error::Conflict)
    }

    /// Forgets records, and the records derived from them.
    async fn forget_records(&self, ids: &[RecordId], protected: Protected) -> Result<ForgetReceipt> {
        let mut draft = Draft::default();
        let mut named = HashSet::with_capacity(ids.len());
        // A batch puts a record once.
        let ids: Vec<RecordId> = ids.iter().copied().filter(|id| named.insert(*id)).collect();
        for batch in ids.chunks(BATCH) {
            let mut fall = Fall::of(batch.iter().copied().map(ItemId::Record), protected);
            fall.last = batch.iter().copied().collect();
            draft.removed += self.delete_records(batch, &mut fall).await?;
            if fall.is_stopped {
                self.stop(&fall, &mut draft).await;
                continue;
            }
            fall.last.clear();
            fall.note_gone();
            draft.is_unsettled |= !self.settle(&mut fall).await?;
            let (notes, derived) = self.drop_notes(&fall.items);
            draft.removed += notes;
            draft.derived += fall.derived + derived;
            self.clear_indexes(&fall.items, &mut draft).await;
        }
        Ok(draft.finish())
    }

    /// Deletes records once everything derived from them is deleted, and returns how many there were.
    async fn delete_records(&self, ids: &[RecordId], fall: &mut Fall) -> Result<u64> {
        for _ in 0..ATTEMPTS {
            let Salvaged { read: rows, damaged } = self.stored_or_damaged(ids).await?;
            if !damaged.is_empty() {
                self.replace_damaged(damaged, fall.protected).await?;
                continue;
            }
            fall.is_stopped |= fall.protected != Protected::Falls && rows.iter().any(|row| row.record.is_protected());
            if fall.is_stopped {
                return self.spare(ids).await.map(|()| 0);
            }
            let versions = match self.doom(&rows).await {
                Err(Error::Conflict) => continue,
                other => other?,
            };
            self.fell(fall).await?;
            if fall.is_stopped {
                continue;
            }
            // Absent records are named too: a put may be under way.
            let records: Vec<_> = ids.iter().map(|id| (*id, versions.get(id).copied().unwrap_or(0))).collect();
            match self.inner().records.store().delete(self.scope(), &records).await {
                Err(Error::Conflict) => {}
                other => return other,
            }
        }
        Err(Error::Conflict)
    }

    /// Finishes what had fallen before a protected record stopped the rest.
    async fn stop(&self, fall: &Fall, draft: &mut Draft) {
        draft.derived += fall.derived + self.drop_notes(fall.fallen()).1;
        self.clear_indexes(fall.fallen(), draft).await;
    }

    /// Deletes `gone` from every index, and puts the records there as they are now that lost some of their tellings, in this call or
    /// in an earlier one that did not get so far.
    async fn clear_indexes(&self, gone: &[ItemId], draft: &mut Draft) {
        // First: a deletion drops the vectors that this process has.
        draft.failures.extend(self.inner().index_taken_back(self.scope()).await);
        draft.failures.extend(self.inner().delete_items(self.scope(), gone).await);
    }

    /// Drops the notes that are among `items` or derived from one of them, which truth does not hold any more. Returns how many of
    /// each there were.
    pub(super) fn drop_notes(&self, items: &[ItemId]) -> (u64, u64) {
        self.inner().working.forget(self.scope(), &items.iter().collect())
    }

    /// Makes the store refuse every put of records that is under way. Call it after messages are gone or records doomed, and
    /// before looking for what was derived from them.
    async fn outrun_puts(&self) -> Result<()> {
        let records = self.inner().records.store();
        // Whoever still found the sources there has read this fence or an older one.
        let seen = records.fence(self.scope()).await?;
        records.advance(self.scope(), seen).await.map(drop)
    }

    /// Forgets what was derived from summaries that were unfolded. They left traces.
    pub(super) async fn forget_unfolded(&self) -> Result<()> {
        self.end_removals(Protected::Falls, &mut Draft::default()).await
    }

    async fn forget_everything(&self) -> Result<ForgetReceipt> {
        let inner = self.inner();
        let (chat, records) = (inner.chat.upkeep(), inner.records.upkeep());
        let (said, told) = tokio::try_join!(chat.epoch(self.scope()), records.epoch(self.scope()))?;
        // One epoch for both, and conversations first: so their epoch is never behind that of the records, and no message is
        // erased later from which somebody has derived a record in the new epoch.
        let seen = said.max(told);
        let chat = chat.bury(self.scope(), seen).await?;
        let epoch = records.bury(self.scope(), seen).await?.max(chat);
        let stores = inner.erase_everywhere(self.scope(), epoch).await;
        Ok(ForgetReceipt {
            removed: stores.iter().filter(|store| is_truth(store.part)).map(|store| store.removed).sum(),
            derived: 0,
            epoch: Some(epoch),
            complete: stores.iter().all(|store| store.remaining == Some(0)),
            stores,
            unasked: Vec::new(),
        })
    }
}

impl Inner {
    /// Erases an owner's data older than `epoch` everywhere: truth first, then all indexes at once.
    pub(super) async fn erase_everywhere(&self, scope: &Scope, epoch: Epoch) -> Vec<StoreErasure> {
        let erase = |(part, store): (&'static str, std::sync::Arc<dyn crate::store::Store>)| async move {
            let answer = store.erase(scope, epoch).await;
            erasure(part, store.backend(), answer)
        };
        let (truth, indexes): (Vec<_>, Vec<_>) = self.stores.parts().into_iter().partition(|(part, _)| is_truth(part));
        let mut done = join_all(truth.into_iter().map(erase)).await;
        done.extend(join_all(indexes.into_iter().map(erase)).await);
        done
    }

    /// Returns the indexes that follow truth but are not open here, with how many notes of the owner each has pending. Whoever finds
    /// facts follows it too, and holds nothing that could be left.
    async fn unasked(&self, scope: &Scope) -> Result<Vec<Unasked>> {
        let is_elsewhere = |name: &IndexName| self.index(name).is_none() && !name.finds_facts();
        let unasked = self.following().await?.into_iter().filter(is_elsewhere).map(|name| async move {
            let notes = self.backlog_of(scope, &name).await.map(|Backlog { pending, dead }| pending + dead);
            Unasked { index: name.as_str().to_owned(), notes: notes.ok() }
        });
        Ok(join_all(unasked).await)
    }

    /// Deletes items that truth does not hold from every index, in batches up to the first that fails.
    async fn delete_items(&self, scope: &Scope, items: &[ItemId]) -> Vec<(&'static str, Error)> {
        for batch in items.chunks(BATCH) {
            let (_, failures) = self.delete_absent(scope, batch).await;
            if !failures.is_empty() {
                return failures;
            }
        }
        Vec::new()
    }
}

fn is_truth(part: &str) -> bool {
    matches!(part, "chat" | "records")
}
