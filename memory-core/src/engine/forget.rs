//! Forgetting: truth first, then every copy, then a check that nothing is left.

use futures_util::future::join_all;
use serde::Serialize;

use crate::chat::{Page, Redacted, View};
use crate::error::{Error, Result};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, MessageId, RecordId, Seq, SeqRange, SessionId};
use crate::index::NEIGHBOURS;
use crate::layer::cached::noting;
use crate::scope::Epoch;
use crate::store::{Erased, ErasureLevel};
use crate::text::Deletion;

use super::memory::Inner;
use super::scoped::Scoped;

/// How many ids are handled together.
const BATCH: usize = 256;

/// Messages of a session that are indexed again together.
const STRETCH: u64 = 256;

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// Single messages. Their numbers stay taken.
    Messages(Vec<MessageId>),
    /// Records.
    Records(Vec<RecordId>),
    /// A conversation, with the records that belong to it.
    Session(SessionId),
    /// Everything of the owner.
    Everything,
}

/// What a store did of an erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreErasure {
    /// What the store is used for.
    pub part: &'static str,
    /// The backend's name.
    pub backend: &'static str,
    /// Items removed by this call.
    pub removed: u64,
    /// Items still there; `None` if the store did not answer.
    pub remaining: Option<u64>,
    /// How thoroughly.
    pub level: Option<ErasureLevel>,
    /// Why it is not done, one clause.
    pub why: Option<String>,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForgetReceipt {
    /// Messages and records removed from truth.
    pub removed: u64,
    /// Of them, records and summaries that were derived from what was to be forgotten.
    pub derived: u64,
    /// The owner's new epoch, if everything was forgotten.
    pub epoch: Option<Epoch>,
    /// What each store did, if everything was forgotten; else the indexes that failed.
    pub stores: Vec<StoreErasure>,
    /// Whether every store confirmed that nothing is left. If not, upkeep goes on with it; nothing can be recalled
    /// either way, because truth holds it no more. A cache that did not answer is not asked again before what it holds
    /// has expired; other processes that reach it may see that until then.
    pub complete: bool,
}

impl Scoped {
    /// Forgets for good: no call returns any of it when this returns, derived summaries and records included.
    ///
    /// Truth goes first, so that nothing can be hydrated from then on; then the indexes. An index that fails is named
    /// in the receipt, keeps a pending note, and is finished by upkeep. After [`Forget::Everything`] handles opened
    /// before are `Fenced`. May be repeated.
    #[doc(alias = "purge")]
    #[doc(alias = "delete_all")]
    pub async fn forget(&self, what: &Forget) -> Result<ForgetReceipt> {
        let forgotten = async {
            match what {
                Forget::Messages(ids) => self.forget_messages(ids).await,
                Forget::Records(ids) => self.forget_records(ids).await,
                Forget::Session(session) => self.forget_session(session).await,
                Forget::Everything => self.forget_everything().await,
            }
        };
        let (receipt, uncached) = noting(forgotten).await;
        self.inner().kept.forget(self.scope());
        let receipt = receipt?.without_cache(uncached);
        self.inner().changed.notify_one();
        Ok(receipt)
    }

    async fn forget_messages(&self, ids: &[MessageId]) -> Result<ForgetReceipt> {
        let inner = self.inner();
        let mut receipt = Receipt::default();
        let redacted = inner.chat.store().redact(self.scope(), ids).await?;
        receipt.removed = redacted.len() as u64;
        let summaries = redacted.iter().flat_map(|redacted| redacted.summaries.iter().copied());
        let mut items: Vec<ItemId> = ids.iter().copied().chain(summaries).map(ItemId::Message).collect();
        receipt.derived = (items.len() - ids.len()) as u64;
        let derived = self.delete_derived(&items).await?;
        receipt.derived += derived.len() as u64;
        items.extend(derived.into_iter().map(ItemId::Record));
        receipt.failures = inner.delete_everywhere(self.scope(), &Deletion::Items(items)).await;
        // The neighbours' entries hold words of the forgotten messages.
        for (session, SeqRange { first, last }) in neighbourhoods(&redacted) {
            let again = inner.index_again(self.scope(), &session, first, last).await;
            receipt.failures.extend(again.err().map(|error| ("neighbours", error)));
        }
        Ok(receipt.finish())
    }

    async fn forget_records(&self, ids: &[RecordId]) -> Result<ForgetReceipt> {
        let mut receipt =
            Receipt { removed: self.inner().records.store().delete(self.scope(), ids).await?, ..Receipt::default() };
        let mut items: Vec<ItemId> = ids.iter().copied().map(ItemId::Record).collect();
        let derived = self.delete_derived(&items).await?;
        receipt.derived = derived.len() as u64;
        items.extend(derived.into_iter().map(ItemId::Record));
        receipt.failures = self.inner().delete_everywhere(self.scope(), &Deletion::Items(items)).await;
        Ok(receipt.finish())
    }

    async fn forget_session(&self, session: &SessionId) -> Result<ForgetReceipt> {
        let inner = self.inner();
        let mut receipt = Receipt::default();
        let mut derived = Vec::new();
        let mut after = Seq(0);
        loop {
            // Summaries too: records may have been derived from them.
            let page = Page::after(after, BATCH, View::All);
            let rows = inner.chat.store().read(self.scope(), session, &page).await?.messages;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            let items: Vec<ItemId> = rows.iter().map(|row| ItemId::Message(row.id)).collect();
            derived.extend(self.delete_derived(&items).await?);
        }
        receipt.derived = derived.len() as u64;
        let of_session = self.delete_records_of(session).await?;
        receipt.removed = inner.chat.store().delete(self.scope(), session).await? + of_session.len() as u64;
        derived.extend(of_session);
        receipt.failures = inner.delete_everywhere(self.scope(), &Deletion::Session(session.clone())).await;
        let derived = derived.into_iter().map(ItemId::Record).collect();
        receipt.failures.extend(inner.delete_everywhere(self.scope(), &Deletion::Items(derived)).await);
        Ok(receipt.finish())
    }

