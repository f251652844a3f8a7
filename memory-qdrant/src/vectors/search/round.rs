//! How many candidates are fetched, and when they are enough.
//!
//! The server knows nothing of the order of ties, and lets more through than the filter does where it cannot compare as
//! core does. So a little more than the limit is fetched, and more again while the last one fetched could still be tied
//! with the last hit, or while there are too few hits.

use memory_core::Epoch;
use memory_core::vector::Similarity;

use super::candidate::Candidate;
use crate::collection::LARGEST_PAGE;

/// How many candidates are fetched beyond the limit at first.
const SPARE: usize = 4;

/// How many times as many are fetched in the next round.
const GROWTH: usize = 4;

/// One question to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// How many candidates are asked for.
    pub(super) fetch: usize,
    /// Whether every item is looked at.
    pub(super) is_exact: bool,
    /// Of which epoch on.
    pub(super) since: Epoch,
}

/// What comes after a round.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The hits are final.
    Done,
    /// More has to be asked for.
    Again(Round),
    /// More would have to be asked for than one question may.
    TooMany,
}

impl Round {
    pub(super) fn first(limit: usize, is_exact: bool) -> Self {
        Self { fetch: limit.saturating_add(SPARE).min(LARGEST_PAGE), is_exact, since: Epoch(0) }
    }

    /// Decides after a round that gave `count` candidates down to the `farthest`, of which `hits` are left in order.
    pub(super) fn next(&self, limit: usize, count: usize, farthest: Option<Similarity>, hits: &[Candidate]) -> Next {
        let last = limit.checked_sub(1).and_then(|place| hits.get(place)).map(|hit| hit.similarity);
        if count < self.fetch {
            // An index may have missed some; a look at every item does not.
            let is_final = self.is_exact || last.is_some();
            return if is_final { Next::Done } else { Next::Again(Self { is_exact: true, ..*self }) };
        }
        if last.zip(farthest).is_some_and(|(last, farthest)| last > farthest) {
            return Next::Done;
        }
        if self.fetch >= LARGEST_PAGE {
            return Next::TooMany;
        }
        let fetch = self.fetch.saturating_mul(GROWTH).min(LARGEST_PAGE);
        Next::Again(Self { fetch, is_exact: true, since: self.since })
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Fields, ItemId, RecordId, Seq, SessionId, Timestamp};

    use super::*;

    fn hits(similarities: &[f32]) -> Vec<Candidate> {
        let candidate = |similarity: &f32| Candidate {
            id: None,
            item: ItemId::Record(RecordId::of_content(b"")),
            fields: Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0)),
            similarity: Similarity::new(*similarity),
            epoch: Epoch(0),
            count: 1,
            pieces: Vec::new(),
        };
        similarities.iter().map(candidate).collect()
    }

    fn at(similarity: f32) -> Option<Similarity> {
        Some(Similarity::new(similarity))
    }

    #[test]
    fn ends_when_nothing_that_was_not_fetched_could_be_a_hit() {
        let round = Round::first(2, true);
        assert_eq!(round.fetch, 6);
        assert_eq!(round.next(2, 6, at(0.1), &hits(&[0.9, 0.5, 0.1])), Next::Done);
        assert_eq!(round.next(2, 5, at(0.5), &hits(&[0.5])), Next::Done);
        assert_eq!(round.next(2, 0, None, &[]), Next::Done);
    }

    #[test]
    fn fetches_more_while_ties_or_hidden_candidates_leave_it_open() {
        let round = Round::first(2, true);
        let more = Round { fetch: 24, ..round };
        assert_eq!(round.next(2, 6, at(0.5), &hits(&[0.9, 0.5, 0.5])), Next::Again(more));
        assert_eq!(round.next(2, 6, at(0.1), &hits(&[0.9])), Next::Again(more));
    }

    #[test]
    fn looks_at_every_item_where_an_index_gave_too_few() {
        let round = Round::first(2, false);
        let exact = Round { is_exact: true, ..round };
        assert_eq!(round.next(2, 1, at(0.5), &hits(&[0.5])), Next::Again(exact));
        assert_eq!(round.next(2, 3, at(0.1), &hits(&[0.5, 0.2])), Next::Done);
    }

    #[test]
    fn gives_up_where_one_question_may_not_ask_for_more() {
        for limit in [LARGEST_PAGE, usize::MAX] {
            let round = Round::first(limit, true);
            assert_eq!(round.fetch, LARGEST_PAGE);
            assert_eq!(round.next(limit, LARGEST_PAGE, at(0.1), &hits(&[0.5])), Next::TooMany);
            assert_eq!(round.next(limit, 1, at(0.5), &hits(&[0.5])), Next::Done);
        }
    }
}
