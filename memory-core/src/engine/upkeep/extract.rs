//! Finding facts: reads what was said since, asks the extractor, checks its answer, and carries it out.
//!
//! Conversations are noted for it as for an index, so a crash anywhere leaves the note, and the same facts are told again:
//! that changes nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::engine::handle::{Memory, Scoped, Session};
use crate::engine::inner::{Extraction, Inner};
use crate::engine::write::{Remember, Remembered};
use crate::error::{Error, Result, Transience};
use crate::extract::{Effect, ExtractRequest, FactCounts, Operation, SLOT, Slot, VALUE, check, ground, trust_of};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, Seq, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::upkeep::{Note, Target};

use super::stretch::Stretch;

/// How many messages the extractor is asked about at once.
pub(super) const SLICE: u64 = 16;
/// How many records that fill a slot it is shown, the newest.
const KNOWN: usize = 200;
/// How many facts that fill none it is shown, the newest.
const PLAIN: usize = 50;
/// The kinds of these.
const KINDS: [&str; 4] = ["fact", "preference", "event", "plan"];
/// How long it may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// The name in errors of whoever finds facts.
const EXTRACTOR: &str = "extractor";

impl Memory {
    /// Finds the facts in what a note, or its next slice, is about, and counts what comes of them, also if it fails. Returns up to
    /// where that is done, and how many there were. Takes the time that the extractor needs from what is `left`.
    pub(super) async fn facts_of(
        &self,
        extraction: &Extraction,
        note: &Note,
        left: &mut Duration,
        counts: &mut FactCounts,
    ) -> Result<(Seq, usize)> {
        let Target::Messages(session) = &note.target else { return Ok((note.upto, 0)) };
        let upto = note.end_of_slice(SLICE);
        if upto < note.from {
            return Ok((note.upto, 0));
        }
        let scoped = self.of(&note.scope);
        let range = SeqRange { first: note.from, last: upto };
        let (range, request) = scoped.request_in(session, range).await?;
        let Some(request) = request else { return Ok((upto.min(range.last), 0)) };
        let (begun, finding) = (Instant::now(), &self.inner.finding);
        finding.set_working(false);
        let found = self.inner.ask_extractor(extraction, &request).await;
        finding.set_working(true);
        *left = left.saturating_sub(begun.elapsed());
        counts.refused += usize::from(matches!(found, Err(Error::Invalid { .. })));
        let operations = found?;
        let akin = scoped.akin(&operations).await?;
        for operation in &operations {
            counts.add(scoped.carry_out(extraction, session, operation, &akin).await?);
        }
        Ok((upto.min(range.last), operations.len()))
    }
}

impl Inner {
    /// Returns what an extractor is asked about messages: these, and what is known of their owner.
    async fn request_of(&self, scope: &Scope, messages: Vec<StoredMessage>) -> Result<Arc<ExtractRequest>> {
        let (fills, current) = (Filter::Exists(Field::Metadata(SLOT.to_owned())), Filter::current(self.clock.now()));
        let kinds = KINDS.map(|kind| Scalar::Text(kind.to_owned())).to_vec();
        let plain = fills.clone().negate().and(Filter::In(Field::Kind, kinds)).and(current.clone());
        let (records, filled) = (&self.bare.records, fills.and(current));
        let (mut known, plain) =
            tokio::try_join!(records.newest(scope, &filled, None, KNOWN), records.newest(scope, &plain, None, PLAIN))?;
        known.extend(plain);
        Ok(Arc::new(ExtractRequest { messages, known }))
    }

    /// Returns what the extractor finds. It is allowed.
    async fn ask_extractor(&self, extraction: &Extraction, request: &Arc<ExtractRequest>) -> Result<Vec<Operation>> {
        let (extractor, asked) = (Arc::clone(&extraction.extractor), Arc::clone(request));
        let call = crate::model::apart(EXTRACTOR, "find facts", async move { extractor.extract(&asked).await });
        let late = |_| Error::timed_out(EXTRACTOR, "answer in time");
        let mut operations = timeout(PATIENCE, call).await.map_err(late)??;
        check(&operations, request)?;
        operations.iter_mut().for_each(|operation| ground(operation, request, &self.analysis));
        // What else it rests on may be trusted less.
        check(&operations, request)?;
        Ok(operations)
    }
}

