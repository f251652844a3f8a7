//! Asking the indexes: their answers to one question, before ranking.

use std::collections::BTreeSet;
use std::future::Future;

use foldhash::{HashMap, HashSet};
use tokio::time::timeout;

use crate::analysis::Period;
use crate::engine::event::Event;
use crate::engine::inner::{Index, Inner, Vectors, unbuilt};
use crate::engine::receipt::{Degraded, SearchReceipt, Stage};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, MessageId, Unit};
use crate::layer::cached::noting;
use crate::layer::within;
use crate::message::Role;
use crate::model::{Purpose, embed};
use crate::rank::{Decay, LegKind};
use crate::scope::Scope;
use crate::store::text::{Term, TextHits, TextQuery};
use crate::store::vectors::{VectorHit, VectorQuery};
use crate::time::{Stopwatch, Timestamp};

use super::asking::Asking;
use super::hydrate::note;
use super::question::Search;
use super::stages::{Stages, Took};
use super::terms::Terms;

/// The size of the candidate pool of each index, even if the memory's limit of results is lower.
const POOL: usize = 100;

/// The person and the times that a question names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The one participant it names.
    pub(crate) speaker: Option<String>,
    /// Whether it is about what the model said.
    pub(crate) the_model: bool,
    /// The times that it is about.
    pub(crate) times: Vec<Period>,
    /// Whether it is about nothing else than these times.
    pub(crate) is_of_a_time: bool,
    /// Whether it is a question, and no list of words.
    pub(crate) is_question: bool,
}

impl Asked {
    /// Returns the filter of what was said in the time that a question is about, if it is about nothing else: its words say nothing of
    /// the content, so similarity alone would not find it.
    fn filter(&self) -> Filter {
        let reach = match self.times.as_slice() {
            [time] if self.is_of_a_time => time.reach(),
            _ => None,
        };
        let of = |(first, last): (Timestamp, Timestamp)| {
            Filter::range(Field::At, Some(Scalar::Int(first.0)), Some(Scalar::Int(last.0)))
        };
        reach.map_or(Filter::All, of)
    }

    /// Returns how far something said at `at` is from the times of the question: 0 in them, 1 where people may still tell of them.
    pub(crate) fn distance(&self, at: Timestamp) -> u8 {
        let (holds, covers) = (|time: &Period| time.holds(at), |time: &Period| time.covers(at));
        if self.times.iter().any(holds) { 0 } else { 2 - u8::from(self.times.iter().any(covers)) }
    }
}

/// What the indexes answered, before fusion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Legs {
    pub(crate) terms: Vec<Term>,
    /// How many terms of the question were not searched for.
    pub(crate) left_out: usize,
    /// The words of the question that give the terms.
    pub(crate) words: Vec<String>,
    pub(crate) text: TextHits,
    /// The spans of conversation that hold the terms. They weigh in the ranking, and are no hits.
    pub(crate) spans: TextHits,
    pub(crate) vector: Vec<VectorHit>,
    /// The vector of the question in the space of the first index of vectors.
    pub(crate) sought: Option<Vec<f32>>,
    /// Which of the items found are notes, and how these grow old.
    pub(crate) notes: HashMap<ItemId, Decay>,
    pub(crate) asked: Asked,
    /// The importance of the records that were read, if the ranking heeds it.
    pub(crate) importance: HashMap<ItemId, f32>,
    /// How many candidates of each leg are ranked.
    pub(crate) limit: usize,
    /// How much each candidate tells that was looked at, beside what the question says.
    pub(crate) tells: HashMap<ItemId, f32>,
    pub(crate) degraded: Vec<Degraded>,
    /// How long the indexes took.
    pub(super) took: Took,
}

impl Legs {
    /// Returns the items found; one that both indexes found twice.
    fn items(&self) -> impl Iterator<Item = &ItemId> {
        self.text.hits.iter().map(|hit| &hit.item).chain(self.vector.iter().map(|hit| &hit.item))
    }

    /// Returns the messages found.
    pub(crate) fn messages(&self) -> impl Iterator<Item = MessageId> {
        self.items().filter_map(ItemId::as_message)
    }

    /// Returns what the indexes answered, for a receipt in which nothing is listed yet.
    pub(crate) fn receipt(&self) -> SearchReceipt {
        SearchReceipt {
            terms: self.terms.iter().map(|term| term.as_str().to_owned()).collect(),
            words: self.words.clone(),
            terms_left_out: self.left_out,
            speaker: self.asked.speaker.clone(),
            times: self.asked.times.iter().map(ToString::to_string).collect(),
            text_candidates: self.text.hits.len(),
            vector_candidates: self.vector.len(),
            notes: self.notes.len(),
            not_listed: self.items().collect::<HashSet<_>>().len(),
            degraded: self.degraded.clone(),
            stages: self.took.clone(),
            ..SearchReceipt::default()
        }
    }
}

