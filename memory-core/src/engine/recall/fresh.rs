//! What truth holds and the index of words, or that of meaning where there is none of words, may not have yet: its evidence is made
//! from its text.

use std::borrow::Cow;

use foldhash::HashSet;

use crate::analysis::{Analysis, Counts, Reader};
use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, SessionId};
use crate::index::searched_text;
use crate::scope::Scope;
use crate::store::text::TextHit;
use crate::time::Timestamp;

use super::asking::Asking;
use super::hydrate::Hydrated;
use super::legs::Legs;

impl Inner {
    /// Asks all indexes, and reads at the same time what this process wrote and they may not have yet. What was written to the
    /// session `but` is left out: the caller reads it itself.
    pub(super) async fn find_stored(
        &self,
        scope: &Scope,
        asking: &Asking<'_>,
        but: Option<&SessionId>,
    ) -> (Legs, Hydrated) {
        let (search, filter) = (asking.search, asking.filter);
        let unindexed = self.completed().map(|index| &index.unindexed);
        let mut written = unindexed.map(|unindexed| unindexed.of(scope, but)).unwrap_or_default();
        let waiting = self.waiting_of(scope, but);
        written.retain(|item| !waiting.contains(item));
        written.extend(waiting);
        written.retain(|item| search.searches(item.unit()));
        let mut read = Hydrated::default();
        // Futures as large as these are boxed: an unoptimised build holds one on the stack at each step up to the caller.
        let legs = Box::pin(self.legs(scope, asking));
        if written.is_empty() {
            return (legs.await, read);
        }
        let (mut legs, ()) = tokio::join!(legs, self.hydrate(scope, written.iter(), filter, &mut read));
        // What could not be read together may be read one by one, as hits of the indexes.
        read.unread.clear();
        // No index is at fault for what truth does not hold.
        let gone: Vec<ItemId> = std::mem::take(&mut read.absent);
        for index in &self.indexes {
            index.unindexed.remove(scope, gone.iter().map(|item| (item.clone(), u64::MAX)));
        }
        // The upkeep of another process may have indexed the others.
        let named = legs.text.hits.iter().map(|hit| (hit.item.clone(), 0));
        if let Some(unindexed) = unindexed {
            unindexed.remove(scope, named);
        }
        legs.add_fresh(read.contents().map(|(_, content)| content), filter, &self.analysis);
        (legs, read)
    }
}

impl Legs {
    /// Adds the items among `fresh` that hold a term of the question. A message that the index named stays as the index has it,
    /// with the words of its neighbours; a record is as truth has it. Returns whether it added any.
    pub(crate) fn add_fresh<'a>(
        &mut self,
        fresh: impl Iterator<Item = &'a Content>,
        filter: &Filter,
        analysis: &Analysis,
    ) -> bool {
        let mut fresh = fresh.peekable();
        if fresh.peek().is_none() {
            return false;
        }
        let mut added = false;
        let Self { terms, text, .. } = self;
        let known: HashSet<MessageId> = text.hits.iter().filter_map(|hit| hit.item.as_message()).collect();
        let mut reader = Reader::new(analysis, "", terms);
        for content in fresh {
            let item = content.item();
            if item.as_message().is_some_and(|id| known.contains(&id)) {
                continue;
            }
            let Some((words, at, fields)) = evidence(content) else { continue };
            text.hits.retain(|hit| hit.item != item);
            let Counts { own, length, .. } = reader.read_dated(&words, at);
            if own.iter().all(|count| *count == 0) || !filter.matches(&fields) {
                continue;
            }
            text.hits.push(TextHit { item, near: vec![0.0; own.len()], own, length, fields });
            text.documents = text.documents.max(1);
            added = true;
        }
        added
    }
}

/// Returns the text of an item and the date by which it is found too, if there is one, and what filters see; none for what is never
/// found: summaries, instructions and what was forgotten.
fn evidence(content: &Content) -> Option<(Cow<'_, str>, Option<Timestamp>, Fields)> {
    match content {
        Content::Message(row) => {
            let message = row.message.as_ref().filter(|message| !message.role.is_instruction())?;
            let evidence = || (searched_text(message).into(), Some(message.at), Fields::of_message(row, message));
            row.covers.is_none().then(evidence)
        }
        Content::Record(stored) => Some((stored.record.text.as_str().into(), None, Fields::of_record(&stored.record))),
    }
}
