//! Records: their list, one of them, and remembering.

pub(crate) mod list;
pub(crate) mod one;
pub(crate) mod remember;

use std::collections::HashSet;

use memory::{ItemId, MessageId, RecordId, Scoped};

use crate::app::PART;
use crate::id::bare;
use crate::problem::Problem;

/// The kind of a record that names none.
const KIND: &str = "fact";

/// Returns the items that these ids name: messages, else records.
async fn sources(ada: &Scoped, ids: &[String]) -> Result<Vec<ItemId>, Problem> {
    // The limit of a record, before any of them is read.
    let most = ada.memory().limits().sources;
    if ids.len() > most {
        return Err(Problem::bad(format!("more than {most} sources")));
    }
    let ids = ids.iter().map(|id| bare(id)).collect::<memory::Result<Vec<MessageId>>>()?;
    let mut messages: HashSet<MessageId> = HashSet::new();
    for part in ids.chunks(PART) {
        messages.extend(ada.messages(part).await?.into_iter().map(|row| row.id));
    }
    // One that is neither is refused with the record.
    let item = |id: MessageId| {
        if messages.contains(&id) { ItemId::Message(id) } else { ItemId::Record(RecordId(id.0)) }
    };
    Ok(ids.into_iter().map(item).collect())
}