impl Inner {
    /// Asks all indexes at once for what one owner has. A failing one is noted as degraded; the others answer.
    ///
    /// The speakers are known only from the hits by words. If the question names one of them, it is embedded again, as that
    /// speaker would say it.
    pub(crate) async fn legs(&self, scope: &Scope, asking: &Asking<'_>) -> Legs {
        let stages = Stages::default();
        let (search, filter) = (asking.search, asking.filter);
        let Terms { sought: terms, left_out, words } = asking.terms.clone();
        let limit = search.rule().candidates(search.limit).min(self.limits.results.max(POOL));
        let weighs = search.rule().weighs_context();
        let of_unit = |unit| {
            let query = TextQuery { terms: terms.clone(), unit, filter: filter.clone(), limit };
            self.text_leg(scope, query, search.searches(unit), &stages)
        };
        let spans = TextQuery { terms: terms.clone(), unit: Unit::Span, filter: Filter::All, limit };
        let spans = self.text_leg(scope, spans, weighs && search.searches(Unit::Message), &stages);
        // Smoothing needs the neighbours of near messages among the candidates, so more of them are asked for.
        let near = limit.saturating_mul(if weighs { 2 } else { 1 });
        let times = if weighs { self.times(search) } else { Asked::default() };
        let then = times.filter();
        let vector = noting(Box::pin(self.vector_leg((scope, &stages), asking, (None, &then), near)));
        let (messages, records, spans, ((mut sought, vector), uncached)) =
            tokio::join!(of_unit(Unit::Message), of_unit(Unit::Record), spans, vector);

        let mut degraded: Vec<Degraded> = uncached.iter().map(|error| Degraded::new(Stage::Cache, error)).collect();
        let mut taken =
            |found: Result<TextHits>| found.unwrap_or_else(|error| note(&mut degraded, Stage::Text, &error));
        let mut text = pool(terms.len(), taken(messages), taken(records));
        text.hits.retain(|hit| !is_instruction(&hit.fields));
        let spans = taken(spans);
        let asked = if weighs { self.asked(search, &text, times) } else { Asked::default() };
        let vector = match self.rewritten(search, &asked) {
            Some(words) => {
                let words = (Some(words.as_str()), &then);
                let again = Box::pin(self.vector_leg((scope, &stages), asking, words, near));
                let (again, vector) = again.await;
                sought = again.or(sought);
                vector
            }
            None => vector,
        };
        let mut vector = vector.unwrap_or_else(|(stage, error)| note(&mut degraded, stage, &error));
        vector.retain(|hit| !is_instruction(&hit.fields));
        degraded.extend(self.disabled());
        degraded.extend(self.can_search().err().map(|error| Degraded::new(Stage::Text, &error)));
        let behind = self.behind_for_ever().filter(|index| self.answers(index));
        degraded.extend(behind.map(|index| Degraded::new(index.stage(), &unbuilt())));
        degraded.dedup();
        let took = stages.took();
        Legs { terms, left_out, words, text, spans, vector, sought, asked, limit, degraded, took, ..Legs::default() }
    }

    /// Returns `Ok` if there is any index to search.
    pub(crate) fn can_search(&self) -> Result<()> {
        if !self.indexes.is_empty() {
            return Ok(());
        }
        if let Some(disabled) = self.stores.disabled.first() {
            return Err(disabled.why.clone());
        }
        let what = "search: there is no index of words; say where one is by MEMORY_TEXT_URL or `Settings::with_text`";
        Err(Error::Unsupported { backend: self.chat.store().backend(), what: what.to_owned() })
    }

    /// Returns the searches that are switched off by their settings.
    fn disabled(&self) -> impl Iterator<Item = Degraded> {
        let stage = |part| if part == "vectors" { Stage::Vector } else { Stage::Text };
        self.stores.disabled.iter().map(move |disabled| Degraded::new(stage(disabled.part), &disabled.why))
    }

    /// Returns whom the question names, beside the `times`. Only speakers of the hits by words count as persons.
    fn asked(&self, search: &Search, text: &TextHits, times: Asked) -> Asked {
        let persons = text.hits.iter().filter(|hit| hit.fields.role == Some(Role::User));
        let speakers: BTreeSet<&str> = persons.filter_map(|hit| hit.fields.speaker.as_deref()).collect();
        // Where messages have speakers, "you" may be any of them.
        let is_addressed = speakers.is_empty() && self.analysis.addresses_the_asked(&search.words);
        let the_model = is_addressed || self.analysis.names_the_model(&search.words);
        let speaker = self.analysis.named(&search.words, speakers).map(str::to_owned);
        Asked { speaker, the_model, ..times }
    }

