//! Ranking: merges the answers of the indexes into one order.

use foldhash::{HashMap, HashSet};
use uuid::Uuid;

use crate::engine::hit::{Content, Hit};
use crate::engine::receipt::{LeftOut, Reason, Signals};
use crate::fields::Fields;
use crate::id::{ItemId, RecordId, Seq, SessionId};
use crate::index::span_of;
use crate::message::Role;
use crate::rank::{
    Bm25, Candidate as Found, Contribution, Decay, Fused, Importance, Leg, LegKind, NAMED_BONUS, NAMED_WEIGHT,
    NEIGHBOUR_COSINE_WEIGHT, PERSON_BONUS, Ranking, RoleWeights, SAMPLE, SPAN_WEIGHT, TIME_BONUS, TIME_WEIGHT,
    add_spans, below_lenders, best, bm25f, hand_on, smooth,
};
use crate::scope::Scope;
use crate::time::Timestamp;

use super::each::OfEach;
use super::legs::{Asked, Legs};
use super::question::Search;

/// An item that may be a hit, with its signals.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) item: ItemId,
    /// The owner who shares it; none if it is the own of whoever asks.
    pub(crate) shared_by: Option<Scope>,
    pub(crate) signals: Signals,
}

/// What tells an item from those of all owners.
pub(crate) type Key<'a> = (Option<&'a Scope>, &'a ItemId);

impl Candidate {
    pub(crate) fn key(&self) -> Key<'_> {
        (self.shared_by.as_ref(), &self.item)
    }

    pub(crate) fn item(&self) -> &ItemId {
        &self.item
    }

    /// Returns it as a hit.
    pub(crate) fn hit(&self, content: Content) -> Hit {
        Hit { item: self.item.clone(), content, shared_by: self.shared_by.clone(), signals: self.signals }
    }

    /// Returns it as what is left out for a reason.
    pub(crate) fn left_out(&self, reason: Reason) -> LeftOut {
        let (item, shared_by) = (self.item.clone(), self.shared_by.clone());
        LeftOut { item, reason, signals: self.signals, shared_by }
    }
}

