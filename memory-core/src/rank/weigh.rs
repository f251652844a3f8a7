//! Weights on the scores of a leg before fusion: for role, speaker, time, span and neighbours.

use foldhash::HashMap;

use crate::fields::Fields;
use crate::id::{Seq, SessionId, Unit};
use crate::index::NEIGHBOURS;
use crate::message::Role;

/// The factor for the score by words of messages from the participant whom the question names.
pub const NAMED_WEIGHT: f32 = 1.3;

/// The bonus on the cosine of messages from the participant whom the question names.
pub const NAMED_BONUS: f32 = 0.1;

/// The bonus on the cosine of what a person said, and of records, unless the question is about what the model said.
pub const PERSON_BONUS: f32 = 0.06;

/// The factor for the score by words of messages from a time that the question counts back to. A date that the question
/// names is found by its words, so it gets no factor.
pub const TIME_WEIGHT: f32 = 1.3;

/// The bonus on the cosine of messages from a time that the question is about.
pub const TIME_BONUS: f32 = 0.1;

/// The weight of a message's span, relative to the message, by words.
pub const SPAN_WEIGHT: f32 = 0.2;

/// The weight of the cosine of each of a message's two neighbours, relative to its own.
pub const NEIGHBOUR_COSINE_WEIGHT: f32 = 0.3;

/// The weights of roles in the score by words.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RoleWeights {
    /// For persons, and for records. Default 2, because questions are mostly about what persons said of themselves.
    pub user: f32,
    /// For the model. Default 1.
    pub assistant: f32,
    /// For everything else. Default 1.
    pub other: f32,
}

impl Default for RoleWeights {
    fn default() -> Self {
        Self { user: 2.0, assistant: 1.0, other: 1.0 }
    }
}

impl RoleWeights {
    /// Returns equal weights for all roles.
    pub fn equal() -> Self {
        Self { user: 1.0, assistant: 1.0, other: 1.0 }
    }

    /// Returns the weights for a question about what the model said.
    pub fn of_the_asked() -> Self {
        Self { user: 1.0, assistant: 1.3, other: 1.0 }
    }

    /// Returns the factor for the score of an item.
    pub fn of(&self, fields: &Fields) -> f32 {
        match (fields.unit, fields.role) {
            (Unit::Record, _) | (_, Some(Role::User)) => self.user,
            (_, Some(Role::Assistant)) => self.assistant,
            _ => self.other,
        }
    }
}

/// Adds to each score a share for its span: `score + weight × best score × span / best span`. A score without a span, or below
/// 0, stays as it is. The best score and the best span may be among those of other lists.
pub fn add_spans(scores: &[f32], spans: &[Option<f32>], (best, best_span): (f32, f32), weight: f32) -> Vec<f32> {
    let unit = if best_span > 0.0 { weight * best / best_span } else { 0.0 };
    let spans = spans.iter().map(|span| span.unwrap_or(0.0)).chain(std::iter::repeat(0.0));
    scores.iter().zip(spans).map(|(score, span)| if *score > 0.0 { score + unit * span } else { *score }).collect()
}

/// Returns the best of the scores, at least 0.
pub(crate) fn best(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(0.0, f32::max)
}

/// The share that a borrower keeps of the score of the message that lent it its words.
const BORROWED: f32 = 0.95;

/// Keeps each message that holds no word of the question below the neighbour that lent it such words.
///
/// `places` holds the place of each message, and `holds` whether it has a word of the question itself. A short message loses
/// hardly anything for its length, so without the bound a "thanks!" beside the answer would stand above it. A message whose
/// lender was not found keeps its score.
pub fn below_lenders(places: &[Option<(&SessionId, Seq)>], holds: &[bool], scores: &mut [f32]) {
    let found = places.iter().zip(holds).zip(scores.iter());
    let lenders: HashMap<(&SessionId, Seq), f32> =
        found.filter(|((_, holds), _)| **holds).filter_map(|((place, _), score)| Some(((*place)?, *score))).collect();
    for ((place, holds), score) in places.iter().zip(holds).zip(scores) {
        let Some((session, seq)) = place.filter(|_| !holds) else { continue };
        let around = seq.0.saturating_sub(NEIGHBOURS)..=seq.0.saturating_add(NEIGHBOURS);
        let best = around.filter_map(|beside| lenders.get(&(session, Seq(beside))).copied()).reduce(f32::max);
        *score = best.map_or(*score, |best| score.min(BORROWED * best));
    }
}

