//! Projection: reads what a note asks for from truth, turns it into documents, and puts them into an index.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;

use crate::engine::event::Event;
use crate::engine::inner::{Index, Inner, Kind, Vectors};
use crate::engine::synopsis::synopsis_id;
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId, Seq, SeqRange, SessionId, Unit, Version};
use crate::index::{
    NEIGHBOURS, PIECE_WORDS, deleted_version, message_entries, message_pieces, record_entry, record_pieces,
    session_entries, session_version,
};
use crate::message::Message;
use crate::record::StoredRecord;
use crate::scope::{Epoch, Scope};
use crate::store::Store;
use crate::store::chat::SessionState;
use crate::store::text::{Deletion, Rejected, TextEntry, Visibility};
use crate::store::upkeep::{Note, Target};
use crate::store::vectors::VectorEntry;
use crate::time::Stopwatch;

use super::document::{Document, Untaken, Work, versions};
use super::isolate::Setback;
use super::sight::Sight;
use super::stretch::{Stretch, around};

/// How many messages of a session are indexed in one step.
const SLICE: u64 = 256;

/// Messages of a session that were read for an index.
struct Read {
    state: SessionState,
    /// The last message that documents were made up to.
    last: Seq,
    /// The deletion of those that are forgotten.
    forgotten: Deletion,
    /// The documents of the others.
    documents: Vec<Document>,
}

impl Inner {
    /// Reads what a note, or its next slice, asks for. Carries out an erasure at once.
    pub(crate) async fn prepare(&self, index: &Index, note: Note) -> std::result::Result<Work, (Note, Error)> {
        match self.read_note(index, &note).await {
            Ok((through, deletions, documents, sight)) => {
                let sight = sight.filter(|_| !documents.is_empty());
                Ok(Work { note, through, deletions, documents, sight })
            }
            Err(error) => Err((note, error)),
        }
    }

    async fn read_note(
        &self,
        index: &Index,
        note: &Note,
    ) -> Result<(Seq, Vec<Deletion>, Vec<Document>, Option<Sight>)> {
        match &note.target {
            Target::Messages(session) => {
                let upto = note.end_of_slice(SLICE);
                // The neighbours' entries borrow words of these messages.
                let borrowing = if index.as_vectors().is_some() { 0 } else { NEIGHBOURS };
                let from = Seq(note.from.0.saturating_sub(borrowing).max(1));
                let last = if upto < note.from { upto } else { Seq(upto.0.saturating_add(borrowing)) };
                let range = SeqRange { first: from, last };
                let read = self.read_messages(index, &note.scope, session, range).await?;
                let deleted = || match deleted_version(&read.state) {
                    // The owner has been erased since, and began anew.
                    _ if note.epoch < read.state.fence.epoch => Version { epoch: note.epoch, revision: u64::MAX },
                    Some(version) => version,
                    // A generation deleted by an old version, before revisions marked its end: everything so far goes, and
                    // later notes put the present one again.
                    None => session_version(&read.state, u64::MAX),
                };
                let gone = note.gone.then(|| Deletion::Session(session.clone(), deleted()));
                let range = SeqRange { last: read.last, ..range };
                let sight = Sight::of_messages(&note.scope, &read.state, range, versions(&read.documents));
                let deletions = gone.into_iter().chain([read.forgotten]).collect();
                Ok((upto.min(read.last), deletions, read.documents, Some(sight)))
            }
            Target::Record(id) => {
                let stored = if note.gone { None } else { self.bare.records.get(&note.scope, &[*id]).await?.pop() };
                let Some(stored) = stored else {
                    let version = Version { epoch: note.epoch, revision: note.upto.0 };
                    let gone = Deletion::Items(vec![(ItemId::Record(*id), version)]);
                    return Ok((note.upto, vec![gone], Vec::new(), None));
                };
                let sight = Sight::of_record(&note.scope, *id, Some(stored.version), note.epoch);
                let documents = self.document_of(index, &stored, note.epoch).into_iter().collect();
                Ok((note.upto, Vec::new(), documents, Some(sight)))
            }
            Target::Owner => {
                self.go_on_erasing(index, note).await?;
                Ok((note.upto, Vec::new(), Vec::new(), None))
            }
        }
    }

