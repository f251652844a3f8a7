//! The gate before a new record: a statement that is nearly the same as a record is told again, or dropped.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::defaults::Defaults;
use crate::engine::handle::Scoped;
use crate::engine::inner::{Index, Kind, Vectors};
use crate::engine::receipt::{Degraded, Stage};
use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::hashing::HashEmbedder;
use crate::id::{ItemId, RecordId, Unit};
use crate::index::{PIECE_WORDS, record_pieces, record_terms};
use crate::novelty::{Gate, Nearest, Reason, Repeat, Verdict, differ_in_particulars, novelty};
use crate::record::{Record, StoredRecord, Telling};
use crate::store::text::{Term, TextQuery, TextStore};
use crate::store::vectors::VectorQuery;
use crate::vector::{Direction, Similarity, normalise};

use super::links::Target;
use super::remember::{Remember, RememberReceipt, Remembered};

/// How many records the index is asked for: some may have changed since they were indexed, or differ in particulars.
const ASKED: usize = 16;
/// How many numbers the vectors have by which words are compared.
const DIMENSION: usize = 384;

/// What a gate found of a statement.
#[derive(Debug, Default)]
pub(crate) struct Likeness {
    /// How new it is; none if nothing is known that it could be compared with.
    pub(crate) novelty: Option<f32>,
    /// Why it could not be compared.
    pub(crate) degraded: Vec<Degraded>,
    /// What the words were told from that stand for its own.
    sources: Vec<ItemId>,
}

impl Likeness {
    /// Returns what is told, also from the sources of the words that stand for its own: it falls with these.
    pub(super) fn beside<'t>(&self, told: &'t Record) -> Cow<'t, Record> {
        if self.sources.is_empty() {
            return Cow::Borrowed(told);
        }
        let mut told = told.clone();
        for telling in told.tellings_mut() {
            let others = self.sources.iter().filter(|source| !telling.sources.contains(source));
            let others: Vec<ItemId> = others.cloned().collect();
            telling.sources.extend(others);
        }
        Cow::Owned(told)
    }
}

/// A record that is like a statement.
type Like = (StoredRecord, Similarity);

/// What becomes of a statement.
pub(crate) enum Gated {
    /// It is told here.
    Told(Target, Likeness),
    /// It is dropped.
    Dropped(RememberReceipt),
}

impl Defaults {
    /// Returns what is to be remembered, with the gate that it passes. A record with an id of its own passes none.
    pub(crate) fn gated(&self, mut remember: Remember) -> Remember {
        if remember.gate.is_none() && remember.id.is_none() {
            remember.gate = self.gate;
        }
        remember
    }
}

impl Scoped {
    /// Lets `told` through the gate: to `place` if it is new, to the record that it repeats, or nowhere.
    ///
    /// What cannot be compared, because the index or the embedder fails, is new: it is better told twice than lost.
    pub(crate) async fn gated(&self, gate: &Gate, told: &Record, place: Target) -> Gated {
        let id = match place {
            Target::Expired(_) => return Gated::Told(place, Likeness::default()),
            Target::Known(stored) if gate.repeat == Repeat::Reinforce => {
                return Gated::Told(Target::Known(stored), Likeness::default());
            }
            Target::Known(stored) => {
                return Gated::Dropped(self.dropped(&stored, Reason::Equal(stored.record.id), None));
            }
            Target::Free(id) => id,
        };
        let free = |likeness| Gated::Told(Target::Free(id), likeness);
        let (alike, nearest) = match self.most_alike(told).await {
            Ok(Some(found)) => found,
            Ok(None) => return free(Likeness::default()),
            Err(why) => return free(Likeness { degraded: vec![why], ..Likeness::default() }),
        };
        // Texts of other meanings share most of their words, so words have a threshold of their own.
        let by_words = gate.with_threshold(gate.threshold.min(Gate::hashing().threshold));
        let gate = if self.inner().vectors().is_some() { *gate } else { by_words };
        let likeness = Likeness { novelty: Some(novelty(nearest.similarity)), ..Likeness::default() };
        match gate.decide(None, Some(nearest)) {
            Verdict::Stored => free(likeness),
            Verdict::Reinforced(_) => {
                let sources = warrant(&alike.record, told).map(|telling| telling.sources.clone()).unwrap_or_default();
                Gated::Told(Target::Known(alike), Likeness { sources, ..likeness })
            }
            Verdict::Skipped(reason) => Gated::Dropped(self.dropped(&alike, reason, likeness.novelty)),
        }
    }

