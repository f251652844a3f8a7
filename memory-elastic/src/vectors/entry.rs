//! Vector entries as documents: all pieces of an item in one, so that a put replaces all of them at once.

use memory_core::error::Result;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::normalise;
use memory_core::{Scope, Version};
use serde_json::{Value, json};

use crate::document::{common, pack};
use crate::put::Incoming;

/// Returns the document of an entry whose vectors were checked.
///
/// # Errors
/// `Invalid` for versions that are too large.
pub(super) fn document(scope: &Scope, entry: &VectorEntry) -> Result<Incoming> {
    let VectorEntry { item, version, pieces, fields } = entry;
    let mut document = common(scope, item, *version, fields)?;
    let pieces: Vec<Value> =
        pieces.iter().filter_map(|piece| normalise(piece)).map(|vector| json!({ "v": vector })).collect();
    document.insert("parts".to_owned(), json!(pieces.len()));
    document.insert("pieces".to_owned(), json!(pieces));
    let Version { epoch, .. } = *version;
    let source = Value::Object(document).to_string();
    Ok(Incoming { item: item.clone(), epoch: epoch.0, version: pack(*version)?, source })
}