/// So many words that the question has not make a message a statement of its own.
pub(crate) const ENOUGH: usize = 5;

/// What a message without any is still worth, in such words.
const LEAST: f32 = 3.0;

/// The shares of what a message keeps back that the first, second and third message after it get.
const HANDED_ON: [f32; 3] = [0.7, 0.7, 0.4];

/// Returns how much a message tells beside the question, more than 0 and at most 1, by how many words it has that the question has
/// not.
///
/// "my car makes a noise" holds the words of "what noise does my car make?" and does not answer it; nor does "haha ok".
pub(crate) fn tells(new_words: usize) -> f32 {
    (new_words.min(ENOUGH) as f32 + LEAST) / (ENOUGH as f32 + LEAST)
}

/// Multiplies what each score has above `floor` by how much its message [`tells`]. What it keeps back is handed on to the three
/// messages after it, where it counts if it is more than their own: one that announces a matter points to what is said of it.
pub(crate) fn hand_on(places: &[Option<(&SessionId, Seq)>], tells: &[f32], floor: f32, scores: &mut [f32]) {
    let all = places.iter().zip(tells).zip(scores.iter());
    let kept_back = |((place, tells), score): ((&Option<_>, &f32), &f32)| {
        Some(((*place)?, (1.0 - tells) * (score - floor).max(0.0)))
    };
    let handed: HashMap<(&SessionId, Seq), f32> = all.filter_map(kept_back).collect();
    for ((place, tells), score) in places.iter().zip(tells).zip(scores).filter(|(_, score)| **score > floor) {
        let before = |(back, share): (u64, f32)| {
            let (session, seq) = (*place)?;
            Some(share * handed.get(&(session, Seq(seq.0.checked_sub(back)?)))?)
        };
        let most = (1..).zip(HANDED_ON).filter_map(before).fold(*score - floor, f32::max);
        *score = floor + most * tells;
    }
}

/// How many of the best cosines can be neighbours. A fixed number, so that asking for more hits does not change the order of
/// the first.
const NEIGHBOURHOOD: usize = 200;

