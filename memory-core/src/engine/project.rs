//! From truth to index entries: what a note asks for is read and turned into documents, then put owner by owner.

use std::collections::HashMap;
use std::sync::Arc;

use crate::chat::{Page, View};
use crate::error::{Error, Result};
use crate::id::{ItemId, Seq, SeqRange, SessionId};
use crate::index::{Changes, PIECE_WORDS, message_entries, message_pieces, record_entry, record_pieces};
use crate::message::Message;
use crate::model::Purpose;
use crate::record::StoredRecord;
use crate::scope::{Epoch, Scope};
use crate::text::{Deletion, Rejected, TextEntry, Visibility};
use crate::upkeep::{IndexName, Note, Target};
use crate::vector::VectorEntry;

use super::memory::{Inner, VectorIndex};

/// Messages of a session that are indexed in one step.
const SLICE: u64 = 256;

/// What carrying out (a part of) a note takes.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) note: Note,
    /// The note is done up to here once the work is.
    pub(super) through: Seq,
    pub(super) deletions: Vec<Deletion>,
    pub(super) documents: Vec<Document>,
}

/// An item to be indexed: its terms and fields, and the texts that are embedded for it.
#[derive(Debug)]
pub(super) struct Document {
    entry: TextEntry,
    pieces: Vec<String>,
}

impl Inner {
    /// Reads what one slice of a note asks for. An erasure is carried out at once.
    pub(super) async fn prepare(&self, index: &IndexName, note: Note) -> std::result::Result<Work, (Note, Error)> {
        match self.read_note(index, &note).await {
            Ok((through, deletions, documents)) => Ok(Work { note, through, deletions, documents }),
            Err(error) => Err((note, error)),
        }
    }

    async fn read_note(&self, index: &IndexName, note: &Note) -> Result<(Seq, Vec<Deletion>, Vec<Document>)> {
        match &note.target {
            Target::Messages(session) => {
                let upto = Seq(note.upto.0.min(note.from.0.saturating_add(SLICE - 1)));
                // The message before the first new one has a successor now.
                let from = Seq(note.from.0.saturating_sub(1).max(1));
                let (forgotten, documents) = self.read_messages(index, &note.scope, session, from, upto).await?;
                let gone = note.gone.then(|| Deletion::Session(session.clone()));
                Ok((upto, gone.into_iter().chain([forgotten]).collect(), documents))
            }
            Target::Record(id) => {
                let stored = if note.gone { None } else { self.records.store().get(&note.scope, &[*id]).await?.pop() };
                let Some(stored) = stored else {
                    return Ok((note.upto, vec![Deletion::Items(vec![ItemId::Record(*id)])], Vec::new()));
                };
                Ok((note.upto, Vec::new(), vec![self.document_of(&stored, note.epoch)]))
            }
            Target::Owner => {
                self.go_on_erasing(index, note).await?;
                Ok((note.upto, Vec::new(), Vec::new()))
            }
        }
    }

    /// Reads the messages `from..=upto` with those around them, whose words they borrow. Returns which of them are
    /// forgotten, and the documents of the others.
    async fn read_messages(
        &self,
        index: &IndexName,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        upto: Seq,
    ) -> Result<(Deletion, Vec<Document>)> {
        let before = from.0.saturating_sub(2);
        let rows = usize::try_from(upto.0 + 1 - before).unwrap_or(usize::MAX);
        let slice = self.chat.store().read(scope, session, &Page::after(Seq(before), rows, View::Log)).await?;
        let range = SeqRange { first: from, last: upto };
        // Texts are copied only for the index that embeds them.
        let embeds = self.vectors.as_ref().is_some_and(|vectors| vectors.name == *index);
        let embedded = slice.messages.iter().filter(|row| embeds && range.contains(row.seq));
        let pieces = |message: &Arc<Message>| message_pieces(message, PIECE_WORDS);
        let mut pieces: HashMap<ItemId, Vec<String>> =
            embedded.filter_map(|row| Some((ItemId::Message(row.id), pieces(row.message.as_ref()?)))).collect();
        let Changes { puts, deletions } = message_entries(&self.analysis, &slice.messages, &slice.state, range);
        let documents = puts.into_iter().map(|entry| {
            let pieces = pieces.remove(&entry.item).unwrap_or_default();
            Document { entry, pieces }
        });
        Ok((Deletion::Items(deletions), documents.collect()))
    }

    /// Puts documents of one owner into one index: deletions first, then all entries in one batch. Findable after
    /// the next flush.
    pub(super) async fn carry_out(
        &self,
        index: &IndexName,
        scope: &Scope,
        works: &mut [Work],
    ) -> Result<Vec<Rejected>> {
        for deletion in works.iter().flat_map(|work| &work.deletions) {
            self.delete_from(index, scope, deletion).await?;
        }
        let documents: Vec<Document> = works.iter_mut().flat_map(|work| work.documents.drain(..)).collect();
        self.put(index, scope, documents).await
    }