    /// Returns the times that a question is about, and whether it is about nothing else.
    fn times(&self, search: &Search) -> Asked {
        let now = search.asked_at.or(search.as_of).unwrap_or_else(|| self.clock.now());
        let times = self.analysis.times(&search.words, now);
        let is_of_a_time = !times.is_empty() && self.analysis.asks_for_a_time_alone(&search.words);
        Asked { times, is_of_a_time, is_question: self.analysis.asks(&search.words), ..Asked::default() }
    }

    /// Returns the question in the first person of the participant it names; none if it is to be embedded as it stands.
    fn rewritten(&self, search: &Search, asked: &Asked) -> Option<String> {
        let is_embedded = self.vectors().is_some() && search.vector.is_none() && search.rule().counts(LegKind::Vector);
        let speaker = asked.speaker.as_deref().filter(|_| is_embedded)?;
        self.analysis.in_first_person(&search.words, speaker)
    }

    pub(super) fn text_leg(
        &self,
        scope: &Scope,
        query: TextQuery,
        is_sought: bool,
        stages: &Stages,
    ) -> impl Future<Output = Result<TextHits>> {
        let store = self.text().filter(|_| is_sought && !query.terms.is_empty());
        async move {
            let Some(store) = store else { return Ok(TextHits::default()) };
            stages.time(Stage::Text, self.in_time("search words", store.search(scope, &query))).await
        }
    }

    /// Searches by meaning, at once in all and in what matches `then`, whose hits count first: by that of the `rewritten` words, if
    /// there are any, else by that of the question. Returns the vector of the question too, if the first index of vectors has its space.
    async fn vector_leg(
        &self,
        (scope, stages): (&Scope, &Stages),
        asking: &Asking<'_>,
        (rewritten, then): (Option<&str>, &Filter),
        limit: usize,
    ) -> (Option<Vec<f32>>, std::result::Result<Vec<VectorHit>, (Stage, Error)>) {
        let (search, filter) = (asking.search, asking.filter);
        let (index, vector) = match self.sought(stages, asking, rewritten).await {
            Ok(Some(found)) => found,
            Ok(None) => return (None, Ok(Vec::new())),
            Err(failure) => return (None, Err(failure)),
        };
        let space = search.vector.as_ref().map_or_else(|| index.embedder.space(), |(space, _)| space).clone();
        let is_first = self.vectors().is_some_and(|first| *first.embedder.space() == space);
        let sought = is_first.then(|| vector.clone());
        let units = search.units.iter().map(|unit| Scalar::from(unit.name())).collect();
        let filter = filter.clone().and(Filter::In(Field::Unit, units));
        let then = (*then != Filter::All).then(|| filter.clone().and(then.clone()));
        let query = VectorQuery { space, vector, filter, limit, floor: None, with_vectors: false };
        let search = async {
            let Some(then) = then else { return index.store.search(scope, &query).await };
            let narrow = VectorQuery { filter: then, ..query.clone() };
            let (hits, others) = tokio::join!(index.store.search(scope, &narrow), index.store.search(scope, &query));
            let mut hits = hits?;
            if hits.len() < limit {
                // The nearest of other times fill the rest. The ranking puts what was said then before them.
                let known: HashSet<ItemId> = hits.iter().map(|hit| hit.item.clone()).collect();
                hits.extend(others?.into_iter().filter(|hit| !known.contains(&hit.item)));
                hits.sort_by(|one, other| other.similarity.value().total_cmp(&one.similarity.value()));
            }
            Ok(hits)
        };
        let hits = stages.time(Stage::Vector, self.in_time("search vectors", search)).await;
        (sought, hits.map_err(|error| (Stage::Vector, error)))
    }

    /// Returns the index to search by meaning, and the vector to search it with; none if there is nothing to search by.
    async fn sought(
        &self,
        stages: &Stages,
        asking: &Asking<'_>,
        rewritten: Option<&str>,
    ) -> std::result::Result<Option<(&Vectors, Vec<f32>)>, (Stage, Error)> {
        let search = asking.search;
        let asked = search.vector.as_ref().and_then(|(space, _)| {
            let mut indexes = self.indexes.iter().filter_map(Index::as_vectors);
            indexes.find(|index| index.store.space() == space)
        });
        let Some(index) = asked.or_else(|| self.vectors()) else {
            let what = "search by a vector: it has no index of vectors".to_owned();
            let error = Error::Unsupported { backend: "memory", what };
            return if search.vector.is_some() { Err((Stage::Vector, error)) } else { Ok(None) };
        };
        if !search.rule().counts(LegKind::Vector) {
            return Ok(None);
        }
        if let Some((_, vector)) = &search.vector {
            return Ok(Some((index, vector.clone())));
        }
        let words = rewritten.unwrap_or(&search.words);
        let embedded = if search.sharing.is_empty() {
            self.embedded(stages, asking, index, words).await
        } else {
            // The owners are asked at the same time: who comes first embeds for all.
            let vector = asking.vector_of(words);
            vector.get_or_init(|| self.embedded(stages, asking, index, words)).await.clone()
        };
        let vector = embedded.map_err(|error| (Stage::Embed, error))?;
        // Without a vector, the embedder knows nothing of these words.
        Ok((!vector.is_empty()).then_some((index, vector)))
    }

