//! The checks at the end: truth and every index agree, what was forgotten is nowhere, what was acknowledged is there,
//! and no owner sees data of another.

use std::collections::BTreeSet;

use memory_core::analysis::Analysis;
use memory_core::engine::Memory;
use memory_core::index::{PIECE_WORDS, message_pieces, record_entry, record_pieces, session_entries};
use memory_core::model::{Embedder, Purpose};
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::chat::SessionState;
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorStore};
use memory_core::{Filter, ItemId, Result, Scope, Seq, SeqRange, StoredMessage, Unit};

use super::ledger::{Verdict, WrittenItem};
use super::look::{ALL, OwnerTruth};
use super::site::Site;
use crate::chat::talk::covered_rightly;

/// Terms that are asked for together.
const TERMS: usize = 256;
/// How far numbers of two stores may lie apart.
const ROUNDING: f32 = 1e-3;

impl Site {
    /// Checks everything, and returns what is wrong.
    pub(crate) async fn check(&self, memories: &[Memory]) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        let (items, verdicts) = (self.ledger.items(), self.ledger.verdicts());
        for (owner, scope) in self.owners.iter().enumerate() {
            let held = self.held(scope).await?;
            for (item, verdict) in items.iter().zip(&verdicts).filter(|(item, _)| item.owner == owner) {
                match (verdict, held.holds(&item.id)) {
                    (Verdict::Kept, false) => wrong.push(format!("{} was acknowledged and is lost", item.word)),
                    (Verdict::Gone, true) => wrong.push(format!("{} was forgotten and is there", item.word)),
                    _ => {}
                }
            }
            check_words(owner, &held, &items, &mut wrong);
            check_folds(owner, &held, &mut wrong);
            self.check_text(scope, &held, &items, &mut wrong).await?;
            self.check_vectors(scope, &held, &mut wrong).await?;
            for memory in memories {
                self.check_shown(memory, scope, &held, (&items, owner), &mut wrong).await?;
            }
        }
        Ok(wrong)
    }

    pub(crate) fn terms(&self, words: &str) -> Vec<Term> {
        Analysis::english().document(words).into_iter().map(|(term, _)| term).collect()
    }

    /// The index of words answers as one that is made anew from truth.
    async fn check_text(
        &self,
        scope: &Scope,
        held: &OwnerTruth,
        items: &[WrittenItem],
        wrong: &mut Vec<String>,
    ) -> Result<()> {
        let entries = text_entries(held);
        let anew = MemText::new(Analysis::english().name());
        anew.put(scope, &entries, Visibility::OnReturn).await?;
        let mut terms: BTreeSet<Term> = items.iter().flat_map(|item| self.terms(&item.word)).collect();
        terms.extend(entries.iter().flat_map(|entry| entry.own.iter().map(|(term, _)| term.clone())));
        terms.extend(entries.iter().flat_map(|entry| entry.near.iter().map(|(term, _)| term.clone())));
        let terms: Vec<Term> = terms.into_iter().collect();
        for unit in [Unit::Message, Unit::Record, Unit::Span] {
            for some in terms.chunks(TERMS) {
                self.check_terms(scope, unit, some, &anew, wrong).await?;
            }
        }
        Ok(())
    }

    /// The index of words answers a question as one that is made anew.
    async fn check_terms(
        &self,
        scope: &Scope,
        unit: Unit,
        terms: &[Term],
        anew: &MemText,
        wrong: &mut Vec<String>,
    ) -> Result<()> {
        let query = TextQuery { terms: terms.to_vec(), unit, filter: Filter::All, limit: ALL };
        let (mut is, mut ought) = (self.ground.text.search(scope, &query).await?, anew.search(scope, &query).await?);
        is.hits.sort_by(|a, b| a.item.cmp(&b.item));
        ought.hits.sort_by(|a, b| a.item.cmp(&b.item));
        let found = |hits: &[memory_core::store::text::TextHit]| {
            hits.iter().map(|hit| hit.item.clone()).collect::<BTreeSet<_>>()
        };
        differ("the index of words", &found(&is.hits), &found(&ought.hits), wrong);
        let same = pairs(&is.hits, &ought.hits, |hit| &hit.item);
        for (is, ought) in same.into_iter().filter(|(is, ought)| is != ought) {
            wrong.push(format!("the index of words holds {} in another version: {is:?} not {ought:?}", is.item.key()));
        }
        if is.documents != ought.documents {
            wrong.push(format!("the index of words has {} of {unit:?}, not {}", is.documents, ought.documents));
        }
        Ok(())
    }

    /// The index of vectors answers as one that is made anew from truth.
    async fn check_vectors(&self, scope: &Scope, held: &OwnerTruth, wrong: &mut Vec<String>) -> Result<()> {
        let anew = MemVectors::new(self.embedder.space().clone()).with_quantised(false);
        let mut entries = Vec::new();
        for entry in text_entries(held).into_iter().filter(|entry| entry.item.unit() != Unit::Span) {
            let TextEntry { item, version, fields, .. } = entry;
            let pieces = pieces(held, &item);
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let pieces = self.embedder.embed(&pieces, Purpose::Document).await?;
            entries.push(VectorEntry { item, version, pieces, fields });
        }
        anew.put(scope, &entries, Visibility::OnReturn).await?;
        let query = self.everything().await?;
        let (mut is, mut ought) = (self.ground.vectors.search(scope, &query).await?, anew.search(scope, &query).await?);
        is.sort_by(|a, b| a.item.cmp(&b.item));
        ought.sort_by(|a, b| a.item.cmp(&b.item));
        let found = |hits: &[VectorHit]| hits.iter().map(|hit| hit.item.clone()).collect::<BTreeSet<_>>();
        differ("the index of vectors", &found(&is), &found(&ought), wrong);
        for (is, ought) in pairs(&is, &ought, |hit| &hit.item).into_iter().filter(|(is, ought)| !is_alike(is, ought)) {
            wrong
                .push(format!("the index of vectors holds {} in another version: {is:?} not {ought:?}", is.item.key()));
        }
        Ok(())
    }

    /// A process shows of an owner what truth holds, and nothing else.
    async fn check_shown(
        &self,
        memory: &Memory,
        scope: &Scope,
        held: &OwnerTruth,
        (items, owner): (&[WrittenItem], usize),
        wrong: &mut Vec<String>,
    ) -> Result<()> {
        let scoped = memory.of(scope);
        let mut shown = Vec::new();
        for session in &self.sessions {
            let context = scoped.session(session).context("what of the garden?", 4_000_u64).await?;
            shown.extend(context.messages().map(memory_core::Message::text));
        }
        let truth: Vec<String> = held.texts().map(|(_, text)| text).collect();
        for item in items.iter().filter(|item| shown.iter().any(|text| text.contains(&item.word))) {
            if item.owner != owner || !truth.iter().any(|text| text.contains(&item.word)) {
                wrong.push(format!("{} is shown to {owner} and is not in its truth", item.word));
            }
        }
        Ok(())
    }
}