/// Returns the candidates of all indexes and owners, best first.
pub(crate) fn rank(search: &Search, legs: &OfEach<Legs>, now: Timestamp) -> Vec<Candidate> {
    let (rule, numbers) = (search.rule(), Numbers::of(legs));
    let (mut text, mut vector) = (Vec::new(), Vec::new());
    let (mut cosines, mut documents): (HashMap<Key<'_>, f32>, u64) = (HashMap::default(), 0);
    let alone: Vec<Alone<'_>> = legs.iter().map(|(_, legs)| Alone::of(legs)).collect();
    // Spans count in the scale of all owners, as the scores do.
    let bests = alone.iter().fold((0.0, 0.0), |bests, alone| alone.better(bests));
    for ((shared_by, legs), alone) in legs.iter().zip(alone) {
        let mut by_words = alone.by_words(legs, bests);
        let mut by_meaning = by_meaning(legs, rule.weighs_context());
        for found in by_words.iter_mut().chain(&mut by_meaning) {
            if let Some(decay) = legs.notes.get(&found.item) {
                found.decay = Some(*decay);
            }
            if let Some(known) = legs.importance.get(&found.item) {
                found.importance = *known;
            } else if rule.weighs_importance() {
                found.importance = unused(found.at, now);
            }
            if let Some(number) = numbers.stand_in((shared_by, &found.item)) {
                found.item = number;
            }
        }
        add(&mut text, by_words);
        add(&mut vector, by_meaning);
        cosines.extend(legs.vector.iter().map(|hit| ((shared_by, &hit.item), hit.similarity.value())));
        // Each has the number of all of them.
        documents = documents.max(legs.text.documents);
    }
    let text = Leg { candidates: text, floor: 0.0, partition: documents, weight: 1.0 };
    let mut fused = rule.rank([(LegKind::Text, text), (LegKind::Vector, vector_leg(vector, legs.own.limit))], now);
    let asked = &legs.own.asked;
    if asked.is_of_a_time {
        lift(&mut fused, |found| 2 - asked.distance(found.at));
    }
    // Not for questions: their answer may be in the message beside the one that holds the code.
    if rule.weighs_context() && !asked.is_question {
        let exact: HashSet<Key<'_>> =
            legs.iter().flat_map(|(shared_by, legs)| legs.exact().map(move |hit| (shared_by, &hit.item))).collect();
        lift(&mut fused, |found| u8::from(exact.contains(&numbers.key(&found.item))));
    }
    let candidate = |fused: Fused| {
        let of = |leg: usize| fused.legs.get(leg).copied().unwrap_or_default();
        let (shared_by, item) = numbers.key(&fused.item);
        let signals = signals(fused.score, of(0), of(1), cosines.get(&(shared_by, item)).copied());
        Candidate { item: item.clone(), shared_by: shared_by.cloned(), signals }
    };
    fused.into_iter().map(candidate).collect()
}

/// Lifts each item by so many steps: each step is above all that are on the step below.
fn lift(fused: &mut [Fused], steps: impl Fn(&Fused) -> u8) {
    let scores = || fused.iter().map(|found| found.score);
    let height = scores().fold(0.0, f32::max) - scores().fold(0.0, f32::min) + 1.0;
    for found in fused.iter_mut() {
        found.score += height * f32::from(steps(found));
    }
    fused.sort_by(|one, other| other.score.total_cmp(&one.score));
}

/// Numbers that stand for the items of several owners while these are ranked together: an id is unique within its owner alone, and
/// the same fact told to two of them has one id. Without owners who share, items stand for themselves.
struct Numbers<'a>(Vec<(&'a ItemId, Option<&'a Scope>)>);

impl<'a> Numbers<'a> {
    fn of(legs: &'a OfEach<Legs>) -> Self {
        if legs.shared.is_empty() {
            return Self(Vec::new());
        }
        let found = legs.iter().flat_map(|(shared_by, Legs { text, vector, .. })| {
            let items = text.hits.iter().map(|hit| &hit.item).chain(vector.iter().map(|hit| &hit.item));
            items.map(move |item| (item, shared_by))
        });
        let mut found: Vec<_> = found.collect();
        // In the order of the items, which decides between equals.
        found.sort_unstable();
        found.dedup();
        Self(found)
    }

    /// Returns what stands for an item; none if it stands for itself.
    fn stand_in(&self, (shared_by, item): Key<'_>) -> Option<ItemId> {
        let number = self.0.binary_search(&(item, shared_by)).ok()?;
        Some(ItemId::Record(RecordId(Uuid::from_u128(number as u128))))
    }

    /// Returns the item that another one stands for.
    fn key<'b>(&'b self, item: &'b ItemId) -> Key<'b> {
        let number = item.as_record().and_then(|RecordId(number)| usize::try_from(number.as_u128()).ok());
        let found = number.and_then(|number| self.0.get(number));
        found.map_or((None, item), |(item, shared_by)| (*shared_by, *item))
    }
}

/// Returns whether the importance of records orders anything: it decides between equals in the default ranking.
pub(super) fn heeds_importance(rule: &Ranking) -> bool {
    rule.weighs_importance() || matches!(rule, Ranking::ZScore(_))
}

/// Returns the importance of an item that has only a time, such as a message.
fn unused(at: Timestamp, now: Timestamp) -> f32 {
    Importance { age: now.since(at), accesses: 0, explicit: None }.score(Decay::LONG_TERM)
}

fn signals(score: f32, text: Contribution, vector: Contribution, cosine: Option<f32>) -> Signals {
    Signals { score, text: text.score, text_rank: text.rank, cosine, vector_rank: vector.rank, reranked: None }
}

/// The scores by words of an owner's hits before the spans around count: BM25F, weighted by role, speaker and time.
struct Alone<'a> {
    places: Vec<Place<'a>>,
    scores: Vec<f32>,
    /// The scores of the spans around.
    around: Vec<Option<f32>>,
    best_span: f32,
}

/// Where a hit stands, if it is a message.
type Place<'a> = Option<(&'a SessionId, Seq)>;

impl<'a> Alone<'a> {
    fn of(Legs { text, spans, asked, .. }: &'a Legs) -> Self {
        let roles = if asked.the_model { RoleWeights::of_the_asked() } else { RoleWeights::default() };
        let bm25 = Bm25::default();
        let scores = bm25f(&bm25, text).into_iter().zip(&text.hits);
        let mut scores: Vec<f32> =
            scores.map(|(score, hit)| score * roles.of(&hit.fields) * asked.weight(&hit.fields)).collect();
        let places: Vec<Place<'a>> = text.hits.iter().map(|hit| place(&hit.fields)).collect();
        let holds: Vec<bool> = text.hits.iter().map(|hit| hit.own.iter().any(|count| *count > 0)).collect();
        below_lenders(&places, &holds, &mut scores);
        let span_scores = bm25f(&bm25, spans);
        let best_span = best(&span_scores);
        let by_span: HashMap<&ItemId, f32> = spans.hits.iter().map(|hit| &hit.item).zip(span_scores).collect();
        let around = text.hits.iter().map(|hit| by_span.get(&span_around(&hit.fields)?).copied()).collect();
        Self { places, scores, around, best_span }
    }