    async fn forget_everything(&self) -> Result<ForgetReceipt> {
        let inner = self.inner();
        let chat = inner.chat.upkeep().bury(self.scope()).await?;
        let records = inner.records.upkeep().bury(self.scope()).await?;
        let epoch = chat.max(records);
        let stores = inner.erase_everywhere(self.scope(), epoch).await;
        Ok(ForgetReceipt {
            removed: stores.iter().filter(|store| is_truth(store.part)).map(|store| store.removed).sum(),
            derived: 0,
            epoch: Some(epoch),
            complete: stores.iter().all(|store| store.remaining == Some(0)),
            stores,
        })
    }

    /// Deletes the records that belong to a session, and those derived from them, and returns their ids.
    async fn delete_records_of(&self, session: &SessionId) -> Result<Vec<RecordId>> {
        let mut ids = self.delete_matching(&Filter::eq(Field::Session, session.name())).await?;
        let items: Vec<ItemId> = ids.iter().copied().map(ItemId::Record).collect();
        ids.extend(self.delete_derived(&items).await?);
        Ok(ids)
    }

    /// Deletes records derived from `items`, and those derived from them, and returns their ids.
    async fn delete_derived(&self, items: &[ItemId]) -> Result<Vec<RecordId>> {
        let mut deleted = Vec::new();
        let mut sources: Vec<String> = items.iter().map(ItemId::key).collect();
        while !sources.is_empty() {
            let rest = sources.split_off(sources.len().min(BATCH));
            let filter = Filter::In(Field::Source, sources.into_iter().map(Scalar::Text).collect());
            sources = rest;
            let ids = self.delete_matching(&filter).await?;
            sources.extend(ids.iter().map(|id| ItemId::Record(*id).key()));
            deleted.extend(ids);
        }
        Ok(deleted)
    }

    /// Deletes the records that match, and returns their ids.
    async fn delete_matching(&self, filter: &Filter) -> Result<Vec<RecordId>> {
        let store = self.inner().records.store();
        let found = store.scan(self.scope(), filter, None, usize::MAX).await?;
        let ids: Vec<RecordId> = found.iter().map(|stored| stored.record.id).collect();
        store.delete(self.scope(), &ids).await?;
        Ok(ids)
    }
}

impl Inner {
    /// Erases an owner's data older than `epoch` everywhere: truth first, then all indexes together.
    pub(super) async fn erase_everywhere(&self, scope: &crate::Scope, epoch: Epoch) -> Vec<StoreErasure> {
        let erase = |(part, store): (&'static str, std::sync::Arc<dyn crate::store::Store>)| async move {
            let answer = store.erase(scope, epoch).await;
            erasure(part, store.backend(), answer)
        };
        let (truth, indexes): (Vec<_>, Vec<_>) = self.stores().into_iter().partition(|(part, _)| is_truth(part));
        let mut done = join_all(truth.into_iter().map(erase)).await;
        done.extend(join_all(indexes.into_iter().map(erase)).await);
        done
    }
}

/// Returns the messages beside the forgotten ones, as stretches of sessions that do not overlap and are read whole.
fn neighbourhoods(redacted: &[Redacted]) -> Vec<(SessionId, SeqRange)> {
    let mut places: Vec<(&SessionId, u64)> = redacted.iter().map(|one| (&one.session, one.seq.0)).collect();
    places.sort_unstable();
    let mut found: Vec<(SessionId, SeqRange)> = Vec::new();
    for (session, seq) in places {
        let (first, last) = (Seq(seq.saturating_sub(NEIGHBOURS).max(1)), Seq(seq.saturating_add(NEIGHBOURS)));
        match found.last_mut() {
            Some((same, range)) if same == session && first <= range.last && last.0 - range.first.0 < STRETCH => {
                range.last = range.last.max(last);
            }
            _ => found.push((session.clone(), SeqRange { first, last })),
        }
    }
    found
}

fn is_truth(part: &str) -> bool {
    matches!(part, "chat" | "records")
}

fn erasure(part: &'static str, backend: &'static str, answer: Result<Erased>) -> StoreErasure {
    match answer {
        Ok(Erased { removed, remaining, level }) => {
            StoreErasure { part, backend, removed, remaining: Some(remaining), level: Some(level), why: None }
        }
        Err(error) => {
            let why = Some(error.with_causes());
            StoreErasure { part, backend, removed: 0, remaining: None, level: None, why }
        }
    }
}

impl ForgetReceipt {
    /// Names what a cache could not take back. This process does not ask it until that has expired.
    fn without_cache(mut self, errors: Vec<Error>) -> Self {
        let is_named = self.stores.iter().any(|store| store.part == "cache" && store.why.is_some());
        let errors: Vec<Error> = if is_named { Vec::new() } else { errors };
        self.complete &= errors.is_empty();
        self.stores.extend(errors.into_iter().map(|error| erasure("cache", "cache", Err(error))));
        self
    }
}

#[derive(Debug, Default)]
struct Receipt {
    removed: u64,
    derived: u64,
    failures: Vec<(&'static str, Error)>,
}

impl Receipt {
    fn finish(self) -> ForgetReceipt {
        let stores = self.failures.into_iter().map(|(part, error)| erasure(part, "index", Err(error)));
        let stores: Vec<_> = stores.collect();
        ForgetReceipt {
            removed: self.removed + self.derived,
            derived: self.derived,
            epoch: None,
            complete: stores.is_empty(),
            stores,
        }
    }
}
