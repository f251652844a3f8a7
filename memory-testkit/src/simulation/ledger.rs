//! A record of all operations and answers. From it follows what must be stored at the end, and what must not.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_core::engine::Forget;
use memory_core::{ItemId, MessageId, RecordId, SessionId};

use super::act::{Act, Answer, Operation};

/// The time of a call, and whether it was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    begun: u64,
    /// When it was answered, or its process killed.
    ended: Option<u64>,
    is_acknowledged: bool,
}

/// An item that was written. Its word occurs only in itself and in what is derived from it.
#[derive(Clone, Debug)]
pub(crate) struct WrittenItem {
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

impl WrittenItem {
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
    fn names(&self, item: &WrittenItem) -> bool {
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

/// Whether truth must hold an item at the end.
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
    items: Vec<WrittenItem>,
    oblivions: Vec<Oblivion>,
}

impl Book {
    fn begin(&mut self) -> Span {
        self.moment += 1;
        Span { begun: self.moment, ended: None, is_acknowledged: false }
    }
}

/// What a call has begun, by its place in the ledger.
#[derive(Clone, Debug)]
pub(crate) enum LedgerEntry {
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

    /// Notes that an operation begins. `is_held` tells whether truth holds an item now; a forget asks it.
    pub(crate) fn begin(&self, act: &Act, is_held: impl Fn(&ItemId) -> bool) -> LedgerEntry {
        let Act { by, owner, what } = act;
        let write = |word: &String, id, session, sources| self.write(*by, *owner, word.clone(), id, session, sources);
        match what {
            Operation::Say { session, messages, .. } => {
                let message =
                    |(word, id): &(String, _)| write(word, ItemId::Message(*id), Some(session.clone()), Vec::new());
                LedgerEntry::Items(messages.iter().map(message).collect())
            }
            Operation::Remember { word, sources, .. } => {
                let sources = sources.iter().map(|(place, _)| *place).collect();
                LedgerEntry::Items(vec![write(word, ItemId::Record(Operation::record_of(word)), None, sources)])
            }
            Operation::Forget(what) => LedgerEntry::Oblivion(self.forget(*by, *owner, what.clone(), is_held)),
            Operation::Search(_) | Operation::Context(_) | Operation::Read { .. } => LedgerEntry::Nothing,
        }
    }

    /// Notes the answer.
    pub(crate) fn end(&self, entry: &LedgerEntry, answer: &Answer) {
        match entry {
            LedgerEntry::Items(places) => {
                for (at, place) in places.iter().enumerate() {
                    self.wrote(*place, answer.kept.get(at).copied().unwrap_or(false));
                }
            }
            LedgerEntry::Oblivion(place) => self.forgot(*place, answer.is_done),
            LedgerEntry::Nothing => {}
        }
    }

    /// Notes that the writer `by` begins to write an item; returns its place.
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
        book.items.push(WrittenItem { owner, word, id, session, sources, span, seen: None, by });
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

    /// Notes that the writer `by` begins to forget something of an owner; returns its place.
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

    /// Notes that the writer `by` was killed: the outcome of its calls is unknown.
    pub(crate) fn killed(&self, by: usize) {
        let mut book = self.book();
        book.moment += 1;
        let ended = Some(book.moment);
        let Book { items, oblivions, .. } = &mut *book;
        let items = items.iter_mut().filter(|item| item.by == by).map(|item| &mut item.span);
        let oblivions = oblivions.iter_mut().filter(|oblivion| oblivion.by == by).map(|oblivion| &mut oblivion.span);
        items.chain(oblivions).filter(|span| span.ended.is_none()).for_each(|span| span.ended = ended);
    }

    pub(crate) fn items(&self) -> Vec<WrittenItem> {
        self.book().items.clone()
    }

    /// Returns the verdict on each item, by what is known now.
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

fn own_verdict(book: &Book, item: &WrittenItem) -> Verdict {
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
pub(crate) fn messages<'a>(items: impl IntoIterator<Item = &'a WrittenItem>) -> Vec<MessageId> {
    let id = |item: &WrittenItem| if let ItemId::Message(id) = item.id { Some(id) } else { None };
    items.into_iter().filter_map(id).collect()
}

/// Returns the records among items.
pub(crate) fn records<'a>(items: impl IntoIterator<Item = &'a WrittenItem>) -> Vec<RecordId> {
    let id = |item: &WrittenItem| if let ItemId::Record(id) = item.id { Some(id) } else { None };
    items.into_iter().filter_map(id).collect()
}