/// Smooths cosines, given best first, with those of the neighbouring messages: `(own + w × before + w × after) / (1 + 2w)`.
///
/// The answer to a question often stands beside a message that resembles the question. `places` holds the place of each
/// message. A neighbour that is not among the best 200 counts as the lowest of these; so do both neighbours of an item
/// without a place.
pub fn smooth(places: &[Option<(&SessionId, Seq)>], cosines: &[f32], weight: f32) -> Vec<f32> {
    let best = cosines.iter().copied().take(NEIGHBOURHOOD);
    let lowest = best.clone().fold(f32::INFINITY, f32::min);
    let known: HashMap<(&SessionId, Seq), f32> =
        places.iter().zip(best).filter_map(|(place, cosine)| Some(((*place)?, cosine))).collect();
    let beside = |place: Option<(&SessionId, Seq)>, seq: Option<u64>| {
        let cosine = place.zip(seq).and_then(|((session, _), seq)| known.get(&(session, Seq(seq))).copied());
        cosine.unwrap_or(lowest)
    };
    let smoothed = places.iter().zip(cosines).map(|(place, cosine)| {
        let seq = place.map(|(_, seq)| seq.0);
        let before = beside(*place, seq.and_then(|seq| seq.checked_sub(1)));
        let after = beside(*place, seq.and_then(|seq| seq.checked_add(1)));
        (cosine + weight * (before + after)) / (1.0 + 2.0 * weight)
    });
    smoothed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn roles_and_records_weigh_as_they_are_set() {
        let mut fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
        let weights = RoleWeights::default();
        assert_eq!(weights.of(&fields), 1.0);
        fields.role = Some(Role::User);
        assert_eq!((weights.of(&fields), RoleWeights::of_the_asked().of(&fields)), (2.0, 1.0));
        fields.role = Some(Role::Assistant);
        assert_eq!((weights.of(&fields), RoleWeights::of_the_asked().of(&fields)), (1.0, 1.3));
        fields.role = None;
        fields.unit = Unit::Record;
        assert_eq!((weights.of(&fields), RoleWeights::equal().of(&fields)), (2.0, 1.0));
    }

    #[test]
    fn spans_lend_weight_in_the_scale_of_the_scores() {
        assert_eq!(add_spans(&[10.0, 5.0, 0.0], &[None, Some(3.0), Some(3.0)], (10.0, 6.0), 0.2), [10.0, 6.0, 0.0]);
        assert_eq!(add_spans(&[10.0, 5.0], &[None, None], (10.0, 0.0), 0.2), [10.0, 5.0]);
        assert_eq!(add_spans(&[], &[], (0.0, 1.0), 0.2), [0.0; 0]);
        assert_eq!(add_spans(&[5.0, -1.0], &[Some(3.0), Some(3.0)], (10.0, 6.0), 0.2), [6.0, -1.0]);
    }

    #[test]
    fn the_best_score_is_never_below_zero() {
        assert_eq!([best(&[0.5, 2.5, 2.0]), best(&[-3.0, -2.0]), best(&[])], [2.5, 0.0, 0.0]);
    }

    #[test]
    fn a_borrower_stands_below_its_lender() {
        let session = SessionId::new("one").unwrap();
        let places: Vec<_> = [1, 2, 4, 9].map(|seq| Some((&session, Seq(seq)))).into();
        let mut scores = [2.0, 3.0, 1.0, 3.0];
        below_lenders(&places, &[true, false, false, false], &mut scores);
        assert_eq!(scores, [2.0, 0.95 * 2.0, 1.0, 3.0]);
    }

    #[test]
    fn a_message_tells_by_its_new_words() {
        assert_eq!([0, 2, 5, 900].map(tells), [0.375, 0.625, 1.0, 1.0]);
    }

    #[test]
    fn what_tells_little_points_to_what_follows() {
        let session = SessionId::new("one").unwrap();
        let places: Vec<_> = [1, 2, 3, 9].map(|seq| Some((&session, Seq(seq)))).into();
        let mut scores = [5.0, 1.0, 1.5, 2.0];
        hand_on(&places, &[0.5, 1.0, 0.5, 1.0], 1.0, &mut scores);
        assert_eq!(scores, [3.0, 1.0, 1.0 + 1.4 * 0.5, 2.0]);
        let mut told = [5.0, 1.0, 1.5, 2.0];
        hand_on(&places, &[1.0; 4], 0.0, &mut told);
        assert_eq!(told, [5.0, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn neighbours_in_one_session_lend_their_cosines() {
        let (one, two) = (SessionId::new("one").unwrap(), SessionId::new("two").unwrap());
        let places = [Some((&one, Seq(1))), Some((&one, Seq(2))), Some((&two, Seq(3))), None];
        let smoothed = smooth(&places, &[0.5, 0.25, 1.0, 0.0], 0.5);
        assert_eq!(smoothed, [(0.5 + 0.125) / 2.0, (0.25 + 0.25) / 2.0, 0.5, 0.0]);
        assert_eq!(smooth(&places[..1], &[0.5], 0.5), [0.5]);
        let many: Vec<_> = (1..=400).map(|seq| Some((&one, Seq(seq * 2)))).collect();
        let falling: Vec<f32> = (0..400).map(|place| 1.0 - place as f32 / 512.0).collect();
        assert_eq!(smooth(&many, &falling, 0.5)[..200], smooth(&many[..200], &falling[..200], 0.5));
        assert_eq!(smooth(&[], &[], 0.5), [0.0; 0]);
    }
}
