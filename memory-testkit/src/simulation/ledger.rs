//! What was asked for and what was answered: from it follows what must be there in the end, and what must not.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_core::engine::Forget;
use memory_core::{ItemId, MessageId, RecordId, SessionId};

use super::act::{Act, Answer, What};

/// A call of a writer: from when until when, and whether it was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    begun: u64,
    /// When it was answered, or its process killed.
    ended: Option<u64>,
    is_acknowledged: bool,
}

/// Something that was written, known by a word that stands in nothing else but what is derived from it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) owner: usize,
    pub(crate) word: String,
    pub(crate) id: ItemId,
    pub(crate) session: Option<SessionId>,
    /// The items that it was derived from, by their places.
    pub(crate) sources: Vec<usize>,
    span: Span,
    /// When truth was first seen to hold it.
    seen: Option<u64>,
    by: usize,
}

impl Item {
    /// Returns whether truth held it when an oblivion began. A write that failed, or whose process was killed, may still be on
    /// its way to a truth that does not know it yet.
    fn is_before(&self, oblivion: &Oblivion) -> bool {
        let begun = oblivion.span.begun;
        let is_in_truth = self.span.is_acknowledged || self.seen.is_some_and(|seen| seen <= begun);
        is_in_truth && self.span.ended.is_some_and(|ended| ended < begun)
    }
}

#[derive(Clone, Debug)]
struct Oblivion {
    owner: usize,
    what: Forget,
    span: Span,
    by: usize,
}

impl Oblivion {
    fn names(&self, item: &Item) -> bool {
        self.owner == item.owner
            && match (&self.what, &item.id) {
                (Forget::Messages(ids), ItemId::Message(id)) => ids.contains(id),
                (Forget::Records(ids), ItemId::Record(id)) => ids.contains(id),
                (Forget::Session(session), _) => item.session.as_ref() == Some(session),
                (Forget::Everything, _) => true,
                _ => false,
            }
    }
}

/// What must be in truth in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Kept,
    Gone,
    /// Calls about it were under way together, or nobody knows how they ended.
    Either,
}

#[derive(Default)]
struct Book {
    moment: u64,
    items: Vec<Item>,
    oblivions: Vec<Oblivion>,
}

impl Book {
    fn begin(&mut self) -> Span {
        self.moment += 1;
        Span { begun: self.moment, ended: None, is_acknowledged: false }
    }
}

/// What was begun: where it stands in the ledger.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Items(Vec<usize>),
    Oblivion(usize),
    /// Nothing was to be changed.
    Nothing,
}

