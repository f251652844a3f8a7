//! Filters that the table `record_lead` can answer, which has a row for each session and source of a record.

use memory_core::{Field, Filter, Scalar};

use super::word;

/// The most values that are looked up.
const MOST: usize = 1_000;

/// Returns the leads of exactly the records that match `filter`, if it asks only for sessions or only for sources.
pub(crate) fn leads(filter: &Filter) -> Option<Vec<Vec<u8>>> {
    let (field, values) = filter.among().filter(|(_, values)| values.len() <= MOST)?;
    let beginning = match field {
        Field::Session => word::sessions(),
        Field::Source => word::beginning(field)?,
        _ => return None,
    };
    let texts = values.iter().filter(|value| matches!(value, Scalar::Text(_)));
    Some(texts.filter_map(|value| word::word(&beginning, value)).collect())
}