    /// Returns the receipt of a statement that repeats `stored`, and is dropped.
    fn dropped(&self, stored: &StoredRecord, reason: Reason, novelty: Option<f32>) -> RememberReceipt {
        let (outcome, durability) = (Remembered::Skipped(reason), self.durability_of_records());
        RememberReceipt { novelty, ..RememberReceipt::new(stored.record.id, outcome, stored.version, durability) }
    }

    /// Returns the current record of the same kind and agent that is most like `told` and differs in no particulars: by meaning, or
    /// by words where there is no index of meaning.
    ///
    /// # Errors
    /// Why nothing is known of any: an index or the embedder fails, there is none, or the text is embedded in several pieces.
    async fn most_alike(&self, told: &Record) -> std::result::Result<Option<(StoredRecord, Nearest)>, Degraded> {
        let inner = self.inner();
        let pieces = record_pieces(told, PIECE_WORDS);
        let text = match pieces.as_slice() {
            [] => return Ok(None),
            [text] => text,
            _ => {
                let why = format!("a text of more than {PIECE_WORDS} words is not compared");
                return Err(Degraded { stage: Stage::Embed, why });
            }
        };
        inner.can_search().map_err(|error| Degraded::new(Stage::Text, &error))?;
        let of_meaning = inner.indexes.iter().find(|index| index.as_vectors().is_some());
        let Some(index) = of_meaning.or(inner.completed()) else { return Ok(None) };
        let alike = match &index.kind {
            Kind::Vectors(vectors) => Box::pin(self.like_by_meaning(index, vectors, told, text)).await,
            Kind::Text(store) => Box::pin(self.like_by_words(index, store, told, text)).await,
        };
        let alike = alike.map_err(|error| Degraded::new(index.stage(), &error))?;
        let is_comparable = |(stored, _): &Like| {
            self.takes(stored, told) && !differ_in_particulars(&inner.analysis, &stored.record.text, &told.text)
        };
        let best =
            alike.into_iter().filter(is_comparable).max_by(|one, other| one.1.value().total_cmp(&other.1.value()));
        Ok(best.map(|(stored, similarity)| {
            let nearest = Nearest { id: stored.record.id, similarity, differs: false };
            (stored, nearest)
        }))
    }

    /// Returns the records that an index of vectors holds near `text`, and those that it may not have yet.
    async fn like_by_meaning(&self, index: &Index, vectors: &Vectors, told: &Record, text: &str) -> Result<Vec<Like>> {
        let inner = self.inner();
        let embedded = inner.in_time("embed", vectors.embed_texts(self.scope(), &[text])).await?;
        let Some(vector) = embedded.into_iter().next().filter(|vector| !vector.is_empty()) else {
            return Ok(Vec::new());
        };
        let written = self.unindexed(index);
        let (found, mut alike) = tokio::try_join!(
            self.indexed_like(vectors, told, &vector),
            self.unindexed_like(&written, vectors, told, &vector)
        )?;
        let ids: Vec<RecordId> = found.iter().map(|(id, _)| *id).collect();
        let stored = self.stored(&ids).await?.into_iter();
        alike.extend(stored.filter_map(|stored| {
            let (_, similarity) = found.iter().find(|(id, _)| *id == stored.record.id)?;
            Some((stored, *similarity))
        }));
        Ok(alike)
    }

    /// Returns the records that an index of words finds by those of `text`, and those that it may not have yet.
    async fn like_by_words(
        &self,
        index: &Index,
        store: &Arc<dyn TextStore>,
        told: &Record,
        text: &str,
    ) -> Result<Vec<Like>> {
        let inner = self.inner();
        // Whatever repeats a text holds nearly all of its words, so any of them find it.
        let terms = record_terms(&inner.analysis, told).into_iter().map(|(term, _)| term);
        let terms: Vec<Term> = terms.take(inner.limits.query_terms).collect();
        let mut ids = self.unindexed(index);
        if !terms.is_empty() {
            let query = TextQuery { terms, unit: Unit::Record, filter: self.comparable(told), limit: ASKED };
            let found = inner.in_time("search words", store.search(self.scope(), &query)).await?;
            ids.extend(found.hits.iter().filter_map(|hit| hit.item.as_record()));
        }
        ids.sort_unstable();
        ids.dedup();
        let words = HashEmbedder::new(DIMENSION);
        let Some(direction) = Direction::of(&words.vector(text)) else { return Ok(Vec::new()) };
        let stored = self.stored(&ids).await?.into_iter().filter(|stored| self.takes(stored, told));
        let like = |stored: StoredRecord| {
            let text = one(record_pieces(&stored.record, PIECE_WORDS))?;
            Some((stored, direction.similarity(&words.vector(&text))))
        };
        Ok(stored.filter_map(like).collect())
    }

