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
use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Field, Filter, Scalar};
use serde_json::{Value, json};

pub(crate) use values::values_of;

use crate::error::BACKEND;
use values::{Column, exists_word, place_of, type_bounds, word};

/// What every server takes, with room to spare. It counts each negation as a level too: in the normal form they add one.
const MOST: Bounds = Bounds { leaves: 1_000, values: 10_000, levels: 25, depth: 1_000 };

/// Returns the query that matches exactly where [`Filter::matches`] says so.
///
/// # Errors
/// `Unsupported` for a range of texts with too long an end, `Invalid` for a filter that is too large.
pub(crate) fn compile(filter: &Filter) -> Result<Value> {
    node(&filter.normal(&MOST)?)
}

fn node(node: &Normal<'_>) -> Result<Value> {
    Ok(match node {
        Normal::Fixed(outcome) => fixed(*outcome),
        Normal::Leaf { field, test, is_negated } => leaf(field, test, *is_negated)?,
        Normal::All(list) => json!({ "bool": { "filter": nodes(list)? } }),
        Normal::Any(list) => json!({ "bool": { "should": nodes(list)?, "minimum_should_match": 1 } }),
    })
}

fn nodes(list: &[Normal<'_>]) -> Result<Vec<Value>> {
    list.iter().map(node).collect()
}

fn leaf(field: &Field, test: &Test<'_>, is_negated: bool) -> Result<Value> {
    let query = match place_of(field) {
        Column::Number(name) => number_query(name, test),
        Column::Words(key) => word_query(&key, test)?,
    };
    Ok(match (query, is_negated) {
        (Some(query), false) => query,
        (Some(query), true) => json!({ "bool": { "must_not": [query] } }),
        (None, is_negated) => fixed(is_negated),
    })
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
