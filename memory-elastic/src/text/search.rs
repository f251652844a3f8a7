//! The search: the server finds, core ranks.
//!
//! The best hits by core's score are asked for, and no score of the server bounds that one: its statistics are those of
//! all owners. So the evidence of *everything* that matches is read, a column per term of the query, in pages of 10,000,
//! and what filters see is read of the first 1,000 or of the best only. One request does for up to 1,000 matches. Where an answer
//! would be longer than what is read of one, fewer are asked for at once.

use memory_core::error::Result;
use memory_core::store::text::{Term, TextHits, TextQuery};
use memory_core::{Error, Scope};
use serde_json::{Value, json};

use super::hit::{Candidate, SEARCH, Statistics, candidates};
use crate::document::{of_owner, of_unit};
use crate::error::{BACKEND, garbled};
use crate::filter::compile;
use crate::index::Index;

/// How many hits the first request reads, with what filters see of them.
const FIRST: usize = 1_000;

/// How many hits one request reads at the most: the server's own limit.
const PAGE: usize = 10_000;

/// How many terms a query has at the most for which a request reads so many hits. For more it reads fewer, each with more columns.
const PAGE_TERMS: usize = 64;

/// How many hits one request reads at the least.
const LEAST: usize = 100;

/// The most terms of a query: each is a column to read and a bucket to count.
const MAX_TERMS: usize = 16_000;

/// A question in the server's words.
struct Question<'a> {
    index: &'a Index,
    scope: &'a Scope,
    query: &'a TextQuery,
    /// The condition that an item holds one of the terms and may be returned.
    matching: Value,
}

/// Returns the evidence for a query whose limit is not 0.
pub(super) async fn search(index: &Index, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
    if query.terms.len() > MAX_TERMS {
        return Err(Error::Unsupported { backend: BACKEND, what: format!("search for more than {MAX_TERMS} terms") });
    }
    let words: Vec<&str> = query.terms.iter().map(Term::as_str).collect();
    let holds = json!({ "bool": {
        "should": [{ "terms": { "own": words } }, { "terms": { "near": words } }],
        "minimum_should_match": 1,
    }});
    let matching = json!({ "bool": { "filter": [of_unit(query.unit), holds, compile(&query.filter)?] } });
    Question { index, scope, query, matching }.answer().await
}

