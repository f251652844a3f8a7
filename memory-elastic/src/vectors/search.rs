//! The search: the server compares, the order of ties is made here.
//!
//! The server cuts its list of the nearest wherever it likes among equals. So a few more are asked for than wanted; if
//! the last of them is as near as the last one wanted, there may be more such, and more are asked for. It lists 10,000 at
//! the most: what is more is asked for in parts, over a number that spreads items evenly.
//!
//! Which piece of an item is the nearest takes the server a search for each item, longer than all the rest together. Most
//! items have one piece: it is asked for of the others alone, by a second search.

use futures_util::future::try_join;
use memory_core::Scope;
use memory_core::error::Result;
use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::{Similarity, normalise};
use serde_json::{Value, json};

use super::hit::{Near, SEARCH, hits, near, whole};
use crate::document::{SLOTS, of_owner};
use crate::error::garbled;
use crate::filter::compile;
use crate::index::Index;

/// The most items that the server lists.
const MOST: usize = 10_000;

/// How many items a part holds in the mean; few enough that none holds more than the server lists.
const PART: u64 = 8_000;

/// How many items are read again at once.
const WHOLE: usize = 1_000;

/// How many items more than wanted are asked for at first.
const MARGIN: usize = 16;

struct Question<'a> {
    index: &'a Index,
    scope: &'a Scope,
    query: &'a VectorQuery,
    sought: Vec<f32>,
    filter: Value,
}

/// What is known of an owner's items.
struct Census {
    items: u64,
    /// The owner is erased below this epoch.
    below: u64,
}

/// Returns the hits of a query that was checked.
pub(super) async fn search(index: &Index, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    let Some(sought) = normalise(&query.vector) else { return Ok(Vec::new()) };
    let question = Question { index, scope, query, sought, filter: compile(&query.filter)? };
    let (Census { items, below }, mut nearest) = try_join(question.census(), question.nearest(0)).await?;
    // Something of an erased epoch: left by a process that ended between writing it and taking it back, or written between the
    // two requests and not taken back yet.
    if nearest.iter().flatten().any(|near| near.epoch < below) {
        nearest = question.nearest(below).await?;
    }
    let nearest = match nearest {
        Some(nearest) => nearest,
        None => question.in_parts(below, items).await?,
    };
    question.whole(nearest, below).await
}

