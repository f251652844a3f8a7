//! Notes: what an agent keeps for a while without writing it down, such as what a tool answered.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId};
use crate::index::{PIECE_WORDS, passages, record_terms};
use crate::message::Trust;
use crate::record::Record;
use crate::store::Durability;
use crate::vector::Direction;
use crate::working::{NewNote, Placed};

use super::event::Event;
use super::handle::Scoped;
use super::receipt::{Degraded, Stage};

/// How often a note is tried again because something was forgotten meanwhile.
const ATTEMPTS: usize = 1_000;

/// Something to note. Everything but the text and where it comes from has a default.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::engine::WorkingNote;
/// use memory_core::{ItemId, MessageId};
///
/// let call = ItemId::Message(MessageId::fresh());
/// let answer = WorkingNote::new("3 trains to Porto: 8:15, 9:45, 11:15", "timetable")
///     .with_source(call) // forgotten with the message
///     .with_ttl(Duration::from_secs(600));
/// ```
#[derive(Clone, Debug)]
pub struct WorkingNote {
    text: String,
    from: String,
    trust: Trust,
    sources: Vec<ItemId>,
    ttl: Option<Duration>,
}

impl WorkingNote {
    /// The kind of the records that notes are, as hits and filters show it.
    pub const KIND: &str = "note";

    /// Notes `text`, which comes from a tool, a page or a person: `from` says which, in 1 to 255 bytes.
    pub fn new(text: impl Into<String>, from: impl Into<String>) -> Self {
        Self { text: text.into(), from: from.into(), trust: Trust::Tool, sources: Vec::new(), ttl: None }
    }

    /// Sets how far it may be believed. Default [`Trust::Tool`].
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Adds a message or record that it was derived from. The note falls when that is forgotten, or has expired and is deleted.
    #[must_use]
    pub fn with_source(mut self, source: ItemId) -> Self {
        self.sources.push(source);
        self
    }

    /// Sets how long it is kept at the most. Default until it makes room for others.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

/// The receipt of a note.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoteReceipt {
    /// Its id, by which it is forgotten ([`Forget::Records`](super::Forget::Records)). The same text from the same place has the
    /// same.
    pub id: RecordId,
    /// Whether it is new. A note that is repeated takes the place of the first, as the newest.
    pub is_new: bool,
    /// How durably it is kept: [`Durability::Volatile`], until the process ends.
    pub durability: Durability,
    /// Whether it is found by its meaning. A text that the model knows nothing of is not.
    pub is_embedded: bool,
    /// How many older notes of the same owner made room for it.
    pub evicted: usize,
    /// Why it is found by its words alone, although the memory has an embedder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

impl Scoped {
    /// Notes something in the working tier of this process: nothing of it is written down, and other processes do not see it.
    ///
    /// Searches and contexts find it at once, by its words and, with an embedder, by its meaning, as a record of kind [`WorkingNote::KIND`] whose
    /// origin is where it comes from. It stays until it expires, is forgotten, or makes room: the notes of all owners together
    /// have 64 MiB unless [`MemoryBuilder::working`](super::MemoryBuilder::working) says otherwise, and the oldest go first. Where
    /// recency ranks, a note loses half of it in a day. Idempotent.
    ///
    /// # Errors
    /// `Invalid` for a blank text, one longer than [`Limits::note_bytes`](crate::Limits::note_bytes) or larger than the tier, a time
    /// to live of zero, or a source that is not stored or was forgotten; `Fenced` if the owner was erased since this handle was
    /// first used.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::WorkingNote;
    ///
    /// ada.note(WorkingNote::new("3 trains to Porto: 8:15, 9:45, 11:15", "timetable")).await?;
    /// let context = ada.session(&memory_core::SessionId::new("trip")?).context("When is a train to Porto?", 4_000).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "add_working")]
    #[doc(alias = "WorkingMemory")]
    #[tracing::instrument(name = "note", level = "debug", skip_all)]
    pub async fn note(&self, note: WorkingNote) -> Result<NoteReceipt> {
        let inner = self.inner();
        let record = Arc::new(self.record_of(note)?);
        let (pieces, degraded) = self.pieces_of(&record).await;
        let is_embedded = !pieces.is_empty();
        let terms = record_terms(&inner.analysis, &record);
        for _ in 0..ATTEMPTS {
            let forgotten = inner.working.forgotten();
            let (epoch, ()) = tokio::try_join!(self.present_epoch(), self.check_sources(&record.first.sources))?;
            let (record, terms, pieces) = (Arc::clone(&record), terms.clone(), pieces.clone());
            let (id, new) = (record.id, NewNote { record, epoch, terms, pieces });
            let Some(placed) = inner.working.put(self.scope(), new, forgotten, inner.clock.now())? else { continue };
            let Placed { is_new, evicted } = placed;
            for (owner, entries) in &evicted {
                inner.tell(Some(owner), &Event::Evicted { entries: *entries });
            }
            // What others lost is not the caller's to know.
            let evicted = evicted.get(self.scope()).copied().unwrap_or(0);
            let durability = Durability::Volatile;
            return Ok(NoteReceipt { id, is_new, durability, is_embedded, evicted, degraded });
        }
        Err(Error::Conflict)
    }

    /// Returns the record that a note is.
    fn record_of(&self, note: WorkingNote) -> Result<Record> {
        let WorkingNote { text, from, trust, sources, ttl } = note;
        let inner = self.inner();
        inner.limits.check_note(&text, &from)?;
        let now = inner.clock.now();
        let mut record = Record::new(WorkingNote::KIND, text, now);
        let parts =
            [WorkingNote::KIND, from.as_str(), record.text.as_str()].map(|part| format!("{}:{part}", part.len()));
        record.id = RecordId::of_content(parts.concat().as_bytes());
        record.first.trust = trust;
        record.first.origin = Some(from);
        record.first.sources = sources;
        if let Some(ttl) = ttl {
            if ttl.is_zero() {
                return Err(Error::invalid("a time to live must be longer than zero"));
            }
            record.first.expires_at = Some(now.checked_add(ttl)?);
        }
        inner.limits.check_record(&record)?;
        Ok(record)
    }

    /// Returns the directions of the pieces of a note, if there is an embedder and it answers.
    async fn pieces_of(&self, record: &Record) -> (Vec<Direction>, Vec<Degraded>) {
        let Some(index) = self.inner().vectors() else { return (Vec::new(), Vec::new()) };
        let texts: Vec<&str> = passages(&record.text, PIECE_WORDS).collect();
        let embedded = self.inner().in_time("embed a note", index.embed_texts(self.scope(), &texts)).await;
        let directions = embedded.and_then(|vectors| {
            let vectors = vectors.into_iter().filter(|vector| !vector.is_empty());
            let space = index.embedder.space();
            vectors.map(|vector| space.check_vector(&vector).map(|()| Direction::of(&vector))).collect()
        });
        match directions {
            Ok(found) => {
                let found: Vec<Option<Direction>> = found;
                (found.into_iter().flatten().collect(), Vec::new())
            }
            Err(error) => (Vec::new(), vec![Degraded::new(Stage::Embed, &error)]),
        }
    }
}