/// Returns whether a stretch has failed by itself, and would again. A backend that fails, be it for good because a key has expired,
/// answers again some day; an extractor that panics does not.
pub(super) fn is_of_stretch(error: &Error) -> bool {
    match error {
        Error::Backend { backend, transience, .. } => *backend == EXTRACTOR && *transience == Transience::Permanent,
        error => !error.is_retryable(),
    }
}

impl Session {
    /// Returns the operations that the extractor finds in the messages of `range`, without carrying them out. Upkeep may have
    /// carried them out already. If the messages hold more text than an index reads at once, covers only the first of them.
    ///
    /// # Errors
    /// `Unsupported` if the memory has no extractor; `Invalid` if its answer is refused; its own failure.
    pub async fn facts(&self, range: SeqRange) -> Result<Vec<Operation>> {
        let scoped = self.scoped();
        let Some(extraction) = &scoped.inner().extraction else {
            let what = "find facts: the memory was built without an extractor".to_owned();
            return Err(Error::Unsupported { backend: "memory", what });
        };
        self.flush().await?;
        match scoped.request_in(self.id(), range).await?.1 {
            Some(request) => scoped.inner().ask_extractor(extraction, &request).await,
            None => Ok(Vec::new()),
        }
    }
}

impl Scoped {
    /// Returns what an extractor is asked about messages of a conversation, and about which of them; nothing if none is left.
    async fn request_in(
        &self,
        session: &SessionId,
        range: SeqRange,
    ) -> Result<(SeqRange, Option<Arc<ExtractRequest>>)> {
        let inner = self.inner();
        let Stretch { range, rows, .. } = inner.read_stretch(self.scope(), session, range, |range| range).await?;
        let rows: Vec<StoredMessage> = rows
            .into_iter()
            .filter(|row| range.contains(row.seq) && row.message.is_some() && !row.is_replaced())
            .collect();
        if rows.is_empty() {
            return Ok((range, None));
        }
        Ok((range, Some(inner.request_of(self.scope(), rows).await?)))
    }

    /// Carries out an operation, and counts what comes of it.
    async fn carry_out(
        &self,
        extraction: &Extraction,
        session: &SessionId,
        operation: &Operation,
        akin: &[StoredRecord],
    ) -> Result<FactCounts> {
        let rows = self.said(&operation.sources).await?;
        let said: Vec<&Message> = rows.iter().filter_map(|row| row.message.as_deref()).collect();
        let trust = said.iter().map(|message| trust_of(message)).min();
        let told = trust.zip(said.iter().map(|message| message.at).max());
        let Some((trust, at)) = told.filter(|_| said.len() == operation.sources.len()) else {
            return Err(Error::invalid("a source of a fact was forgotten while it was found"));
        };
        let held = match operation.effect {
            Effect::Retract(id) => {
                self.end_at(id, operation.valid_to.unwrap_or(at)).await?;
                return Ok(FactCounts { retracted: 1, ..FactCounts::default() });
            }
            Effect::Confirm(id) => Some(id),
            Effect::Add | Effect::Change(_) | Effect::Correct(_) => self.holder(operation, at, trust, akin).await?,
        };
        if let Some(id) = held {
            self.tell_again(id, extraction, session, operation, &said).await?;
            return Ok(FactCounts { confirmed: 1, ..FactCounts::default() });
        }
        let mut remember = Remember::new(&operation.kind, &operation.text)
            .with_trust(trust)
            .with_origin(extraction.name.as_str())
            .with_session(session.clone())
            .valid(operation.valid_from, operation.valid_to);
        remember = operation.sources.iter().fold(remember, |told, id| told.with_source(ItemId::Message(*id)));
        remember = operation.entities.iter().fold(remember, |told, name| told.with_tag(name));
        if let Some(Slot { name, value }) = &operation.slot {
            remember = remember.with_metadata(SLOT, name.as_str()).with_metadata(VALUE, value.as_str());
        }
        let Some(old) = operation.effect.replaced() else {
            let is_new = self.remember(remember).await?.outcome == Remembered::Stored;
            let (added, confirmed) = (usize::from(is_new), usize::from(!is_new));
            return Ok(FactCounts { added, confirmed, ..FactCounts::default() });
        };
        self.supersede(old, remember).await?;
        Ok(FactCounts { changed: 1, ..FactCounts::default() })
    }
}