    /// Reads the messages of `range` for an index. For a text index also reads the neighbours whose words they borrow, and the
    /// whole spans they stand in.
    async fn read_messages(&self, index: &Index, scope: &Scope, session: &SessionId, range: SeqRange) -> Result<Read> {
        let embeds = index.as_vectors().is_some();
        let needed = if embeds { |range| range } else { around };
        let Stretch { range, state, rows } = self.read_stretch(scope, session, range, needed).await?;
        self.note_if_full(scope, session, &self.buffers.of(scope, session), &state);
        // Only text indexes get spans, and only vector indexes get the texts.
        let entries = if embeds { message_entries } else { session_entries };
        let changes = entries(&self.analysis, &rows, &state, range);
        let rows = rows.iter().filter(|row| embeds && range.contains(row.seq));
        let messages: HashMap<ItemId, &Arc<Message>> =
            rows.filter_map(|row| Some((ItemId::Message(row.id), row.message.as_ref()?))).collect();
        let documents = changes.puts.into_iter().map(|entry| {
            let message = messages.get(&entry.item).filter(|_| index.embeds(&entry.fields));
            let pieces = message.map(|message| message_pieces(message, PIECE_WORDS)).unwrap_or_default();
            Document { entry, pieces }
        });
        let documents = documents.collect();
        // The index will not have them.
        let wordless = changes.deletions.iter().map(|(item, version)| (item.clone(), version.revision));
        index.unindexed.remove(scope, wordless);
        Ok(Read { state, last: range.last, forgotten: Deletion::Items(changes.deletions), documents })
    }

    /// Puts documents of one owner into one index: deletions first, then all entries in one batch. Findable after the next flush.
    pub(crate) async fn carry_out(
        &self,
        index: &Index,
        scope: &Scope,
        works: &mut [Work],
    ) -> std::result::Result<Untaken, Setback> {
        for deletion in works.iter().flat_map(|work| &work.deletions) {
            index.delete(scope, deletion).await?;
        }
        let documents: Vec<Document> = works.iter_mut().flat_map(|work| work.documents.drain(..)).collect();
        self.put(index, scope, documents).await
    }

    async fn put(
        &self,
        index: &Index,
        scope: &Scope,
        documents: Vec<Document>,
    ) -> std::result::Result<Untaken, Setback> {
        if documents.is_empty() {
            return Ok(Untaken::default());
        }
        let (rejected, unmade) = match &index.kind {
            Kind::Text(store) => {
                let entries: Vec<TextEntry> = documents.into_iter().map(|document| document.entry).collect();
                (store.put(scope, &entries, Visibility::AfterFlush).await?, Vec::new())
            }
            Kind::Vectors(vectors) => {
                let watch = Stopwatch::start();
                let (entries, unmade) = vectors.embed_all(scope, &documents).await?;
                let texts = documents.iter().map(|document| document.pieces.len()).sum();
                self.tell(Some(scope), &Event::Embedded { texts, took_micros: watch.micros() });
                index.delete(scope, &outdated(&documents, &entries)).await?;
                (vectors.store.put(scope, &entries, Visibility::AfterFlush).await?, unmade)
            }
        };
        let (delayed, refused) = rejected.into_iter().partition(|rejected| rejected.error.is_retryable());
        Ok(Untaken { refused, delayed, unmade })
    }

    /// Puts messages of a session into an index, as truth holds them now. Findable after the next flush.
    pub(crate) async fn put_messages(
        &self,
        index: &Index,
        scope: &Scope,
        session: &SessionId,
        range: SeqRange,
    ) -> Result<Sight> {
        let (mut left, mut sight) = (range, None::<Sight>);
        loop {
            let read = self.read_messages(index, scope, session, left).await?;
            let new = Sight::of_messages(scope, &read.state, range, versions(&read.documents));
            index.delete(scope, &read.forgotten).await?;
            self.put(index, scope, read.documents).await.map_err(|setback| setback.error)?;
            let all = sight.map_or(new.clone(), |sight| sight.and(new));
            left.first = Seq(read.last.0.saturating_add(1));
            if left.first > left.last {
                return Ok(all);
            }
            sight = Some(all);
        }
    }

    /// Puts a record into an index, as truth holds it now, if truth does. Findable after the next flush.
    pub(crate) async fn put_record(&self, index: &Index, scope: &Scope, id: RecordId) -> Result<Sight> {
        let (sights, _) = self.put_records(index, scope, &[id]).await?;
        sights.into_iter().next().ok_or(Error::Conflict)
    }

