//! Compiles core's filters to the server's queries.
//!
//! Times, numbers and trust are fields of their own. All else that filters see stands in one field, `values`, as words
//! that hold the type, the field and the value (`values.rs`), so that a query compares words and nothing that a caller
//! wrote is ever read as a query, a pattern or the name of a field. Words stand in the order of their bytes, and are made
//! so that values stand in the order of core.

mod values;

#[cfg(test)]
mod tests;

use memory_core::error::{Error, Result};
use memory_core::{Field, Filter, Scalar};
use serde_json::{Value, json};

pub(crate) use values::values_of;

use crate::error::BACKEND;
use values::{Place, exists_word, place_of, type_bounds, word};

/// The most clauses, the most values and the deepest nesting that every server takes, with room to spare.
const MAX_CLAUSES: usize = 1_000;
const MAX_VALUES: usize = 10_000;
const MAX_DEPTH: usize = 24;

/// What a leaf asks of the values of a field: that one of them passes.
enum Test<'a> {
    Among(&'a [Scalar]),
    Between(Option<&'a Scalar>, Option<&'a Scalar>),
    Exists,
}

/// Returns the query that matches exactly where [`Filter::matches`] says so.
///
/// # Errors
/// `Unsupported` for a node that this build does not know, and for a range of texts with too long an end; `Invalid` for
/// a filter that is too large.
pub(crate) fn compile(filter: &Filter) -> Result<Value> {
    Compiler { clauses: 0, values: 0 }.node(filter, false, 0)
}

struct Compiler {
    clauses: usize,
    values: usize,
}

impl Compiler {
    /// Returns the query for a filter, or for its negation: negations are carried down to the leaves, because the server
    /// counts each as a level of nesting.
    fn node(&mut self, filter: &Filter, is_negated: bool, depth: usize) -> Result<Value> {
        match filter {
            Filter::All => Ok(fixed(!is_negated)),
            Filter::Eq(field, value) => self.leaf(field, &Test::Among(std::slice::from_ref(value)), is_negated),
            Filter::Ne(field, value) => self.leaf(field, &Test::Among(std::slice::from_ref(value)), !is_negated),
            Filter::In(field, values) => self.leaf(field, &Test::Among(values), is_negated),
            Filter::Range { field, from: None, until: None } => self.leaf(field, &Test::Exists, is_negated),
            Filter::Range { field, from, until } => {
                self.leaf(field, &Test::Between(from.as_ref(), until.as_ref()), is_negated)
            }
            Filter::Exists(field) => self.leaf(field, &Test::Exists, is_negated),
            Filter::And(list) => self.list(list, !is_negated, is_negated, depth),
            Filter::Or(list) => self.list(list, is_negated, is_negated, depth),
            Filter::Not(filter) => self.node(filter, !is_negated, depth),
            _ => Err(Error::Unsupported { backend: BACKEND, what: "compile this filter".to_owned() }),
        }
    }

    /// Returns the query for all of a list, or for one of it.
    fn list(&mut self, list: &[Filter], is_all: bool, is_negated: bool, depth: usize) -> Result<Value> {
        if let [only] = list {
            return self.node(only, is_negated, depth);
        }
        if depth > MAX_DEPTH {
            return Err(too_large());
        }
        let nodes = list.iter().map(|filter| self.node(filter, is_negated, depth + 1)).collect::<Result<Vec<_>>>()?;
        Ok(match (nodes.is_empty(), is_all) {
            (true, _) => fixed(is_all),
            (false, true) => json!({ "bool": { "filter": nodes } }),
            (false, false) => json!({ "bool": { "should": nodes, "minimum_should_match": 1 } }),
        })
    }

    fn leaf(&mut self, field: &Field, test: &Test<'_>, is_negated: bool) -> Result<Value> {
        self.clauses += 1;
        if let Test::Among(values) = test {
            self.values += values.len();
        }
        if self.clauses > MAX_CLAUSES || self.values > MAX_VALUES {
            return Err(too_large());
        }
        let query = match place_of(field) {
            Place::Number(name) => number_query(name, test),
            Place::Words(key) => word_query(&key, test)?,
        };
        Ok(match (query, is_negated) {
            (Some(query), false) => query,
            (Some(query), true) => json!({ "bool": { "must_not": [query] } }),
            (None, is_negated) => fixed(is_negated),
        })
    }
}

/// Returns the query over a field of whole numbers; none if nothing can match.
fn number_query(name: &str, test: &Test<'_>) -> Option<Value> {
    let whole = |value: &Scalar| if let Scalar::Int(number) = value { Some(*number) } else { None };
    match test {
        Test::Exists => Some(json!({ "exists": { "field": name } })),
        Test::Among(values) => {
            let numbers: Vec<i64> = values.iter().filter_map(whole).collect();
            (!numbers.is_empty()).then(|| json!({ "terms": { name: numbers } }))
        }
        Test::Between(from, until) => {
            let mut range = json!({});
            for (end, name) in [(from, "gte"), (until, "lt")] {
                if let Some(end) = end {
                    range.as_object_mut()?.insert(name.to_owned(), json!(whole(end)?));
                }
            }
            Some(json!({ "range": { name: range } }))
        }
    }
}

/// Returns the query over the words of a field; none if nothing can match.
fn word_query(key: &str, test: &Test<'_>) -> Result<Option<Value>> {
    Ok(match test {
        Test::Exists => Some(json!({ "term": { "values": exists_word(key) } })),
        Test::Among(values) => {
            let words: Vec<String> = values.iter().filter_map(|value| word(key, value)).collect();
            (!words.is_empty()).then(|| json!({ "terms": { "values": words } }))
        }
        Test::Between(from, until) => between(key, *from, *until)?,
    })
}

fn between(key: &str, from: Option<&Scalar>, until: Option<&Scalar>) -> Result<Option<Value>> {
    if let (Some(from), Some(until)) = (from, until)
        && std::mem::discriminant(from) != std::mem::discriminant(until)
    {
        return Ok(None);
    }
    if [from, until].into_iter().flatten().any(values::is_too_long_to_order) {
        return Err(Error::Unsupported { backend: BACKEND, what: "compare the order of such long texts".to_owned() });
    }
    let Some((first, last)) = from.or(until).map(|end| type_bounds(key, end)) else { return Ok(None) };
    let end = |end: Option<&Scalar>, open: String| end.map_or(Some(open), |end| word(key, end));
    let (Some(first), Some(last)) = (end(from, first), end(until, last)) else { return Ok(None) };
    Ok(Some(json!({ "range": { "values": { "gte": first, "lt": last } } })))
}

fn fixed(outcome: bool) -> Value {
    if outcome { json!({ "match_all": {} }) } else { json!({ "match_none": {} }) }
}

fn too_large() -> Error {
    Error::invalid("the filter is too large for one request")
}
