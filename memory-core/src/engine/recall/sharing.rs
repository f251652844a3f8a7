//! Asking several owners at once: the one who asks, and those who share with them, each named by their whole scope.
//!
//! Each owner is asked as their own search would: by their scope, under their epoch, with what their process wrote of late. What
//! they answer is ranked together, and read from truth under the scope that it came from.

use std::collections::BTreeMap;

use foldhash::HashSet;
use futures_util::future::join_all;

use crate::engine::handle::Scoped;
use crate::engine::hit::Hit;
use crate::engine::inner::Inner;
use crate::engine::receipt::SearchReceipt;
use crate::error::Error;
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, RecordId, SessionId};
use crate::scope::Scope;
use crate::store::text::TextHits;

use super::asking::Asking;
use super::block::is_in;
use super::each::OfEach;
use super::floor::Turn;
use super::hydrate::Hydrated;
use super::legs::{Asked, Legs, pool};
use super::question::Search;
use super::rank::Candidate;
use super::stages::{Stages, longest};

impl Inner {
    /// Asks all indexes for what the owner has, and for what others share, at the same time. What the owner wrote to the session
    /// `but` is left out: the caller reads it itself. With the error of an embedder that did not answer for the question just before,
    /// it is asked by a vector only if this process has that.
    pub(crate) async fn find(
        &self,
        scope: &Scope,
        search: &Search,
        filter: &Filter,
        but: Option<&SessionId>,
        unembedded: Option<&Error>,
    ) -> (OfEach<Legs>, OfEach<Hydrated>) {
        let stages = Stages::default();
        let terms = self.terms(scope, search, &stages).await;
        let asking = Asking::new(scope, search, filter, terms, unembedded);
        let others = search.sharing.iter().map(|owner| Box::pin(self.ask_indexes(owner, &asking, None)));
        let ((legs, read), others) = tokio::join!(Box::pin(self.ask_indexes(scope, &asking, but)), join_all(others));
        let (mut legs, mut read) = (OfEach::of(legs), OfEach::of(read));
        for (owner, (theirs, known)) in search.sharing.iter().zip(others) {
            legs.shared.push((owner.clone(), theirs));
            read.shared.push((owner.clone(), known));
        }
        longest(&mut legs.own.took, stages.took());
        legs.level();
        (legs, read)
    }

    /// Reads those candidates from truth that `known` does not hold yet, those of all owners at the same time.
    pub(crate) async fn hydrate_each<'a>(
        &self,
        scope: &Scope,
        candidates: impl Iterator<Item = &'a Candidate>,
        filter: &Filter,
        known: &mut OfEach<Hydrated>,
    ) {
        let OfEach { own, shared } = known;
        if shared.is_empty() {
            return self.hydrate(scope, candidates.map(Candidate::item), filter, own).await;
        }
        let candidates: Vec<&Candidate> = candidates.collect();
        let mut reads = vec![Box::pin(self.hydrate_of(scope, None, &candidates, filter, own))];
        for (owner, theirs) in shared {
            let owner: &Scope = owner;
            reads.push(Box::pin(self.hydrate_of(owner, Some(owner), &candidates, filter, theirs)));
        }
        join_all(reads).await;
    }

    /// Reads those of the candidates that this owner shares, or that are the own of whoever asks.
    async fn hydrate_of(
        &self,
        scope: &Scope,
        shared_by: Option<&Scope>,
        candidates: &[&Candidate],
        filter: &Filter,
        known: &mut Hydrated,
    ) {
        let of_owner = candidates.iter().copied().filter(|found| found.shared_by.as_ref() == shared_by);
        let items: Vec<&ItemId> = of_owner.map(Candidate::item).collect();
        self.hydrate(scope, items.into_iter(), filter, known).await;
    }
}

impl Scoped {
    /// Notes the records among hits as accessed, each for the owner whose it is. Upkeep writes that down.
    pub(super) fn note_recalled<'a>(&self, hits: impl Iterator<Item = &'a Hit>) {
        let (mut own, mut shared): (Vec<RecordId>, BTreeMap<&Scope, Vec<RecordId>>) = (Vec::new(), BTreeMap::new());
        for (owner, record) in hits.filter_map(|hit| Some((hit.shared_by.as_ref(), hit.item.as_record()?))) {
            match owner {
                None => own.push(record),
                Some(owner) => shared.entry(owner).or_default().push(record),
            }
        }
        self.note_access(own);
        for (owner, records) in shared {
            self.inner().note_access(owner, records);
        }
    }
}

impl OfEach<Legs> {
    /// Returns what the indexes answered, for a receipt.
    pub(super) fn receipt(&self) -> SearchReceipt {
        let mut receipt = self.own.receipt();
        self.shared.iter().for_each(|(owner, theirs)| receipt.share(owner, theirs.receipt()));
        receipt
    }

