//! The id of a message or a record, of whichever it is: bare, or as the key that receipts name it by.

use memory::{Error, MessageId, Result};

/// Reads an id, with or without what its key begins with: `m-` or `r-`.
pub(crate) fn bare(text: &str) -> Result<MessageId> {
    let id = text.strip_prefix("m-").or_else(|| text.strip_prefix("r-")).unwrap_or(text);
    id.parse().map_err(|_| Error::invalid("not the id of a message or record"))
}
