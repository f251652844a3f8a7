//! Notes among the candidates: they are in no index, so their evidence is added to what the indexes found.

use crate::engine::handle::Scoped;
use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::engine::receipt::{Degraded, Stage};
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{ItemId, SessionId, Unit};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::working::{FoundNotes, NoteQuery, Notes};

use super::asking::Asking;
use super::hydrate::{Derived, Hydrated};
use super::legs::{Legs, pool};
use super::question::Search;

impl Inner {
    /// Asks all indexes for what one owner has, and adds what this process wrote or noted, which is in none of them. What was
    /// written to the session `but` is left out: the caller reads it itself.
    pub(super) async fn ask_indexes(
        &self,
        scope: &Scope,
        asking: &Asking<'_>,
        but: Option<&SessionId>,
    ) -> (Legs, Hydrated) {
        let stored = self.find_stored(scope, asking, but);
        let ((mut legs, mut read), notes) = tokio::join!(stored, self.notes(scope, asking.search));
        match notes {
            Ok(None) => {}
            Ok(Some(notes)) => legs.add_notes(&notes, asking.filter, &mut read),
            Err(error) => legs.degraded.push(Degraded::new(Stage::Working, &error)),
        }
        (legs, read)
    }

    /// Returns the owner's notes, if there are any and the search is for records. Truth says whether they are still the owner's.
    pub(super) async fn notes(&self, scope: &Scope, search: &Search) -> Result<Option<Notes>> {
        if !search.searches(Unit::Record) || !self.working.has(scope) {
            return Ok(None);
        }
        let epoch = self.in_time("read an epoch", self.chat.upkeep().epoch(scope)).await?;
        Ok(Some(self.working.notes(scope, epoch)))
    }

    /// Returns the notes of which a source is gone, in whichever process it was forgotten, and drops them.
    pub(super) async fn fallen(&self, scope: &Scope, derived: &[Derived]) -> Result<Vec<ItemId>> {
        if derived.is_empty() {
            return Ok(Vec::new());
        }
        let sources: Vec<ItemId> = derived.iter().flat_map(|(_, sources)| sources).cloned().collect();
        let gone = self.in_time("read the sources of notes", self.gone(scope, &sources)).await?;
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        self.working.forget(scope, &gone.iter().collect());
        let falls = |sources: &[ItemId]| sources.iter().any(|source| gone.contains(source));
        Ok(derived.iter().filter(|(_, sources)| falls(sources)).map(|(note, _)| note.clone()).collect())
    }
}

impl Scoped {
    /// Returns the newest notes that match, newest first.
    pub(super) async fn newest_notes(&self, search: &Search, filter: &Filter) -> Result<Vec<StoredRecord>> {
        let inner = self.inner();
        let Some(notes) = inner.notes(self.scope(), search).await? else { return Ok(Vec::new()) };
        let mut newest = notes.newest(filter, search.limit);
        let derived: Vec<Derived> = newest.iter().filter_map(derivation).collect();
        let fallen = inner.fallen(self.scope(), &derived).await?;
        newest.retain(|note| !fallen.contains(&ItemId::Record(note.record.id)));
        Ok(newest)
    }
}

/// Returns a note with its sources, if it has any.
fn derivation(note: &StoredRecord) -> Option<Derived> {
    let sources: Vec<ItemId> = note.record.sources().into_iter().cloned().collect();
    (!sources.is_empty()).then(|| (ItemId::Record(note.record.id), sources))
}

impl Legs {
    /// Adds the notes among `notes` that hold a term of the question, or are near it.
    fn add_notes(&mut self, notes: &Notes, filter: &Filter, read: &mut Hydrated) {
        let query = NoteQuery { terms: &self.terms, vector: self.sought.as_deref(), filter, limit: self.limit };
        let decay = notes.decay;
        let FoundNotes { text, near, notes } = notes.find(&query);
        self.text = pool(self.terms.len(), std::mem::take(&mut self.text), text);
        self.vector.extend(near);
        for note in notes {
            self.notes.insert(ItemId::Record(note.record.id), decay);
            read.unproven.extend(derivation(&note));
            read.add(Content::Record(note), filter);
        }
    }
}
