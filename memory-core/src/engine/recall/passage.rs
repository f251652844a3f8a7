//! The second look: the best candidates are read from truth, because an index knows neither where in a message its words
//! stand, nor in which form, nor what else it says.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::analysis::{Counts, Reader};
use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::id::{ItemId, Unit};
use crate::index::{passages, searched_text};
use crate::message::Message;
use crate::rank::{Bm25, Decay, ENOUGH, TermWeights, importance, tells};
use crate::scope::Scope;
use crate::store::text::{Term, TextHit, TextHits};
use crate::time::Timestamp;

use super::each::OfEach;
use super::hydrate::Hydrated;
use super::legs::Legs;
use super::question::Search;
use super::rank::{Candidate, Key, heeds_importance, rank};

/// How many of the best candidates are looked at. The hits are among them, so they are read in the same call.
pub(crate) const LOOKED_AT: usize = 32;

/// How many words a passage has. A message of more terms counts by its best one, as a long document does in search by passages
/// (Callan 1994): else an answer of a thousand words pays for all of them.
const PASSAGE_WORDS: usize = 70;

/// How many words of a message are read first to learn whether it tells enough. Most messages that do tell it within them; of the
/// others a whole passage is read.
const BEGINNING_WORDS: usize = 30;

/// What a term counts that stands in a long message, but only outside its best passage.
const OUTSIDE: f32 = 0.1;

/// How much less a word counts that is not in the form of the question, where another message has that form: "detailer" finds
/// "detailer" before "details".
const OTHER_FORM: f32 = 0.1;

/// A message that was looked at.
struct Looked {
    /// Its place among the hits by words.
    place: usize,
    /// The hit with the counts of its best passage.
    hit: TextHit,
    /// How often that passage holds each term in the form of the question.
    exact: Vec<u32>,
}

impl OfEach<Legs> {
    /// Returns the best candidates, which are to be read and looked at again; none if the ranking goes by the indexes alone. If it
    /// weighs importance, all records are among them: any of them may matter most.
    pub(crate) fn best(&self, search: &Search, now: Timestamp) -> Vec<Candidate> {
        let rule = search.rule();
        if !rule.weighs_context() {
            return Vec::new();
        }
        let mut best = rank(search, self, now);
        if !rule.weighs_importance() {
            best.truncate(LOOKED_AT);
            return best;
        }
        let mut messages = 0;
        best.retain(|found| {
            let is_record = found.item.unit() == Unit::Record;
            messages += usize::from(!is_record);
            is_record || messages <= LOOKED_AT
        });
        best
    }
}

impl Inner {
    /// Looks again at the best candidates: a long message takes the counts of its best passage, words in the form of the question
    /// count more than others of their stem, and what a message tells and how much a record matters is noted.
    ///
    /// What was not read, or is not among the best, stays as the indexes know it.
    pub(crate) fn look_again(
        &self,
        search: &Search,
        legs: &mut OfEach<Legs>,
        best: &[Candidate],
        read: &OfEach<Hydrated>,
    ) {
        let best: HashSet<Key<'_>> = best.iter().map(Candidate::key).collect();
        let each = legs.iter_mut().zip(read.iter());
        let look = |(legs, (owner, read)): (&mut Legs, (Option<&Scope>, &Hydrated))| {
            let seen = read.contents().filter(|(item, _)| best.contains(&(owner, *item)));
            self.look_at(search, legs, &seen.collect::<Vec<_>>())
        };
        let mut looked: Vec<Vec<Looked>> = each.map(look).collect();
        // A form that one owner has lowers the others' other forms too.
        prefer_exact(&mut looked);
        for (legs, looked) in legs.iter_mut().zip(looked) {
            for Looked { place, hit, .. } in looked {
                if let Some(old) = legs.text.hits.get_mut(place) {
                    *old = hit;
                }
            }
        }
    }

    /// Returns what was seen in the messages of one owner.
    fn look_at(&self, search: &Search, legs: &mut Legs, seen: &[(&ItemId, &Content)]) -> Vec<Looked> {
        let message = |(item, content): &(&ItemId, &Content)| match content {
            Content::Message(row) => Some(((*item).clone(), row.message.clone()?)),
            Content::Record(_) => None,
        };
        let messages: HashMap<ItemId, Arc<Message>> = seen.iter().filter_map(message).collect();
        if heeds_importance(&search.rule()) {
            legs.importance = self.importance(seen);
        }
        self.hear(search, legs, &messages);
        self.read_passages(search, legs, &messages)
    }

    /// Returns how much each record among these matters. That changes with time and use, so no index holds it.
    fn importance(&self, seen: &[(&ItemId, &Content)]) -> HashMap<ItemId, f32> {
        let now = self.clock.now();
        let of_record = |(item, content): &(&ItemId, &Content)| match content {
            Content::Record(stored) => Some(((*item).clone(), importance(stored, now, Decay::LONG_TERM))),
            Content::Message(_) => None,
        };
        seen.iter().filter_map(of_record).collect()
    }

