//! Facts that are found again: what is known is told once more, and what has ended stays ended.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::engine::handle::Scoped;
use crate::engine::inner::Extraction;
use crate::engine::write::Links;
use crate::error::Result;
use crate::extract::{Effect, Operation, SLOT, VALUE, repeats, says_no_more, trust_of};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, RecordId, SessionId};
use crate::message::{Message, Trust};
use crate::novelty::fingerprint;
use crate::record::{Record, StoredRecord, Superseded, Telling};
use crate::time::Timestamp;

/// How many records are looked at that may hold what is found, the newest.
const AKIN: usize = 200;

impl Scoped {
    /// Returns the records that may hold what these operations add already, whether they are current or not.
    pub(super) async fn akin(&self, operations: &[Operation]) -> Result<Vec<StoredRecord>> {
        let is_added = |operation: &&Operation| !matches!(operation.effect, Effect::Confirm(_) | Effect::Retract(_));
        let added: Vec<&Operation> = operations.iter().filter(is_added).collect();
        if added.is_empty() {
            return Ok(Vec::new());
        }
        let texts = |texts: BTreeSet<String>| texts.into_iter().map(Scalar::Text).collect::<Vec<Scalar>>();
        let sources = added.iter().flat_map(|operation| &operation.sources).map(|id| ItemId::Message(*id).key());
        let values = added.iter().filter_map(|operation| operation.slot.as_ref()).map(|slot| slot.value.clone());
        let told_from = Filter::In(Field::Source, texts(sources.collect()));
        let filled = Filter::In(Field::Metadata(VALUE.to_owned()), texts(values.collect()));
        let analysis = &self.inner().analysis;
        let ids = added.iter().map(|operation| fingerprint(analysis, &operation.kind, &operation.text));
        let ids: Vec<RecordId> = ids.collect::<BTreeSet<RecordId>>().into_iter().collect();
        // Apart, since a store may find sources by an index, but not what has one of these sources or values.
        let (records, is_filled) = (&self.inner().bare.records, added.iter().any(|operation| operation.slot.is_some()));
        let told_from = records.newest(self.scope(), &told_from, None, AKIN);
        let filled =
            async { if is_filled { records.newest(self.scope(), &filled, None, AKIN).await } else { Ok(Vec::new()) } };
        let (mut akin, filled, links) = tokio::try_join!(told_from, filled, self.links_of(&ids))?;
        // The same statement has a record for each time that it was true, and the newest has most to say.
        let (newest, first): (Vec<_>, Vec<_>) = links.into_iter().map(Links::ends).unzip();
        akin.extend(newest.into_iter().flatten().chain(filled).chain(first.into_iter().flatten()));
        let mut seen = HashSet::new();
        akin.retain(|stored| seen.insert(stored.record.id));
        Ok(akin)
    }

    /// Returns the record among `akin` that holds what an operation adds, said at `said` with `trust`, and is not to be changed by
    /// that: it has ended, and was told from the same messages or, with no less trust, ended later; or it began when what is added
    /// had ended.
    pub(super) async fn holder(
        &self,
        operation: &Operation,
        said: Timestamp,
        trust: Trust,
        akin: &[StoredRecord],
    ) -> Result<Option<RecordId>> {
        for stored in akin {
            let record = &stored.record;
            if record.doomed || self.is_over(stored) || !self.says(record, operation) {
                continue;
            }
            let is_held = if self.is_retired(stored) {
                let is_told = is_told_from(record, &sources_of(operation));
                let may_hold = is_told || record.trust() >= trust;
                may_hold && self.end_of(record).await?.is_some_and(|end| is_told || said < end)
            } else {
                operation.valid_to.is_some_and(|end| end <= record.begins())
            };
            if is_held {
                return Ok(Some(record.id));
            }
        }
        Ok(None)
    }

    /// Returns whether a record says what an operation adds: the same statement, or the same of the same slot in more words.
    fn says(&self, record: &Record, operation: &Operation) -> bool {
        let metadata = record.metadata();
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
        let slot = operation.slot.as_ref();
        let fills = slot.is_some_and(|slot| text(SLOT) == slot.name && repeats(&slot.name, &slot.value, text(VALUE)));
        let id = |kind: &str, text: &str| fingerprint(&self.inner().analysis, kind, text);
        fills || id(&record.kind, &record.text) == id(&operation.kind, &operation.text)
    }

    /// Returns when a record that is current no longer ceased to be true: when it was ended or what superseded it began, whichever
    /// was first. None if nothing says so any more, since that was forgotten.
    async fn end_of(&self, record: &Record) -> Result<Option<Timestamp>> {
        let until = record.validity().1;
        let Some(Superseded { by, .. }) = record.superseded else { return Ok(until) };
        let newer = self.stored(&[by]).await?.pop();
        Ok(until.into_iter().chain(newer.map(|newer| newer.record.begins())).min())
    }

    /// Tells a record once more, from the messages of an operation, which are `said`. Neither its words nor its times change. If its
    /// words say more than these messages, the telling is taken back with the first one's sources too. A fact that was over when the
    /// record began tells nothing.
    ///
    /// # Errors
    /// As [`Scoped::update`].
    pub(super) async fn tell_again(
        &self,
        id: RecordId,
        extraction: &Extraction,
        session: &SessionId,
        operation: &Operation,
        said: &[&Message],
    ) -> Result<()> {
        let now = self.inner().clock.now();
        let trust = said.iter().map(|message| trust_of(message)).min().unwrap_or(Trust::Untrusted);
        let sources = sources_of(operation);
        let tell = |record: &mut Record| {
            // What was over when the record began is another time of the same: the record does not rest on it.
            let is_before = operation.valid_to.is_some_and(|end| end <= record.begins());
            if is_before || is_told_from(record, &sources) {
                return;
            }
            let mut telling = Telling::new(now, trust.min(record.trust()));
            telling.origin = Some(extraction.name.as_str().to_owned());
            telling.session = Some(session.clone());
            (telling.valid_from, telling.valid_to) = record.validity();
            telling.expires_at = record.expires_at();
            telling.sources.clone_from(&sources);
            if !says_no_more(&record.text, &[], said) {
                let first = record.first.sources.iter().filter(|source| !sources.contains(source));
                telling.sources.extend(first.cloned());
            }
            let metadata = record.metadata().into_iter().filter(|(key, _)| [SLOT, VALUE].contains(&key.as_str()));
            telling.metadata.extend(metadata);
            // A record that can hold no more keeps the tellings that it has.
            if let Some(again) = self.told_within(record, &[telling]) {
                *record = again;
            }
        };
        self.update(id, tell).await?;
        self.note_access(vec![id]);
        Ok(())
    }

    /// Ends each telling of a record at `end`, unless it has ended before, or the record is superseded.
    ///
    /// # Errors
    /// As [`Scoped::update`].
    pub(super) async fn end_at(&self, id: RecordId, end: Timestamp) -> Result<()> {
        let ended = |record: &mut Record| {
            // Earlier tellings may be open where the last one has ended.
            if record.superseded.is_none() {
                *record = record.until(end.max(record.begins()));
            }
        };
        self.update(id, ended).await.map(drop)
    }
}

fn sources_of(operation: &Operation) -> Vec<ItemId> {
    operation.sources.iter().map(|id| ItemId::Message(*id)).collect()
}

/// Returns whether a record was told from all of these.
fn is_told_from(record: &Record, sources: &[ItemId]) -> bool {
    let known = record.sources();
    sources.iter().all(|source| known.contains(&source))
}