    async fn put(&self, index: &IndexName, scope: &Scope, documents: Vec<Document>) -> Result<Vec<Rejected>> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(text) = self.text.as_ref().filter(|text| text.name == *index) {
            let entries: Vec<TextEntry> = documents.into_iter().map(|document| document.entry).collect();
            return text.store.put(scope, &entries, Visibility::AfterFlush).await;
        }
        let Some(vectors) = self.vectors.as_ref().filter(|vectors| vectors.name == *index) else {
            return Ok(Vec::new());
        };
        let (entries, mut rejected) = embed_all(vectors, documents).await?;
        rejected.extend(vectors.store.put(scope, &entries, Visibility::AfterFlush).await?);
        Ok(rejected)
    }

    /// Puts some messages of a session into every index again, findable on return.
    pub(super) async fn index_again(&self, scope: &Scope, session: &SessionId, from: Seq, upto: Seq) -> Result<()> {
        for index in self.index_names() {
            let (forgotten, documents) = self.read_messages(&index, scope, session, from, upto).await?;
            self.delete_from(&index, scope, &forgotten).await?;
            self.put(&index, scope, documents).await?;
            self.flush(&index).await?;
        }
        Ok(())
    }

    /// Puts a record into every index again, findable on return.
    pub(super) async fn index_record_again(&self, scope: &Scope, stored: &StoredRecord) -> Result<()> {
        let epoch = self.records.upkeep().epoch(scope).await?;
        for index in self.index_names() {
            self.put(&index, scope, vec![self.document_of(stored, epoch)]).await?;
            self.flush(&index).await?;
        }
        Ok(())
    }

    fn document_of(&self, stored: &StoredRecord, epoch: Epoch) -> Document {
        let entry = record_entry(&self.analysis, stored, epoch);
        Document { entry, pieces: record_pieces(&stored.record, PIECE_WORDS) }
    }

    /// Makes everything put into an index findable.
    pub(super) async fn flush(&self, index: &IndexName) -> Result<()> {
        if let Some(text) = self.text.as_ref().filter(|text| text.name == *index) {
            text.store.flush().await?;
        }
        if let Some(vectors) = self.vectors.as_ref().filter(|vectors| vectors.name == *index) {
            vectors.store.flush().await?;
        }
        Ok(())
    }

    /// Goes on with an erasure that was cut short: truth first, then this index.
    async fn go_on_erasing(&self, index: &IndexName, note: &Note) -> Result<()> {
        let mut stores = self.stores();
        let this = |part: &str| match part {
            "text" => self.text.as_ref().is_some_and(|text| text.name == *index),
            "vectors" => self.vectors.as_ref().is_some_and(|vectors| vectors.name == *index),
            _ => true,
        };
        stores.retain(|(part, _)| this(part));
        for (_, store) in stores {
            let erased = store.erase(&note.scope, note.epoch).await?;
            if erased.remaining > 0 {
                let what = format!("erase the {} items that remain", erased.remaining);
                return Err(Error::Unsupported { backend: store.backend(), what });
            }
        }
        Ok(())
    }

    async fn delete_from(&self, index: &IndexName, scope: &Scope, what: &Deletion) -> Result<()> {
        if matches!(what, Deletion::Items(items) if items.is_empty()) {
            return Ok(());
        }
        if let Some(text) = self.text.as_ref().filter(|text| text.name == *index) {
            text.store.delete(scope, what).await?;
        }
        if let Some(vectors) = self.vectors.as_ref().filter(|vectors| vectors.name == *index) {
            vectors.store.delete(scope, what).await?;
        }
        Ok(())
    }
}

/// Embeds all documents in one batch. If the embedder refuses that for good, it gets them one by one, and those that it
/// refuses are set apart; if it refuses every one, the fault is its own.
async fn embed_all(index: &VectorIndex, documents: Vec<Document>) -> Result<(Vec<VectorEntry>, Vec<Rejected>)> {
    let error = match embed(index, &documents).await {
        Ok(entries) => return Ok((entries, Vec::new())),
        Err(error) if error.is_retryable() => return Err(error),
        Err(error) => error,
    };
    let (mut entries, mut rejected) = (Vec::new(), Vec::new());
    for document in documents.chunks(1) {
        match embed(index, document).await {
            Ok(mut entry) => entries.append(&mut entry),
            Err(error) if error.is_retryable() => return Err(error),
            Err(error) => {
                let items = document.iter().map(|document| document.entry.item.clone());
                rejected.extend(items.map(|item| Rejected { item, error: error.clone() }));
            }
        }
    }
    if entries.is_empty() { Err(error) } else { Ok((entries, rejected)) }
}

/// Embeds the pieces of the documents in one batch. Documents without words have no entry.
async fn embed(index: &VectorIndex, documents: &[Document]) -> Result<Vec<VectorEntry>> {
    let texts: Vec<&str> = documents.iter().flat_map(|document| document.pieces.iter().map(String::as_str)).collect();
    let count = texts.len();
    let vectors = if count == 0 { Vec::new() } else { index.embedder.embed(&texts, Purpose::Document).await? };
    if vectors.len() != count {
        return Err(Error::invalid("the embedder gave another number of vectors than texts"));
    }
    let mut vectors = vectors.into_iter();
    let entries = documents.iter().filter_map(|Document { entry, pieces }| {
        let pieces: Vec<Vec<f32>> = vectors.by_ref().take(pieces.len()).collect();
        let TextEntry { item, version, fields, .. } = entry.clone();
        (!pieces.is_empty()).then_some(VectorEntry { item, version, pieces, fields })
    });
    Ok(entries.collect())
}
