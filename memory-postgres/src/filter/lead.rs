//! The filters that lead to records by the table `record_lead`, which has a row for each session and source of a record.

use memory_core::{Field, Filter, Scalar};

use super::word;

/// The most values that are looked up one by one.
const MOST: usize = 1_000;

/// Returns the leads of the records that match `filter`, exactly these, if it asks for sessions or sources and nothing else.
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
