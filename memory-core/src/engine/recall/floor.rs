//! The floor of recall: if no hit is about what was said, a context recalls nothing. A search has no floor.

use foldhash::HashSet;

use crate::analysis::Analysis;
use crate::fields::Fields;
use crate::id::ItemId;
use crate::rank::idf;
use crate::store::text::{Term, TextHit};
use crate::store::vectors::VectorHit;

use super::legs::Legs;

/// The share of a turn's informative words that one candidate has to hold, each weighed by its rarity.
const LEAST_SHARE: f32 = 0.1;

/// The cosine from which on a candidate may answer a question whatever its words. Answers in other words than the question's have
/// about as much in the space of the table inside the program and in those of sentence models; most texts on different things have
/// less there.
const LEAST_OF_AN_ANSWER: f32 = 0.2;

/// The cosine from which on a candidate is about any turn.
const LEAST_COSINE: f32 = 0.5;

/// What a turn tells of itself, before anything is found.
pub(crate) struct Turn {
    /// The words that what is recalled may be about.
    informative: Vec<Term>,
    is_question: bool,
}

impl Turn {
    pub(crate) fn of(analysis: &Analysis, words: &str) -> Self {
        Self { informative: analysis.informative(words), is_question: analysis.asks(words) }
    }

    /// Returns whether nothing can be about it.
    pub(crate) fn is_small_talk(&self) -> bool {
        self.informative.is_empty()
    }
}

impl Legs {
    /// Returns the share of the turn's informative terms that the best hit holds, its own or its neighbours', 0 to 1. Hits that are
    /// `shown` do not count: what they tell of a turn is told already.
    pub(crate) fn relevance(&self, turn: &Turn, shown: &dyn Fn(&ItemId) -> bool) -> f32 {
        let informative: HashSet<&Term> = turn.informative.iter().collect();
        let containing = self.text.containing.iter().copied().chain(std::iter::repeat(0));
        let weigh = |(term, containing): (&Term, u64)| {
            if informative.contains(term) { idf(self.text.documents, containing) } else { 0.0 }
        };
        let weights: Vec<f32> = self.terms.iter().zip(containing).map(weigh).collect();
        let held = |hit: &TextHit| {
            let counts = hit.own.iter().zip(&hit.near);
            let held = weights.iter().zip(counts).filter(|(_, (own, near))| **own > 0 || **near > 0.0);
            held.map(|(weight, _)| weight).sum::<f32>()
        };
        let all: f32 = weights.iter().sum();
        let hits = self.text.hits.iter().filter(|hit| !shown(&hit.item));
        if all > 0.0 { hits.map(held).fold(0.0, f32::max) / all } else { 0.0 }
    }

    /// Returns whether something found that is not `shown` is worth its tokens: by its words, by its meaning, or because it was said in
    /// the days that a question asks for and for nothing else. Nothing is for a turn without informative words.
    pub(crate) fn is_relevant(&self, turn: &Turn, relevance: f32, shown: &dyn Fn(&ItemId) -> bool) -> bool {
        let is_of_a_time = turn.is_question && self.asked.is_of_a_time;
        let is_then = |fields: &Fields| is_of_a_time && self.asked.distance(fields.at) == 0;
        // What is shown and nearer than all else answers the question already.
        let of_shown = self.vector.iter().filter(|hit| shown(&hit.item)).map(|hit| hit.similarity.value());
        let of_shown = of_shown.fold(LEAST_OF_AN_ANSWER, f32::max);
        let least = if turn.is_question { of_shown.min(LEAST_COSINE) } else { LEAST_COSINE };
        let is_near = |hit: &VectorHit| hit.similarity.value() >= least || is_then(&hit.fields);
        let is_near = || self.vector.iter().any(|hit| is_near(hit) && !shown(&hit.item));
        let is_told = || self.text.hits.iter().any(|hit| is_then(&hit.fields) && !shown(&hit.item));
        !turn.is_small_talk() && (relevance >= LEAST_SHARE || is_near() || is_told())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recall::legs::Asked;
    use crate::id::{MessageId, Seq, SessionId};
    use crate::store::text::TextHits;
    use crate::time::Timestamp;

    fn legs(own: &[u32], near: &[f32]) -> Legs {
        let terms = ["kiln", "glaze", "hello"].map(|term| Term::new(term).unwrap());
        let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
        let item = ItemId::Message(MessageId::of_content(b"one"));
        let hit = TextHit { item, own: own.into(), near: near.into(), length: 3, fields };
        let text = TextHits { documents: 100, mean_length: 3.0, containing: vec![2, 2, 1], hits: vec![hit] };
        Legs { terms: terms.into(), text, ..Legs::default() }
    }

    #[test]
    fn a_candidate_is_relevant_by_the_informative_words_that_it_holds() {
        let turn =
            Turn { informative: ["kiln", "glaze"].map(|term| Term::new(term).unwrap()).into(), is_question: false };
        let share = |own: [u32; 3], near: [f32; 3]| legs(&own, &near).relevance(&turn, &|_| false);
        assert_eq!(share([1, 1, 0], [0.0; 3]), 1.0);
        assert_eq!(share([3, 0, 0], [0.0; 3]), 0.5);
        assert_eq!(share([0, 0, 0], [0.0, 0.4, 0.0]), 0.5);
        assert_eq!(share([0, 0, 1], [0.0; 3]), 0.0);
        let nothing = |_: &ItemId| false;
        assert!(legs(&[1, 0, 0], &[0.0; 3]).is_relevant(&turn, 0.5, &nothing));
        assert!(!legs(&[1, 0, 0], &[0.0; 3]).is_relevant(&turn, 0.0, &nothing));
        let small_talk = Turn { informative: Vec::new(), is_question: true };
        assert!(!legs(&[0, 0, 1], &[0.0; 3]).is_relevant(&small_talk, 1.0, &nothing));
        // What the window shows is no reason to recall something else.
        let shown = |item: &ItemId| *item == ItemId::Message(MessageId::of_content(b"one"));
        assert_eq!(legs(&[1, 1, 0], &[0.0; 3]).relevance(&turn, &shown), 0.0);
    }

    #[test]
    fn what_was_said_in_the_days_that_a_question_asks_for_is_relevant() {
        let (english, now) = (Analysis::english(), "2025-03-01T12:00:00Z".parse().unwrap());
        let is_relevant = |words: &str, at: &str| {
            let (mut legs, turn) = (legs(&[0; 3], &[0.0; 3]), Turn::of(&english, words));
            let is_of_a_time = english.asks_for_a_time_alone(words);
            legs.asked = Asked { times: english.times(words, now), is_of_a_time, ..Asked::default() };
            legs.text.hits[0].fields.at = at.parse().unwrap();
            legs.is_relevant(&turn, 0.0, &|_| false)
        };
        assert!(is_relevant("What did I do yesterday?", "2025-02-28T09:00:00Z"));
        assert!(!is_relevant("What did I do yesterday?", "2025-02-20T09:00:00Z"));
        for greeting in ["How are you today?", "I am so tired today", "I did it today"] {
            assert!(!is_relevant(greeting, "2025-03-01T09:00:00Z"), "{greeting}");
        }
    }
}