    /// Returns the share of the turn's informative terms that the best hit of all beside the messages of the `window` holds, 0 to 1.
    pub(super) fn relevance(&self, turn: &Turn, window: &HashSet<MessageId>) -> f32 {
        let of = |(owner, legs): (Option<&Scope>, &Legs)| legs.relevance(turn, &|item| is_in(window, (owner, item)));
        self.iter().map(of).fold(0.0, f32::max)
    }

    /// Returns whether something found beside the messages of the `window` is worth its tokens.
    pub(super) fn is_relevant(&self, turn: &Turn, relevance: f32, window: &HashSet<MessageId>) -> bool {
        self.iter().any(|(owner, legs)| legs.is_relevant(turn, relevance, &|item| is_in(window, (owner, item))))
    }

    /// Scores what all owners have by the same rule: counts their texts as one collection, else a word would weigh less the fewer
    /// texts its owner has, and reads one person and one matter from the question, whoever has the hits that tell of them.
    fn level(&mut self) {
        if self.shared.is_empty() {
            return;
        }
        let asked = self.asked();
        self.iter_mut().for_each(|legs| legs.asked.clone_from(&asked));
        let terms = self.own.terms.len();
        level(terms, self.iter_mut().map(|legs| &mut legs.text).collect());
        level(terms, self.iter_mut().map(|legs| &mut legs.spans).collect());
    }

    /// Returns whom and what the question is about, by the hits of all owners.
    fn asked(&self) -> Asked {
        let mut named = self.iter().filter_map(|(_, legs)| legs.asked.speaker.as_ref());
        let first = named.next();
        // A question that names two names none.
        let speaker = first.filter(|first| named.all(|other| other == *first)).cloned();
        // Where the messages of one owner have speakers, "you" may be any of these.
        let the_model = self.iter().all(|(_, legs)| legs.asked.the_model);
        Asked { speaker, the_model, ..self.own.asked.clone() }
    }
}

/// Gives each of the answers the statistics of all of them together.
fn level(terms: usize, answers: Vec<&mut TextHits>) {
    let all = answers.iter().map(|answer| statistics(answer));
    let all = all.fold(TextHits::default(), |one, other| pool(terms, one, other));
    for answer in answers {
        (answer.documents, answer.mean_length) = (all.documents, all.mean_length);
        answer.containing.clone_from(&all.containing);
    }
}

/// Returns an answer without its hits.
fn statistics(answer: &TextHits) -> TextHits {
    TextHits { containing: answer.containing.clone(), hits: Vec::new(), ..*answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::text::Term;

    #[test]
    fn a_word_weighs_the_same_whoever_holds_it() {
        let answer = |documents: u64, mean_length: f32, containing: [u64; 2]| {
            let text = TextHits { documents, mean_length, containing: containing.into(), hits: Vec::new() };
            Legs { terms: ["kiln", "glaze"].map(|term| Term::new(term).unwrap()).into(), text, ..Legs::default() }
        };
        let team = Scope::new("acme", "team").unwrap();
        let mut legs = OfEach { own: answer(90, 10.0, [9, 1]), shared: vec![(team, answer(10, 20.0, [1, 0]))] };
        legs.level();
        for (_, Legs { text, .. }) in legs.iter() {
            assert_eq!((text.documents, text.mean_length, text.containing.as_slice()), (100, 11.0, [10, 1].as_slice()));
        }
        let mut alone = OfEach::of(answer(90, 10.0, [9, 1]));
        alone.level();
        assert_eq!(alone.own.text.documents, 90);
    }

    #[test]
    fn whom_the_question_names_counts_with_all_owners() {
        let answer = |speaker: Option<&str>, the_model| Legs {
            asked: Asked { speaker: speaker.map(str::to_owned), the_model, ..Asked::default() },
            ..Legs::default()
        };
        let [team, handbook] = ["team", "handbook"].map(|subject| Scope::new("acme", subject).unwrap());
        let rules = |own: Legs, theirs: [Legs; 2]| {
            let mut legs = OfEach { own, shared: [team.clone(), handbook.clone()].into_iter().zip(theirs).collect() };
            legs.level();
            let rules = legs.iter().map(|(_, legs)| (legs.asked.speaker.clone(), legs.asked.the_model));
            (rules.collect::<Vec<_>>(), legs.receipt().speaker)
        };
        let bea = Some("Bea".to_owned());
        let theirs = [answer(Some("Bea"), false), answer(None, true)];
        assert_eq!(rules(answer(None, true), theirs.clone()), (vec![(bea.clone(), false); 3], bea.clone()));
        assert_eq!(rules(answer(Some("Bea"), true), theirs.clone()), (vec![(bea.clone(), false); 3], bea));
        assert_eq!(rules(answer(Some("Ada"), false), theirs), (vec![(None, false); 3], None));
        let none = [answer(None, true), answer(None, true)];
        assert_eq!(rules(answer(None, true), none), (vec![(None, true); 3], None));
    }
}
