//! The plan of a context over all tiers: what is recalled from conversations, records and notes, each up to a number of its own.

use foldhash::{HashMap, HashSet};

use crate::engine::handle::Scoped;
use crate::engine::hit::Content;
use crate::engine::receipt::SearchReceipt;
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, SessionId};
use crate::message::StoredMessage;
use crate::scope::Scope;
use crate::time::{Stopwatch, Timestamp};

use super::block::{is_in, key};
use super::each::OfEach;
use super::floor::Turn;
use super::hydrate::Hydrated;
use super::legs::Legs;
use super::question::Search;
use super::rank::{Candidate, Key, rank};
use super::search::{Taken, Unwanted, irrelevant};

/// How many items of each tier are recalled at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    /// Messages and records.
    pub(super) items: usize,
    /// Notes of the working tier.
    pub(super) notes: usize,
}

/// What is to be recalled.
pub(super) struct Recall {
    pub(super) search: Search,
    pub(super) filter: Filter,
    pub(super) turn: Turn,
    pub(super) quota: Quota,
    pub(super) now: Timestamp,
    pub(super) watch: Stopwatch,
}

/// What the indexes found, and what truth said of it.
pub(super) struct Found<'a> {
    pub(super) recall: &'a Recall,
    pub(super) legs: OfEach<Legs>,
    /// The best of it, which is looked at again.
    pub(super) best: Vec<Candidate>,
    pub(super) read: OfEach<Hydrated>,
}

impl Found<'_> {
    /// Takes over the candidates that the window has read.
    pub(super) fn know(&mut self, rows: &[StoredMessage]) {
        let (found, read): (HashSet<MessageId>, _) = (self.legs.own.messages().collect(), &mut self.read.own);
        for row in rows.iter().filter(|row| found.contains(&row.id)) {
            if read.get(&ItemId::Message(row.id)).is_none() {
                read.add(Content::Message(row.clone()), &self.recall.filter);
            }
        }
    }
}

impl Scoped {
    /// Asks all tiers for what is to be recalled, if anything is. What was written to the session `but` is left out.
    pub(super) async fn ask_tiers<'a>(&self, recall: Option<&'a Recall>, but: Option<&SessionId>) -> Option<Found<'a>> {
        let recall = recall?;
        let (legs, read) = self.inner().find(self.scope(), &recall.search, &recall.filter, but, None).await;
        Some(Found { recall, legs, best: Vec::new(), read })
    }

    /// Reads the best of what was found from truth.
    pub(super) async fn read_best(&self, found: Option<&mut Found<'_>>) {
        // Small talk recalls nothing.
        let Some(Found { recall, legs, best, read }) = found.filter(|found| !found.recall.turn.is_small_talk()) else {
            return;
        };
        *best = legs.best(&recall.search, recall.now);
        self.inner().hydrate_each(self.scope(), best.iter(), &recall.filter, read).await;
    }
}

/// What was chosen to be recalled.
pub(super) struct Chosen {
    /// All that was found, best first.
    pub(super) candidates: Vec<Candidate>,
    pub(super) taken: Taken,
    pub(super) receipt: SearchReceipt,
}

impl Scoped {
    /// Chooses what is recalled beside the messages `shown`: nothing, if nothing found is about what was asked.
    pub(super) async fn choose(&self, found: Found<'_>, shown: &HashSet<MessageId>, unwanted: Unwanted<'_>) -> Chosen {
        let inner = self.inner();
        let Found { recall: Recall { search, filter, turn, quota, .. }, mut legs, best, mut read } = found;
        inner.look_again(search, &mut legs, &best, &read);
        let relevance = legs.relevance(turn, shown);
        let is_relevant = legs.is_relevant(turn, relevance, shown);
        let mut receipt = legs.receipt();
        receipt.relevance = Some(relevance);
        let candidates = if is_relevant {
            inner.arranged(self.scope(), search, filter, &legs, &mut read).await
        } else {
            rank(search, &legs, inner.clock.now())
        };
        let outside: Vec<&Candidate> = candidates.iter().filter(|found| !is_in(shown, found.key())).collect();
        let quota = if is_relevant { *quota } else { Quota { items: 0, notes: 0 } };
        let mut taken = self.take_of_each(&outside, &legs, quota, (filter, unwanted), read, &mut receipt).await;
        if !is_relevant {
            taken.left_out = irrelevant(&outside, search.limit);
        }
        Chosen { candidates, taken, receipt }
    }

    /// Takes the best of each tier, up to its number, in one order.
    async fn take_of_each(
        &self,
        candidates: &[&Candidate],
        legs: &OfEach<Legs>,
        quota: Quota,
        (filter, unwanted): (&Filter, Unwanted<'_>),
        mut read: OfEach<Hydrated>,
        receipt: &mut SearchReceipt,
    ) -> Taken {
        let is_note = |found: &Candidate| {
            let legs = legs.get(found.shared_by.as_ref());
            legs.is_some_and(|legs| legs.notes.contains_key(&found.item))
        };
        let (noted, others): (Vec<&Candidate>, Vec<&Candidate>) = candidates.iter().partition(|found| is_note(found));
        let known = split(&mut read, &noted);
        let mut taken = self.take(&others, quota.items, filter, read, unwanted, receipt).await;
        if noted.is_empty() {
            return taken;
        }
        let more = self.take(&noted, quota.notes, filter, known, unwanted, receipt).await;
        taken.hits.extend(more.hits);
        taken.left_out.extend(more.left_out);
        let places: HashMap<Key<'_>, usize> = candidates.iter().map(|found| found.key()).zip(0..).collect();
        taken.hits.sort_by_key(|hit| places.get(&key(hit)).copied());
        taken
    }
}

/// Takes out what is known of these candidates.
fn split(read: &mut OfEach<Hydrated>, candidates: &[&Candidate]) -> OfEach<Hydrated> {
    let items = |shared_by: Option<&Scope>| -> Vec<&ItemId> {
        candidates.iter().filter(|found| found.shared_by.as_ref() == shared_by).map(|found| &found.item).collect()
    };
    let own = read.own.split(items(None).into_iter());
    let of_owner = |(owner, theirs): &mut (Scope, Hydrated)| {
        let items = items(Some(&*owner));
        (owner.clone(), theirs.split(items.into_iter()))
    };
    OfEach { own, shared: read.shared.iter_mut().map(of_owner).collect() }
}