#[derive(Default)]
pub(crate) struct Ledger(Mutex<Book>);

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writer begins what it chose. For what is forgotten, `is_held` says what truth holds of the owner.
    pub(crate) fn begin(&self, act: &Act, is_held: impl Fn(&ItemId) -> bool) -> Entry {
        let Act { by, owner, what } = act;
        let write = |word: &String, id, session, sources| self.write(*by, *owner, word.clone(), id, session, sources);
        match what {
            What::Say { session, messages, .. } => {
                let message =
                    |(word, id): &(String, _)| write(word, ItemId::Message(*id), Some(session.clone()), Vec::new());
                Entry::Items(messages.iter().map(message).collect())
            }
            What::Remember { word, sources, .. } => {
                let sources = sources.iter().map(|(place, _)| *place).collect();
                Entry::Items(vec![write(word, ItemId::Record(What::record_of(word)), None, sources)])
            }
            What::Forget(what) => Entry::Oblivion(self.forget(*by, *owner, what.clone(), is_held)),
            What::Search(_) | What::Context(_) | What::Read { .. } => Entry::Nothing,
        }
    }

    /// What was begun is answered.
    pub(crate) fn end(&self, entry: &Entry, answer: &Answer) {
        match entry {
            Entry::Items(places) => {
                for (at, place) in places.iter().enumerate() {
                    self.wrote(*place, answer.kept.get(at).copied().unwrap_or(false));
                }
            }
            Entry::Oblivion(place) => self.forgot(*place, answer.is_done),
            Entry::Nothing => {}
        }
    }

    /// The writer `by` begins to write something; returns its place.
    fn write(
        &self,
        by: usize,
        owner: usize,
        word: String,
        id: ItemId,
        session: Option<SessionId>,
        sources: Vec<usize>,
    ) -> usize {
        let mut book = self.book();
        let span = book.begin();
        book.items.push(Item { owner, word, id, session, sources, span, seen: None, by });
        book.items.len() - 1
    }

    fn wrote(&self, place: usize, is_acknowledged: bool) {
        let mut book = self.book();
        book.moment += 1;
        let ended = Some(book.moment);
        if let Some(item) = book.items.get_mut(place) {
            item.span = Span { ended, is_acknowledged, ..item.span };
        }
    }

    /// The writer `by` begins to forget something of an owner of whom truth holds what `is_held` says; returns its place.
    fn forget(&self, by: usize, owner: usize, what: Forget, is_held: impl Fn(&ItemId) -> bool) -> usize {
        let mut book = self.book();
        let span = book.begin();
        for item in book.items.iter_mut().filter(|item| item.owner == owner && is_held(&item.id)) {
            item.seen.get_or_insert(span.begun);
        }
        book.oblivions.push(Oblivion { owner, what, span, by });
        book.oblivions.len() - 1
    }

    fn forgot(&self, place: usize, is_acknowledged: bool) {
        let mut book = self.book();
        book.moment += 1;
        let ended = Some(book.moment);
        if let Some(oblivion) = book.oblivions.get_mut(place) {
            oblivion.span = Span { ended, is_acknowledged, ..oblivion.span };
        }
    }

    /// The writer `by` was killed: nobody hears how its calls ended.
    pub(crate) fn killed(&self, by: usize) {
        let mut book = self.book();
        book.moment += 1;
        let ended = Some(book.moment);
        let Book { items, oblivions, .. } = &mut *book;
        let items = items.iter_mut().filter(|item| item.by == by).map(|item| &mut item.span);
        let oblivions = oblivions.iter_mut().filter(|oblivion| oblivion.by == by).map(|oblivion| &mut oblivion.span);
        items.chain(oblivions).filter(|span| span.ended.is_none()).for_each(|span| span.ended = ended);
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        self.book().items.clone()
    }

    /// Returns what must be in the end of each item, by what is known now.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let book = self.book();
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(book.items.len());
        // Sources stand before what is derived from them.
        for item in &book.items {
            let sources = || item.sources.iter().filter_map(|place| verdicts.get(*place));
            let verdict = if sources().any(|source| *source == Verdict::Gone) {
                Verdict::Gone
            } else if sources().any(|source| *source == Verdict::Either) {
                own_verdict(&book, item).min_kept()
            } else {
                own_verdict(&book, item)
            };
            verdicts.push(verdict);
        }
        verdicts
    }

    /// Returns the items that are gone for sure when the oblivion at `place` has been acknowledged.
    pub(crate) fn taken_by(&self, place: usize) -> BTreeSet<usize> {
        let book = self.book();
        let Some(oblivion) = book.oblivions.get(place) else { return BTreeSet::new() };
        let mut taken = BTreeSet::new();
        for (place, item) in book.items.iter().enumerate().filter(|(_, item)| item.is_before(oblivion)) {
            if oblivion.names(item) || item.sources.iter().any(|source| taken.contains(source)) {
                taken.insert(place);
            }
        }
        taken
    }
}

impl Verdict {
    fn min_kept(self) -> Self {
        if self == Self::Kept { Self::Either } else { self }
    }
}

fn own_verdict(book: &Book, item: &Item) -> Verdict {
    let named = || book.oblivions.iter().filter(|oblivion| oblivion.names(item));
    let is_gone = |oblivion: &Oblivion| oblivion.span.is_acknowledged && item.is_before(oblivion);
    if named().any(is_gone) {
        return Verdict::Gone;
    }
    let is_over = |oblivion: &Oblivion| {
        oblivion.span.is_acknowledged && oblivion.span.ended.is_some_and(|ended| ended < item.span.begun)
    };
    if item.span.is_acknowledged && named().all(is_over) { Verdict::Kept } else { Verdict::Either }
}

/// Returns the messages among items.
pub(crate) fn messages<'a>(items: impl IntoIterator<Item = &'a Item>) -> Vec<MessageId> {
    let id = |item: &Item| if let ItemId::Message(id) = item.id { Some(id) } else { None };
    items.into_iter().filter_map(id).collect()
}

/// Returns the records among items.
pub(crate) fn records<'a>(items: impl IntoIterator<Item = &'a Item>) -> Vec<RecordId> {
    let id = |item: &Item| if let ItemId::Record(id) = item.id { Some(id) } else { None };
    items.into_iter().filter_map(id).collect()
}