    /// Returns the best score and the best score of a span, of these and those given.
    fn better(&self, (score, span): (f32, f32)) -> (f32, f32) {
        (best(&self.scores).max(score), self.best_span.max(span))
    }

    /// Returns the hits with what the spans around add, in the scale of the best score and span, and with what messages hand on.
    fn by_words(&self, Legs { text, tells, .. }: &Legs, bests: (f32, f32)) -> Vec<Found> {
        let mut scores = add_spans(&self.scores, &self.around, bests, SPAN_WEIGHT);
        hand_on(&self.places, &told(text.hits.iter().map(|hit| &hit.item), tells), 0.0, &mut scores);
        let found = text.hits.iter().zip(scores).map(|(hit, score)| found(&hit.item, hit.fields.at, score));
        found.collect()
    }
}

fn place(fields: &Fields) -> Place<'_> {
    fields.session.as_ref().zip(fields.seq)
}

/// Adds what one owner has to what others have.
fn add(all: &mut Vec<Found>, more: Vec<Found>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.extend(more);
    }
}

fn found(item: &ItemId, at: Timestamp, score: f32) -> Found {
    Found { item: item.clone(), at, score, importance: 0.0, decay: None }
}

/// Returns how much each item tells: 1 if it was not looked at.
fn told<'a>(items: impl Iterator<Item = &'a ItemId>, tells: &HashMap<ItemId, f32>) -> Vec<f32> {
    items.map(|item| tells.get(item).copied().unwrap_or(1.0)).collect()
}

/// Returns the lowest of the best [`SAMPLE`] scores, which is what a leg's missing items have.
fn lowest_of_sample(scores: &[f32]) -> f32 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    sorted.get(SAMPLE - 1).or(sorted.last()).copied().unwrap_or(1.0)
}

fn span_around(fields: &Fields) -> Option<ItemId> {
    Some(ItemId::Span(fields.session.clone()?, span_of(fields.seq?)))
}

/// Scores the hits by meaning: their cosines and, if `weighs`, those of neighbours, the speaker and the time.
fn by_meaning(Legs { vector: hits, asked, tells, .. }: &Legs, weighs: bool) -> Vec<Found> {
    let mut scores: Vec<f32> = hits.iter().map(|hit| hit.similarity.value()).collect();
    if weighs {
        let places: Vec<Place<'_>> = hits.iter().map(|hit| place(&hit.fields)).collect();
        scores = smooth(&places, &scores, NEIGHBOUR_COSINE_WEIGHT);
        for (score, hit) in scores.iter_mut().zip(hits) {
            *score += asked.bonus(&hit.fields);
        }
        let tells = told(hits.iter().map(|hit| &hit.item), tells);
        let floor = lowest_of_sample(&scores);
        hand_on(&places, &tells, floor, &mut scores);
    }
    hits.iter().zip(scores).map(|(hit, score)| found(&hit.item, hit.fields.at, score)).collect()
}

/// Returns the leg of the best `limit` hits by meaning.
fn vector_leg(mut found: Vec<Found>, limit: usize) -> Leg {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)).then_with(|| a.item.cmp(&b.item)));
    found.truncate(limit);
    let floor = found.get(SAMPLE - 1).or(found.last()).map_or(1.0, |lowest| lowest.score);
    Leg { partition: found.len() as u64, candidates: found, floor, weight: 1.0 }
}

impl Asked {
    /// Returns the factor for an item's score by words.
    fn weight(&self, fields: &Fields) -> f32 {
        let is_then = self.times.iter().any(|time| time.is_counted() && time.covers(fields.at));
        (if self.names(fields) { NAMED_WEIGHT } else { 1.0 }) * if is_then { TIME_WEIGHT } else { 1.0 }
    }

    /// Returns what is added to an item's cosine.
    fn bonus(&self, fields: &Fields) -> f32 {
        let is_then = self.times.iter().any(|time| time.covers(fields.at));
        let is_of_person = !self.the_model && matches!(fields.role, None | Some(Role::User));
        let bonuses = [(self.names(fields), NAMED_BONUS), (is_then, TIME_BONUS), (is_of_person, PERSON_BONUS)];
        bonuses.into_iter().filter(|(is_due, _)| *is_due).map(|(_, bonus)| bonus).sum()
    }

    fn names(&self, fields: &Fields) -> bool {
        self.speaker.is_some() && self.speaker == fields.speaker
    }
}
