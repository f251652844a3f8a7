//! Reading an index: searches within one owner, and documents by id.

use elasticsearch::http::Method;
use memory_core::error::Result;
use serde_json::{Value, json};

use super::Index;
use crate::error::{Doing, Fault, garbled, kind_of};
use crate::transport::{Body, Request};

/// A document as it is stored now, findable or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) seq_no: i64,
    pub(crate) primary_term: i64,
    /// The number of the field that was asked for.
    pub(crate) number: i64,
}

/// What answers to searches hold.
const SEARCH_PATH: &str = "hits.total.value,hits.hits._id,hits.hits._score,hits.hits._seq_no,\
    hits.hits._primary_term,hits.hits._source,hits.hits.fields,hits.hits.sort,\
    hits.hits.inner_hits.*.hits.hits._nested.offset,aggregations";

/// The most bytes that are read of an answer in place of which several shorter ones can be had. A client's time is up long before
/// it has read as much as it may of one answer.
const PART_BYTES: usize = 16 << 20;

/// How many documents are read by id at once.
const LOOK: usize = 1_000;

impl Index {
    /// Searches what is stored under `routing`. An answer without some shard is an error, never a part.
    pub(crate) async fn search(&self, routing: &str, body: Value, doing: &'static str) -> Result<Value> {
        self.ask_search(routing, body, usize::MAX).await.doing(doing)
    }

    /// Searches like [`Self::search`], for `count` hits; none if the answer is longer than a part is to be, and one with fewer
    /// hits would be shorter.
    pub(crate) async fn search_part(
        &self,
        routing: &str,
        body: Value,
        count: usize,
        doing: &'static str,
    ) -> Result<Option<Value>> {
        let most = if count > 1 { PART_BYTES } else { usize::MAX };
        match self.ask_search(routing, body, most).await {
            Err(Fault::TooLong) if count > 1 => Ok(None),
            answer => answer.map(Some).doing(doing),
        }
    }

    /// Searches in parts of at most so many items, each by what `body` asks for it, and returns what `read` finds in the answers. A part
    /// whose answer is longer than one is to be is halved.
    pub(crate) async fn search_items<T, R>(
        &self,
        routing: &str,
        (items, most): (&[T], usize),
        body: impl Fn(&[T]) -> Value,
        read: impl Fn(&Value) -> Result<Vec<R>>,
        doing: &'static str,
    ) -> Result<Vec<R>> {
        let mut found = Vec::with_capacity(items.len());
        let mut parts: Vec<&[T]> = items.chunks(most).collect();
        while let Some(part) = parts.pop() {
            match self.search_part(routing, body(part), part.len(), doing).await? {
                Some(answer) => found.extend(read(&answer)?),
                None => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([first, second]);
                }
            }
        }
        Ok(found)
    }

    async fn ask_search(&self, routing: &str, body: Value, most: usize) -> std::result::Result<Value, Fault> {
        let query = [("routing", routing), ("allow_partial_search_results", "false"), ("filter_path", SEARCH_PATH)];
        let (path, patience) = (self.path("_search"), self.elastic.config().patience);
        let request = Request { method: Method::Post, path: &path, query: &query, body: Body::Json(body), patience };
        self.elastic.call_within(most, request).await
    }

    /// Reads a number of some documents, in their order.
    pub(crate) async fn look(
        &self,
        routing: &str,
        ids: &[&str],
        field: &str,
        doing: &'static str,
    ) -> Result<Vec<Option<Stored>>> {
        let mut found = Vec::with_capacity(ids.len());
        for part in ids.chunks(LOOK) {
            let wanted: Vec<Value> =
                part.iter().map(|id| json!({ "_id": id, "routing": routing, "_source": [field] })).collect();
            let (body, patience) = (Body::Json(json!({ "docs": wanted })), self.elastic.config().patience);
            let answer = self.elastic.post(&self.path("_mget"), &[], body, patience).await.doing(doing)?;
            let documents = answer.get("docs").and_then(Value::as_array).ok_or_else(|| garbled(doing))?;
            if documents.len() != part.len() {
                return Err(garbled(doing));
            }
            for document in documents {
                found.push(stored(document, field, doing)?);
            }
        }
        Ok(found)
    }
}

fn stored(document: &Value, field: &str, doing: &'static str) -> Result<Option<Stored>> {
    if let Some(error) = document.get("error") {
        let kind = kind_of(error);
        let status = match kind.as_str() {
            "index_not_found_exception" => 404,
            "index_closed_exception" => 400,
            _ => 503,
        };
        return Err(Fault::Answer { status, kind, after: None }).doing(doing);
    }
    match document.get("found").and_then(Value::as_bool) {
        Some(false) => return Ok(None),
        Some(true) => {}
        None => return Err(garbled(doing)),
    }
    let number = |name: &str| document.get(name).and_then(Value::as_i64);
    let found = document.get("_source").and_then(|source| source.get(field)?.as_i64());
    let stored = number("_seq_no").zip(number("_primary_term")).zip(found);
    let ((seq_no, primary_term), number) = stored.ok_or_else(|| garbled(doing))?;
    Ok(Some(Stored { seq_no, primary_term, number }))
}
