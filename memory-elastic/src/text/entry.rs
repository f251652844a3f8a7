//! Text entries as documents.
//!
//! The counts of each term stand in a column of its own, as a text: the own count, and behind a colon the bits of the
//! neighbours' count, if there is one. So a search reads the counts of its own terms only, and reads them exactly.

use std::collections::BTreeMap;

use memory_core::error::{Error, Result};
use memory_core::store::text::TextEntry;
use memory_core::{Scope, Version};
use serde_json::{Map, Value, json};

use crate::document::{common, pack};
use crate::put::Incoming;

/// How often a term stands in an item and, damped, in its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) own: u32,
    pub(super) near: f32,
}

impl Counts {
    fn encode(self) -> String {
        if self.near == 0.0 { self.own.to_string() } else { format!("{}:{:08x}", self.own, self.near.to_bits()) }
    }

    /// Reads what [`Self::encode`] gave; none for anything else.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let (own, near) = match text.split_once(':') {
            None => (text, 0.0),
            Some((own, bits)) => (own, f32::from_bits(u32::from_str_radix(bits, 16).ok()?)),
        };
        Some(Self { own: own.parse().ok()?, near })
    }
}

/// Returns the document of an entry.
///
/// # Errors
/// `Invalid` for counts that are none and versions that are too large.
pub(super) fn document(scope: &Scope, entry: &TextEntry) -> Result<Incoming> {
    let TextEntry { item, version, own, near, fields } = entry;
    if near.iter().any(|(_, count)| !count.is_finite() || *count < 0.0) {
        return Err(Error::invalid("a neighbour's count is no number from 0 on"));
    }
    let mut terms: BTreeMap<&str, Counts> = BTreeMap::new();
    for (term, count) in own.iter().filter(|(_, count)| *count > 0) {
        let counts = terms.entry(term.as_str()).or_default();
        counts.own = counts.own.saturating_add(*count);
    }
    for (term, count) in near.iter().filter(|(_, count)| *count > 0.0) {
        terms.entry(term.as_str()).or_default().near += count;
    }
    let mut document = common(scope, item, *version, fields)?;
    document.insert("own".to_owned(), joined(&terms, |counts| counts.own > 0));
    document.insert("near".to_owned(), joined(&terms, |counts| counts.near > 0.0));
    let counts: Map<String, Value> =
        terms.iter().map(|(term, counts)| ((*term).to_owned(), json!(counts.encode()))).collect();
    document.insert("counts".to_owned(), Value::Object(counts));
    document.insert("length".to_owned(), json!(entry.length()));
    let Version { epoch, .. } = *version;
    let source = Value::Object(document).to_string();
    Ok(Incoming { item: item.clone(), epoch: epoch.0, version: pack(*version)?, source })
}

fn joined(terms: &BTreeMap<&str, Counts>, is_meant: impl Fn(&Counts) -> bool) -> Value {
    let meant: Vec<&str> = terms.iter().filter(|(_, counts)| is_meant(counts)).map(|(term, _)| *term).collect();
    json!(meant.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::num::f32::{NORMAL, POSITIVE, SUBNORMAL, ZERO};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_read_back(own: u32, near in POSITIVE | NORMAL | SUBNORMAL | ZERO) {
            let counts = Counts { own, near };
            prop_assert_eq!(Counts::decode(&counts.encode()), Some(counts));
        }
    }

    #[test]
    fn texts_that_are_no_counts_are_told() {
        for text in ["", ":", "1:", "1:x", "-1", "1:3e800000:1", "4294967296"] {
            assert_eq!(Counts::decode(text), None, "{text}");
        }
    }
}
