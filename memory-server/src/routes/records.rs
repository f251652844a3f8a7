//! Records: their list, one of them, and remembering.

pub(crate) mod list;
pub(crate) mod one;
pub(crate) mod remember;

use memory::{ItemId, MessageId, RecordId, Scoped};

use crate::problem::Problem;

/// Returns the items that these ids name: messages, else records.
async fn sources(ada: &Scoped, ids: &[String]) -> Result<Vec<ItemId>, Problem> {
    let ids = ids.iter().map(|id| id.parse()).collect::<memory::Result<Vec<MessageId>>>()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let messages = ada.messages(&ids).await?;
    let is_message = |id: &MessageId| messages.iter().any(|row| row.id == *id);
    // One that is neither is refused with the record.
    let item = |id: MessageId| if is_message(&id) { ItemId::Message(id) } else { ItemId::Record(RecordId(id.0)) };
    Ok(ids.into_iter().map(item).collect())
}