/// Returns what both lists, in the order of their items, have of the same item.
fn pairs<'a, T>(is: &'a [T], ought: &'a [T], item: impl Fn(&T) -> &ItemId) -> Vec<(&'a T, &'a T)> {
    let of = |found: &'a T| ought.binary_search_by(|other| item(other).cmp(item(found))).ok();
    is.iter().filter_map(|found| Some((found, ought.get(of(found)?)?))).collect()
}

/// Returns whether two stores found the same: they may round otherwise.
fn is_alike(one: &VectorHit, other: &VectorHit) -> bool {
    let near = |one: f32, other: f32| (one - other).abs() < ROUNDING;
    let vectors = one.vector.iter().flatten().zip(other.vector.iter().flatten());
    one.fields == other.fields
        && near(one.similarity.value(), other.similarity.value())
        && one.vector.as_ref().map(Vec::len) == other.vector.as_ref().map(Vec::len)
        && vectors.into_iter().all(|(one, other)| near(*one, *other))
}

fn differ(what: &str, is: &BTreeSet<ItemId>, ought: &BTreeSet<ItemId>, wrong: &mut Vec<String>) {
    wrong.extend(is.difference(ought).map(|item| format!("{what} holds {}, which truth does not", item.key())));
    wrong.extend(ought.difference(is).map(|item| format!("{what} lacks {}", item.key())));
}

/// No text of an owner has a word of what is gone, or of another owner's.
fn check_words(owner: usize, held: &OwnerTruth, items: &[WrittenItem], wrong: &mut Vec<String>) {
    for (holder, text) in held.texts() {
        for item in items.iter().filter(|item| text.contains(&item.word)) {
            if item.owner != owner {
                wrong.push(format!("{} of another owner stands in {}", item.word, holder.key()));
            } else if !held.holds(&item.id) {
                wrong.push(format!("{} is gone and stands in {}", item.word, holder.key()));
            }
        }
    }
}

/// Every message is in the window or under a summary that is there, and never both.
fn check_folds(owner: usize, held: &OwnerTruth, wrong: &mut Vec<String>) {
    for (_, rows) in &held.sessions {
        for row in rows {
            if !covered_rightly(row, rows) {
                wrong.push(format!("no summary of {owner} covers what its mark says is folded: {row:?}"));
            }
            let covers = |other: &StoredMessage| other.covers.is_some_and(|covers| covers.contains(row.seq));
            if row.covers.is_none() && row.is_active() && rows.iter().any(covers) {
                wrong.push(format!("a message of {owner} is in the window and under a summary: {row:?}"));
            }
        }
    }
}

/// Returns the entries that an index of words has to hold.
fn text_entries(held: &OwnerTruth) -> Vec<TextEntry> {
    let analysis = Analysis::english();
    let mut entries = Vec::new();
    for (state, rows) in &held.sessions {
        let log: Vec<StoredMessage> = rows.iter().filter(|row| row.covers.is_none()).cloned().collect();
        let SessionState { head, .. } = state;
        if *head > Seq(0) {
            let range = SeqRange { first: Seq(1), last: *head };
            entries.extend(session_entries(&analysis, &log, state, range).puts);
        }
    }
    entries.extend(held.records.iter().map(|stored| record_entry(&analysis, stored, held.epoch.1)));
    entries
}

fn pieces(held: &OwnerTruth, item: &ItemId) -> Vec<String> {
    let rows = || held.sessions.iter().flat_map(|(_, rows)| rows);
    match item {
        ItemId::Message(id) => {
            let message = rows().find(|row| row.id == *id).and_then(|row| row.message.as_ref());
            message.map(|message| message_pieces(message, PIECE_WORDS)).unwrap_or_default()
        }
        ItemId::Record(id) => {
            let stored = held.records.iter().find(|stored| stored.record.id == *id);
            stored.map(|stored| record_pieces(&stored.record, PIECE_WORDS)).unwrap_or_default()
        }
        ItemId::Span(..) => Vec::new(),
    }
}