impl Question<'_> {
    async fn answer(&self) -> Result<TextHits> {
        let mut since = 0;
        loop {
            let count = FIRST.min(self.page());
            let answer = match self.part(count, self.first(since, count)).await? {
                Some(answer) => answer,
                // The hits are read in parts, as where there are more of them.
                None => self.ask(self.first(since, 0)).await?,
            };
            let statistics = Statistics::read(&answer, self.query.terms.len())?;
            // Something of an erased epoch, left by a process that ended between writing it and taking it back.
            if statistics.below > since && statistics.oldest.is_some_and(|oldest| oldest < statistics.below) {
                since = statistics.below;
                continue;
            }
            let first = candidates(&answer, &self.query.terms)?;
            if statistics.matches <= first.len() as u64 {
                let best = statistics.best(first, self.query.limit);
                return statistics.with(best);
            }
            // What is read from here on may have been written since, of an epoch that was erased.
            let all = self.all(statistics.below, statistics.matches).await?;
            let best = statistics.best(all, self.query.limit);
            let best = statistics.best(self.whole(best, statistics.below).await?, self.query.limit);
            return statistics.with(best);
        }
    }

    async fn ask(&self, body: Value) -> Result<Value> {
        self.index.search(self.scope.key(), body, SEARCH).await
    }

    /// Asks for `count` hits; none if that is too much for one answer.
    async fn part(&self, count: usize, body: Value) -> Result<Option<Value>> {
        self.index.search_part(self.scope.key(), body, count, SEARCH).await
    }

    /// Returns how many hits one request reads.
    fn page(&self) -> usize {
        (PAGE * PAGE_TERMS / self.query.terms.len().max(PAGE_TERMS)).max(LEAST)
    }

    /// Asks for the statistics of all of the owner's items of the unit, and for the first `count` hits.
    ///
    /// The hits are chosen behind the aggregations, so that what the filter hides counts in the statistics.
    fn first(&self, since: u64, count: usize) -> Value {
        let containing: Vec<Value> =
            self.query.terms.iter().map(|term| json!({ "term": { "own": term.as_str() } })).collect();
        let mut unit = json!({
            "oldest": { "min": { "field": "epoch" } },
            "length": { "sum": { "field": "length" } },
        });
        if let Some(unit) = unit.as_object_mut()
            && !containing.is_empty()
        {
            unit.insert("terms".to_owned(), json!({ "filters": { "filters": containing } }));
        }
        json!({
            "size": count,
            "track_total_hits": true,
            "query": self.of_owner(since),
            "post_filter": self.matching,
            "sort": ["_doc"],
            "_source": ["body"],
            "docvalue_fields": self.columns(),
            "aggs": {
                "below": { "max": { "field": "below" } },
                "unit": { "filter": of_unit(self.query.unit), "aggs": unit },
            },
        })
    }

    /// The owner's items, and what tells below which epoch they are erased.
    fn of_owner(&self, since: u64) -> Value {
        if since == 0 {
            return json!({ "bool": { "filter": [of_owner(self.scope)] } });
        }
        let older = json!({ "range": { "epoch": { "lt": since } } });
        json!({ "bool": { "filter": [of_owner(self.scope)], "must_not": [older] } })
    }

    fn columns(&self) -> Vec<Value> {
        let columns = ["item", "at", "length"].into_iter().map(Value::from);
        columns.chain(self.query.terms.iter().map(|term| column(term.as_str()))).collect()
    }

    /// Reads the evidence of everything that matches, which were so many just now.
    async fn all(&self, since: u64, matches: u64) -> Result<Vec<Candidate>> {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        // One more than there are: the first page that is not full is the last one.
        let mut size = self.page().min(usize::try_from(matches).unwrap_or(PAGE).saturating_add(1));
        loop {
            let mut body = json!({
                "size": size,
                "track_total_hits": false,
                "query": { "bool": { "filter": [self.of_owner(since), self.matching] } },
                "sort": [{ "item": "asc" }],
                "_source": false,
                "docvalue_fields": self.columns(),
            });
            if let (Some(after), Some(body)) = (&after, body.as_object_mut()) {
                body.insert("search_after".to_owned(), json!([after]));
            }
            let Some(answer) = self.part(size, body).await? else {
                size /= 2;
                continue;
            };
            let page = candidates(&answer, &self.query.terms)?;
            let is_last = page.len() < size;
            after = page.last().map(|last| last.key.clone());
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Reads some candidates again, with what filters see of them. Those that were deleted meanwhile are missing.
    async fn whole(&self, best: Vec<Candidate>, since: u64) -> Result<Vec<Candidate>> {
        let body = |part: &[Candidate]| {
            let keys: Vec<&str> = part.iter().map(|found| found.key.as_str()).collect();
            let these = json!({ "terms": { "item": keys } });
            json!({
                "size": part.len(),
                "track_total_hits": false,
                "query": { "bool": { "filter": [self.of_owner(since), self.matching, these] } },
                "sort": ["_doc"],
                "_source": ["body"],
                "docvalue_fields": self.columns(),
            })
        };
        let read = |answer: &Value| candidates(answer, &self.query.terms);
        let parts = (best.as_slice(), FIRST.min(self.page()));
        let whole = self.index.search_items(self.scope.key(), parts, body, read, SEARCH).await?;
        if whole.is_empty() && !best.is_empty() {
            return Err(garbled(SEARCH));
        }
        Ok(whole)
    }
}

/// Returns the name of the column with an item's counts of a term.
fn column(term: &str) -> Value {
    json!(format!("counts.{term}"))
}