    /// Returns the vector of a query within the time of a search. An embedder that did not answer for the question just before is
    /// not waited for again.
    async fn embedded(&self, stages: &Stages, asking: &Asking<'_>, index: &Vectors, words: &str) -> Result<Vec<f32>> {
        if let Some(error) = asking.unembedded {
            let look_up = index.kept.look_up(asking.asker, &[words], Purpose::Query);
            if !look_up.missing().is_empty() {
                return Err(error.clone());
            }
        }
        stages.time(Stage::Embed, self.in_time("embed", self.embed_query(asking.asker, index, words))).await
    }

    /// Returns the vector of a query: from this process, else from the cache, else from the embedder.
    pub(crate) async fn embed_query(&self, scope: &Scope, index: &Vectors, words: &str) -> Result<Vec<f32>> {
        let mut vectors = self.embed_queries(scope, index, &[words]).await?;
        vectors.pop().ok_or_else(|| Error::invalid("the embedder gave no vector"))
    }

    /// Returns the vectors of queries, as of one. The embedder makes those that are missing in one batch.
    async fn embed_queries(&self, scope: &Scope, index: &Vectors, words: &[&str]) -> Result<Vec<Vec<f32>>> {
        let (embedder, watch) = (&index.embedder, Stopwatch::start());
        let look_up = index.kept.look_up(scope, words, Purpose::Query);
        let missing = look_up.missing();
        let made = match &self.cache {
            _ if missing.is_empty() => Vec::new(),
            Some(cache) => cache.embed_queries(scope, embedder, &missing).await?,
            None => embed(embedder, &missing, Purpose::Query).await?,
        };
        if !made.is_empty() {
            self.tell(Some(scope), &Event::Embedded { texts: made.len(), took_micros: watch.micros() });
        }
        index.kept.complete(embedder.as_ref(), look_up, made)
    }

    /// Embeds the words of several questions in one batch, for their searches to find the vectors in this process. If they are refused,
    /// each search embeds its own words, and its receipt tells how that went: one text that is refused keeps the others from nothing.
    /// If the embedder does not answer now, it returns why: then the searches do not wait for it one by one.
    pub(crate) async fn embed_ahead(&self, scope: &Scope, searches: &[Search]) -> Option<Error> {
        let index = self.vectors()?;
        let is_embedded = |search: &&Search| {
            let ranking = search.ranking.unwrap_or(self.buffers.common.ranking);
            search.vector.is_none() && !search.is_without_words() && ranking.counts(LegKind::Vector)
        };
        let words: Vec<&str> = searches.iter().filter(is_embedded).map(|search| search.words.as_str()).collect();
        if words.len() < 2 || !index.kept.holds(words.len()) {
            return None;
        }
        let error = self.in_time("embed", self.embed_queries(scope, index, &words)).await.err()?;
        tracing::debug!(%error, "embedded no questions ahead");
        error.is_retryable().then_some(error)
    }

    /// Gives a read the deadline of a search, and tells its guards.
    pub(crate) async fn in_time<T>(&self, doing: &'static str, read: impl Future<Output = Result<T>>) -> Result<T> {
        timeout(self.patience, within(self.patience, read)).await.map_err(|_| Error::timed_out("search", doing))?
    }
}

/// Returns whether it is an instruction, which is no hit. Nothing indexes them any more, but an old index may hold some.
fn is_instruction(fields: &Fields) -> bool {
    fields.role.is_some_and(Role::is_instruction)
}

/// Merges the hits among two kinds of items into one collection, with their statistics added up.
pub(super) fn pool(terms: usize, first: TextHits, second: TextHits) -> TextHits {
    let documents = first.documents + second.documents;
    let words = |hits: &TextHits| f64::from(hits.mean_length) * hits.documents as f64;
    let mean = (words(&first) + words(&second)) / documents.max(1) as f64;
    let count = |hits: &TextHits, term: usize| hits.containing.get(term).copied().unwrap_or(0);
    let containing = (0..terms).map(|term| count(&first, term) + count(&second, term)).collect();
    let hits = first.hits.into_iter().chain(second.hits).collect();
    TextHits { documents, mean_length: mean as f32, containing, hits }
}