    /// Puts records into an index, as truth holds them now; those that it does not hold are left out. Findable after the next
    /// flush. Returns a sight of each, and what the index did not take.
    pub(crate) async fn put_records(
        &self,
        index: &Index,
        scope: &Scope,
        ids: &[RecordId],
    ) -> Result<(Vec<Sight>, Untaken)> {
        let (sights, documents) = self.read_records(index, scope, ids).await?;
        let untaken = self.put(index, scope, documents).await.map_err(|setback| setback.error)?;
        Ok((sights, untaken))
    }

    /// Puts records into an index of vectors, as truth holds them now, with the vectors that this process has. Of one that would have
    /// to be embedded, it deletes what is older than truth: its note puts it again. Asks no embedder, which may take long. Findable
    /// after the next flush. Returns a sight of each, and what the index refused.
    pub(crate) async fn put_kept(
        &self,
        index: &Index,
        vectors: &Vectors,
        scope: &Scope,
        ids: &[RecordId],
    ) -> Result<(Vec<Sight>, Vec<Rejected>)> {
        let (sights, documents) = self.read_records(index, scope, ids).await?;
        let entries = vectors.embed_kept(scope, &documents)?;
        index.delete(scope, &outdated(&documents, &entries)).await?;
        let refused = vectors.store.put(scope, &entries, Visibility::AfterFlush).await?;
        Ok((sights, refused))
    }

    /// Reads records for an index, as truth holds them now. Returns a sight of each, and the documents of those that there are.
    async fn read_records(
        &self,
        index: &Index,
        scope: &Scope,
        ids: &[RecordId],
    ) -> Result<(Vec<Sight>, Vec<Document>)> {
        let epoch = self.records.upkeep().epoch(scope).await?;
        let stored = self.bare.records.get(scope, ids).await?;
        let known: HashMap<RecordId, u64> = stored.iter().map(|row| (row.record.id, row.version)).collect();
        let sights = ids.iter().map(|id| Sight::of_record(scope, *id, known.get(id).copied(), epoch)).collect();
        let documents = stored.iter().filter_map(|stored| self.document_of(index, stored, epoch)).collect();
        Ok((sights, documents))
    }

    /// Returns the document of a record; none for a synopsis, which no search finds.
    fn document_of(&self, index: &Index, stored: &StoredRecord, epoch: Epoch) -> Option<Document> {
        if stored.record.id == synopsis_id() {
            return None;
        }
        let entry = record_entry(&self.analysis, stored, epoch);
        let is_embedded = index.embeds(&entry.fields);
        let pieces = if is_embedded { record_pieces(&stored.record, PIECE_WORDS) } else { Vec::new() };
        Some(Document { entry, pieces })
    }

    /// Completes an erasure that was cut off: truth first, then this index, then the cache, the board and the notes.
    async fn go_on_erasing(&self, index: &Index, note: &Note) -> Result<()> {
        index.drop_kept(&note.scope);
        self.forget_written(&note.scope);
        // Also what a pass has counted that was under way.
        self.given_up.forget(&note.scope, note.epoch);
        let parts = self.stores.parts().into_iter().filter(|(part, _)| !matches!(*part, "text" | "vectors"));
        // Cache and board last: neither shows anything of an earlier epoch, and each may be down for long.
        let (others, truth): (Vec<_>, Vec<_>) =
            parts.partition(|(part, _)| matches!(*part, "cache" | "board" | "working"));
        for store in truth.into_iter().map(|(_, store)| store).chain([index.store()]) {
            erase(store.as_ref(), note).await?;
        }
        let erased = join_all(others.iter().map(|(_, store)| erase(store.as_ref(), note))).await;
        erased.into_iter().collect()
    }
}

/// Erases a store up to the epoch of a note.
async fn erase(store: &dyn Store, note: &Note) -> Result<()> {
    let erased = store.erase(&note.scope, note.epoch).await?;
    if erased.remaining > 0 {
        let what = format!("erase the {} items that remain", erased.remaining);
        return Err(Error::Unsupported { backend: store.backend(), what });
    }
    Ok(())
}

/// Returns the deletion of the older versions of the records that get no entry: the index would find them by what they were.
fn outdated(documents: &[Document], entries: &[VectorEntry]) -> Deletion {
    let made: HashSet<&ItemId> = entries.iter().map(|entry| &entry.item).collect();
    let unmade = documents.iter().map(|document| &document.entry).filter(|entry| !made.contains(&entry.item));
    let older = unmade.filter(|entry| entry.item.unit() == Unit::Record && entry.version.revision > 1).map(|entry| {
        let Version { epoch, revision } = entry.version;
        (entry.item.clone(), Version { epoch, revision: revision.saturating_sub(1) })
    });
    Deletion::Items(older.collect())
}