    /// Notes how much each message tells beside what the question says already. Who types a keyword or quotes a message looks for
    /// that message, so only questions are answered by what is new.
    fn hear(&self, search: &Search, legs: &mut Legs, messages: &HashMap<ItemId, Arc<Message>>) {
        if !self.analysis.asks(&search.words) {
            return;
        }
        let asked: HashSet<Term> = self.analysis.document(&search.words).into_iter().map(|(term, _)| term).collect();
        for (item, message) in messages {
            let text = message.text();
            let mut beginnings = passages(&text, BEGINNING_WORDS);
            let mut new = self.news(beginnings.next().unwrap_or_default(), &asked);
            if new < ENOUGH && beginnings.next().is_some() {
                new = self.news(passages(&text, PASSAGE_WORDS).next().unwrap_or_default(), &asked);
            }
            legs.tells.insert(item.clone(), tells(new));
        }
    }

    /// Returns how many informative terms a text has that were not `asked` for, at most [`ENOUGH`].
    fn news(&self, text: &str, asked: &HashSet<Term>) -> usize {
        let mut new = 0;
        self.analysis.each_informative(text, &mut |term| {
            new += usize::from(!asked.contains(&term));
            new < ENOUGH
        });
        new
    }

    /// Returns the hits among `messages` with the counts of their best passage.
    fn read_passages(&self, search: &Search, legs: &Legs, messages: &HashMap<ItemId, Arc<Message>>) -> Vec<Looked> {
        let TextHits { documents, mean_length, containing, hits } = &legs.text;
        let weights = TermWeights::new(&Bm25::default(), *documents, *mean_length, containing);
        let mut reader = Reader::new(&self.analysis, &search.words, &legs.terms);
        let mut looked = Vec::new();
        for (place, hit) in (0..).zip(hits) {
            let Some(message) = messages.get(&hit.item) else { continue };
            if hit.length as usize <= PASSAGE_WORDS {
                let exact = reader.read_exact(&searched_text(message));
                looked.push(Looked { place, hit: hit.clone(), exact });
                continue;
            }
            let text = message.text();
            let of_passage = |passage: &str| {
                let counts = reader.read(passage);
                let hit = passage_of(hit, &counts);
                (weights.score(hit.length, &hit.own, &hit.near), Looked { place, hit, exact: counts.exact })
            };
            let best =
                passages(&text, PASSAGE_WORDS).map(of_passage).max_by(|(one, _), (other, _)| one.total_cmp(other));
            looked.extend(best.map(|(_, looked)| looked));
        }
        looked
    }
}

/// Returns a message as the best passage of it that `counts` describes. What it holds outside counts little.
fn passage_of(hit: &TextHit, counts: &Counts) -> TextHit {
    let outside = hit.own.iter().zip(&counts.own).map(|(all, own)| OUTSIDE * all.saturating_sub(*own).min(1) as f32);
    let near = hit.near.iter().zip(outside).map(|(near, outside)| near + outside).collect();
    TextHit { own: counts.own.clone(), near, length: counts.length, ..hit.clone() }
}

/// Lowers the counts of words in another form than the question's, for the terms that some hit has in that form.
fn prefer_exact(looked: &mut [Vec<Looked>]) {
    let all = || looked.iter().flatten();
    let terms = all().map(|Looked { exact, .. }| exact.len()).max().unwrap_or(0);
    let is_exact = |term: &usize| all().any(|Looked { exact, .. }| exact.get(*term).is_some_and(|count| *count > 0));
    for term in (0..terms).filter(is_exact).collect::<Vec<usize>>() {
        for Looked { hit, exact, .. } in looked.iter_mut().flatten() {
            let (own, exact) = (hit.own.get(term), exact.get(term));
            let others = own.zip(exact).map_or(0, |(own, exact)| own.saturating_sub(*exact));
            if let Some(near) = hit.near.get_mut(term) {
                *near -= OTHER_FORM * others as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::id::{MessageId, Seq, SessionId};

    #[test]
    fn the_form_of_the_question_counts_before_the_other_forms_of_all_owners() {
        let looked = |exact: [u32; 2]| {
            let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
            let item = ItemId::Message(MessageId::of_content(b"one"));
            let hit = TextHit { item, own: vec![1, 1], near: vec![0.0, 0.0], length: 2, fields };
            Looked { place: 0, hit, exact: exact.into() }
        };
        let mut all = [vec![looked([0, 0])], vec![looked([1, 0])]];
        prefer_exact(&mut all);
        let near: Vec<&[f32]> = all.iter().flatten().map(|looked| looked.hit.near.as_slice()).collect();
        assert_eq!(near, [[-OTHER_FORM, 0.0], [0.0, 0.0]]);
    }
}
