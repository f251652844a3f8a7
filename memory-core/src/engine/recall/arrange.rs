//! The second stage of ranking, over candidates whose text was read: a reranker judges the best, and near-duplicates stand behind
//! what adds something.

use foldhash::HashSet;

use crate::analysis::Analysis;
use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::engine::receipt::Stage;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::model::apart;
use crate::rank::mmr;
use crate::scope::Scope;
use crate::store::text::Term;

use super::each::OfEach;
use super::hydrate::{Hydrated, note};
use super::legs::Legs;
use super::passage::LOOKED_AT;
use super::question::Search;
use super::rank::{Candidate, rank};
use super::stages::{Stages, longest};

/// How many candidates are arranged for each hit, at least [`LOOKED_AT`] and at most [`MOST`].
const EACH: usize = 2;

/// How many candidates are arranged at most: each is compared with each.
const MOST: usize = 200;

/// How many bytes of a text a reranker reads: models of this kind take about 512 tokens.
const READ_BYTES: usize = 4_096;

impl Inner {
    /// Returns the candidates, best first: by the ranking, then by the reranker, then with near-duplicates behind others.
    ///
    /// A reranker that fails is noted in `read` as degraded, and the order of the ranking stands.
    pub(crate) async fn arranged(
        &self,
        scope: &Scope,
        search: &Search,
        filter: &Filter,
        legs: &OfEach<Legs>,
        read: &mut OfEach<Hydrated>,
    ) -> Vec<Candidate> {
        let mut candidates = rank(search, legs, self.clock.now());
        if self.reranker.is_none() && search.mmr.is_none() {
            return candidates;
        }
        let count = search.limit.saturating_mul(EACH).clamp(LOOKED_AT, MOST).min(candidates.len());
        let rest = candidates.split_off(count);
        self.hydrate_each(scope, candidates.iter(), filter, read).await;
        let stages = Stages::default();
        if let Err(error) = self.rerank(search, &mut candidates, read, &stages).await {
            note::<()>(&mut read.own.degraded, Stage::Rerank, &error);
        }
        longest(&mut read.own.took, stages.took());
        if let Some(lambda) = search.mmr {
            candidates = diverse(&candidates, lambda, read, &self.analysis);
        }
        candidates.extend(rest);
        candidates
    }

    /// Puts the candidates that were read into the order of the reranker, before those that were not.
    async fn rerank(
        &self,
        search: &Search,
        candidates: &mut [Candidate],
        read: &OfEach<Hydrated>,
        stages: &Stages,
    ) -> Result<()> {
        let Some(reranker) = self.reranker.clone().filter(|_| !search.words.trim().is_empty()) else { return Ok(()) };
        let (mut judged, texts): (Vec<&mut Candidate>, Vec<String>) = candidates
            .iter_mut()
            .filter_map(|candidate| {
                let text = beginning(content(read, candidate)?.text());
                Some((candidate, text))
            })
            .unzip();
        if judged.is_empty() {
            return Ok(());
        }
        let (question, count) = (search.words.clone(), judged.len());
        let call = async move {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            reranker.rerank(&question, &texts).await
        };
        let scores = self.in_time("rerank", apart("reranker", "rerank", call));
        let scores = stages.time(Stage::Rerank, scores).await?;
        if scores.len() != count || scores.iter().any(|score| score.is_nan()) {
            return Err(Error::invalid(format!(
                "the reranker gave {} scores for {count} texts, or no number",
                scores.len()
            )));
        }
        for (candidate, score) in judged.iter_mut().zip(scores) {
            candidate.signals.reranked = Some(score);
        }
        let score = |candidate: &Candidate| candidate.signals.reranked.unwrap_or(f32::NEG_INFINITY);
        candidates.sort_by(|one, other| score(other).total_cmp(&score(one)));
        Ok(())
    }
}

/// Returns the content of a candidate that was read.
fn content<'a>(read: &'a OfEach<Hydrated>, candidate: &Candidate) -> Option<&'a Content> {
    read.get(candidate.shared_by.as_ref())?.get(&candidate.item)
}

/// Returns the beginning of a text that a reranker reads.
fn beginning(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(READ_BYTES));
    text
}

/// Returns the candidates in the order of maximal marginal relevance. Two texts are as similar as the share of their words that
/// both hold (Jaccard's index), so no vectors are read for it.
fn diverse(candidates: &[Candidate], lambda: f32, read: &OfEach<Hydrated>, analysis: &Analysis) -> Vec<Candidate> {
    let words = |found: &Candidate| -> HashSet<Term> {
        let text = content(read, found).map(Content::text).unwrap_or_default();
        analysis.document(&text).into_iter().map(|(term, _)| term).collect()
    };
    let words: Vec<HashSet<Term>> = candidates.iter().map(words).collect();
    let similarity =
        |one: usize, other: usize| words.get(one).zip(words.get(other)).map_or(0.0, |(one, other)| jaccard(one, other));
    let judged = |found: &Candidate| found.signals.reranked.unwrap_or(found.signals.score);
    let relevance = scaled(&candidates.iter().map(judged).collect::<Vec<f32>>());
    let order = mmr(&relevance, similarity, lambda, candidates.len());
    order.into_iter().filter_map(|place| candidates.get(place).cloned()).collect()
}

/// Returns the scores scaled to 0 to 1, as similarities are; 1 where all are equal.
fn scaled(scores: &[f32]) -> Vec<f32> {
    let scores = scores.iter().map(|score| score.clamp(f32::MIN / 4.0, f32::MAX / 4.0));
    let (least, most) =
        scores.clone().fold((f32::MAX, f32::MIN), |(least, most), score| (least.min(score), most.max(score)));
    let width = most - least;
    scores.map(|score| if width > 0.0 { (score - least) / width } else { 1.0 }).collect()
}

fn jaccard(one: &HashSet<Term>, other: &HashSet<Term>) -> f32 {
    let both = one.intersection(other).count();
    let any = one.len() + other.len() - both;
    if any == 0 { 0.0 } else { both as f32 / any as f32 }
}