    /// Returns the records that this process wrote and an index may not have yet.
    fn unindexed(&self, index: &Index) -> Vec<RecordId> {
        index.unindexed.of(self.scope(), None).iter().filter_map(ItemId::as_record).collect()
    }

    /// Returns the filter of the records that may take a telling of `told`, by what an index knows of them.
    fn comparable(&self, told: &Record) -> Filter {
        let agent = match &told.agent {
            Some(agent) => Filter::eq(Field::Agent, agent.as_str()),
            None => Filter::Exists(Field::Agent).negate(),
        };
        let trusted = Filter::range(Field::Trust, Some(Scalar::Int(told.first.trust as i64)), None);
        Filter::And(vec![
            Filter::eq(Field::Unit, Unit::Record.name()),
            Filter::eq(Field::Kind, told.kind.as_str()),
            agent,
            trusted,
            Filter::current(self.inner().clock.now()),
        ])
    }

    /// Returns the records that the index holds near `vector`.
    async fn indexed_like(
        &self,
        index: &Vectors,
        told: &Record,
        vector: &[f32],
    ) -> Result<Vec<(RecordId, Similarity)>> {
        let (inner, space) = (self.inner(), index.embedder.space().clone());
        let query = VectorQuery {
            space,
            vector: vector.to_vec(),
            filter: self.comparable(told),
            limit: ASKED,
            floor: None,
            with_vectors: false,
        };
        let hits = inner.in_time("search vectors", index.store.search(self.scope(), &query)).await?;
        Ok(hits.into_iter().filter_map(|hit| Some((hit.item.as_record()?, hit.similarity))).collect())
    }

    /// Returns those of the records `ids` that may take a telling of `told`, each with its similarity to `vector`.
    async fn unindexed_like(
        &self,
        ids: &[RecordId],
        index: &Vectors,
        told: &Record,
        vector: &[f32],
    ) -> Result<Vec<Like>> {
        let inner = self.inner();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let stored = self.stored(ids).await?.into_iter().filter(|stored| self.takes(stored, told));
        let (stored, texts): (Vec<StoredRecord>, Vec<String>) = stored
            .filter_map(|stored| {
                let text = one(record_pieces(&stored.record, PIECE_WORDS))?;
                Some((stored, text))
            })
            .unzip();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = inner.in_time("embed", index.embed_texts(self.scope(), &texts)).await?;
        let Some(direction) = Direction::of(vector) else { return Ok(Vec::new()) };
        let similarity = |vector: &Vec<f32>| normalise(vector).map(|unit| direction.similarity(&unit));
        let alike = stored.into_iter().zip(&vectors);
        Ok(alike.filter_map(|(stored, vector)| Some((stored, similarity(vector)?))).collect())
    }

    /// Returns whether a record may take a telling of `told`: it is current, of the same kind and agent, and its words have a warrant.
    /// What is not true yet takes only what is true from the same time on, and what is takes nothing that is not.
    fn takes(&self, stored: &StoredRecord, told: &Record) -> bool {
        let (record, now) = (&stored.record, self.inner().clock.now());
        let begins = |record: &Record| record.validity().0.filter(|from| *from > now);
        (&record.kind, &record.agent) == (&told.kind, &told.agent)
            && warrant(record, told).is_some()
            && begins(record) == begins(told)
            && !self.is_retired(stored)
            && !self.is_over(stored)
    }
}

/// Returns the telling of `record` that lets its words stand for those of `told`: one that is trusted no less, since the record has
/// the trust of `told` from then on, and belongs to no other session, since a telling falls with one alone. Of several the one with
/// the fewest sources: whatever takes it back has to take back `told` too.
///
/// Each telling either says the words of its record, or was told from the sources of one that does and is trusted no less.
fn warrant<'r>(record: &'r Record, told: &Record) -> Option<&'r Telling> {
    let is_of = |telling: &&Telling| {
        let is_within = |new: &Telling| telling.session.is_none() || telling.session == new.session;
        telling.trust >= told.first.trust && told.tellings().all(is_within)
    };
    record.tellings().filter(is_of).min_by_key(|telling| telling.sources.len())
}

/// Returns the only piece.
fn one(pieces: Vec<String>) -> Option<String> {
    <[String; 1]>::try_from(pieces).ok().map(|[piece]| piece)
}
