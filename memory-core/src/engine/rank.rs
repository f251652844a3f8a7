//! From the answers of the indexes to one order.

use std::collections::HashSet;

use crate::fields::Fields;
use crate::id::ItemId;
use crate::index::searched_text;
use crate::message::StoredMessage;
use crate::rank::{Bm25, Candidate as Found, Contribution, Leg, LegKind, RoleWeights, bm25f};
use crate::text::{Term, TextHit, TextHits};
use crate::vector::VectorHit;

use super::memory::Inner;
use super::receipt::{SearchReceipt, Signals};
use super::search::{Legs, Search};

/// An item that may be an answer, with what speaks for it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) item: ItemId,
    pub(super) signals: Signals,
}

impl SearchReceipt {
    /// Writes down what the indexes answered, and returns the candidates of all of them, best first.
    ///
    /// `fresh` are messages read from truth that the text index may not have yet: they are scored here.
    pub(super) fn rank(
        &mut self,
        search: &Search,
        legs: Legs,
        fresh: &[&StoredMessage],
        inner: &Inner,
    ) -> Vec<Candidate> {
        let Legs { terms, mut text, vector, degraded } = legs;
        self.terms = terms.iter().map(|term| term.as_str().to_owned()).collect();
        (self.text_candidates, self.vector_candidates) = (text.hits.len(), vector.len());
        self.degraded = degraded;
        add_fresh(&mut text, &terms, fresh, search, inner);
        let legs = [(LegKind::Text, text_leg(&text)), (LegKind::Vector, vector_leg(&vector))];
        let fused = search.ranking.rank(&legs, inner.clock.now());
        let candidate = |fused: crate::rank::Fused| {
            let of = |leg: usize| fused.legs.get(leg).copied().unwrap_or_default();
            Candidate { item: fused.item.clone(), signals: signals(fused.score, of(0), of(1)) }
        };
        fused.into_iter().map(candidate).collect()
    }
}

fn signals(score: f32, text: Contribution, vector: Contribution) -> Signals {
    Signals { score, text: text.score, text_rank: text.rank, cosine: vector.score, vector_rank: vector.rank }
}

fn text_leg(text: &TextHits) -> Leg {
    let roles = RoleWeights::default();
    let scores = bm25f(&Bm25::default(), text);
    let found = text.hits.iter().zip(scores).map(|(hit, score)| Found {
        item: hit.item.clone(),
        at: hit.fields.at,
        score: score * roles.of(hit.fields.role),
        importance: 0.0,
    });
    Leg { candidates: found.collect(), floor: 0.0, partition: text.documents, weight: 1.0 }
}

fn vector_leg(hits: &[VectorHit]) -> Leg {
    let found = hits.iter().map(|hit| Found {
        item: hit.item.clone(),
        at: hit.fields.at,
        score: hit.similarity.value(),
        importance: 0.0,
    });
    let floor = hits.iter().map(|hit| hit.similarity.value()).fold(1.0, f32::min);
    Leg { candidates: found.collect(), floor, partition: hits.len() as u64, weight: 1.0 }
}

/// Adds the evidence of messages that hold a term of the query and are not among the hits.
fn add_fresh(text: &mut TextHits, terms: &[Term], fresh: &[&StoredMessage], search: &Search, inner: &Inner) {
    let known: HashSet<ItemId> = text.hits.iter().map(|hit| hit.item.clone()).collect();
    for row in fresh {
        let item = ItemId::Message(row.id);
        let Some(message) = row.message.as_ref().filter(|_| !known.contains(&item) && row.covers.is_none()) else {
            continue;
        };
        let fields = Fields::of_message(row, message);
        let counts = inner.analysis.document(&searched_text(message));
        let count = |term: &Term| counts.iter().find(|(own, _)| own == term).map_or(0, |(_, count)| *count);
        let own: Vec<u32> = terms.iter().map(count).collect();
        if own.iter().all(|count| *count == 0) || !search.filter.matches(&fields) {
            continue;
        }
        let length = counts.iter().map(|(_, count)| count).sum();
        text.hits.push(TextHit { item, near: vec![0.0; own.len()], own, length, fields });
        text.documents = text.documents.max(1);
    }
}