impl Question<'_> {
    async fn ask(&self, body: Value) -> Result<Value> {
        self.index.search(self.scope.key(), body, SEARCH).await
    }

    /// Asks for `count` hits; none if that is too much for one answer.
    async fn part(&self, count: usize, body: Value) -> Result<Option<Value>> {
        self.index.search_part(self.scope.key(), body, count, SEARCH).await
    }

    async fn census(&self) -> Result<Census> {
        let body = json!({
            "size": 0,
            "track_total_hits": true,
            "query": { "bool": { "filter": [of_owner(self.scope)] } },
            "aggs": { "below": { "max": { "field": "below" } } },
        });
        let answer = self.ask(body).await?;
        let items = answer.pointer("/hits/total/value").and_then(Value::as_u64).ok_or_else(|| garbled(SEARCH))?;
        let below = answer.pointer("/aggregations/below/value").and_then(Value::as_f64).unwrap_or_default() as u64;
        Ok(Census { items, below })
    }

    /// Returns the nearest items, in order and as many as wanted; none if the server cannot list enough of them.
    async fn nearest(&self, since: u64) -> Result<Option<Vec<Near>>> {
        let wanted = self.query.limit;
        let first = wanted.saturating_add(MARGIN).min(MOST);
        let mut count = first;
        loop {
            let found = self.list(since, count, None, count == first).await?;
            let is_all = found.len() < count;
            let last_wanted = wanted.checked_sub(1).and_then(|last| found.get(last));
            let is_cut_among_equals = last_wanted.zip(found.last()).is_none_or(|(a, b)| a.similarity == b.similarity);
            if is_all || !is_cut_among_equals || self.is_below_floor(found.last()) {
                return Ok(Some(self.best(found)));
            }
            if count == MOST {
                return Ok(None);
            }
            count = count.saturating_mul(8).min(MOST);
        }
    }

    /// Returns the nearest items of an owner who has more than the server lists.
    async fn in_parts(&self, since: u64, items: u64) -> Result<Vec<Near>> {
        // At least two: the whole was too much.
        let parts = u32::try_from(items / PART + 2).unwrap_or(SLOTS).min(SLOTS);
        let bound = |part: u32| u64::from(part) * u64::from(SLOTS) / u64::from(parts);
        let mut found = Vec::new();
        for part in 0..parts {
            found.extend(self.list(since, MOST, Some((bound(part), bound(part + 1))), false).await?);
        }
        Ok(self.best(found))
    }

    fn best(&self, mut found: Vec<Near>) -> Vec<Near> {
        found.retain(|near| !self.is_below_floor(Some(near)));
        found.sort_by(Near::order);
        found.truncate(self.query.limit);
        found
    }

    fn is_below_floor(&self, near: Option<&Near>) -> bool {
        let floor = self.query.floor.map(Similarity::value);
        near.zip(floor).is_some_and(|(near, floor)| near.similarity.value() < floor)
    }

    /// Returns the nearest items of the slots given, nearest first; with all that is asked for if they are likely hits, unless
    /// that is too much for one answer.
    async fn list(&self, since: u64, count: usize, slots: Option<(u64, u64)>, is_likely: bool) -> Result<Vec<Near>> {
        let mut conditions = self.conditions(since);
        if let Some((from, until)) = slots {
            conditions.push(json!({ "range": { "slot": { "gte": from, "lt": until } } }));
        }
        let likely = match is_likely {
            true => self.part(count, self.body(count, &conditions, &self.source(), false)).await?,
            false => None,
        };
        let is_whole = likely.is_some();
        let answer = match likely {
            Some(answer) => answer,
            None => self.ask(self.body(count, &conditions, &json!(false), false)).await?,
        };
        let read = |hit| if is_whole { whole(hit, self.query.with_vectors) } else { near(hit) };
        let mut found = hits(&answer).map(read).collect::<Result<Vec<_>>>()?;
        found.sort_by(Near::order);
        Ok(found)
    }

    /// What is read of a document.
    fn source(&self) -> Value {
        // Named outright: newer servers leave vectors out otherwise.
        if self.query.with_vectors { json!(["body", "pieces.v"]) } else { json!(["body"]) }
    }

    fn conditions(&self, since: u64) -> Vec<Value> {
        vec![of_owner(self.scope), json!({ "range": { "epoch": { "gte": since } } }), self.filter.clone()]
    }

    fn body(&self, count: usize, conditions: &[Value], source: &Value, with_nearest_piece: bool) -> Value {
        let mut knn = json!({
            "field": "pieces.v",
            "query_vector": self.sought,
            "k": count,
            "num_candidates": count,
            "filter": conditions,
        });
        if let Some(knn) = knn.as_object_mut().filter(|_| with_nearest_piece) {
            knn.insert("inner_hits".to_owned(), json!({ "size": 1, "_source": false }));
        }
        json!({ "size": count, "knn": knn, "_source": source, "docvalue_fields": ["item", "at", "epoch", "parts"] })
    }

    /// Returns the hits, of which those that are not whole yet are read again, with their nearest piece and what filters
    /// see. Those that were deleted meanwhile are missing.
    async fn whole(&self, nearest: Vec<Near>, since: u64) -> Result<Vec<VectorHit>> {
        let (mut found, others): (Vec<Near>, Vec<Near>) = nearest.into_iter().partition(|near| near.whole.is_some());
        let body = |part: &[Near]| {
            let keys: Vec<&str> = part.iter().map(|near| near.key.as_str()).collect();
            let mut conditions = self.conditions(since);
            conditions.push(json!({ "terms": { "item": keys } }));
            self.body(part.len(), &conditions, &self.source(), true)
        };
        let read =
            |answer: &Value| hits(answer).map(|hit| whole(hit, self.query.with_vectors)).collect::<Result<Vec<_>>>();
        found.extend(self.index.search_items(self.scope.key(), (others.as_slice(), WHOLE), body, read, SEARCH).await?);
        Ok(self.best(found).into_iter().filter_map(|near| near.whole).collect())
    }
}
