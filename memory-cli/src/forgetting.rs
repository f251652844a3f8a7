//! Forgets items by their ids, and reports what was forgotten.

use std::collections::HashSet;

use memory::{Forget, ForgetReceipt, MessageId, RecordId, Scoped};

use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

/// Returns whether nothing was there to be forgotten.
pub(crate) fn is_empty(receipt: &ForgetReceipt) -> bool {
    receipt.removed == 0 && receipt.complete
}

/// Forgets each id as a message and as a record: whoever gives one need not know which it is. Says which are neither.
pub(crate) async fn forget_ids(scoped: &Scoped, ids: &[MessageId]) -> Result<(ForgetReceipt, Outcome), Failure> {
    let records: Vec<RecordId> = ids.iter().map(|id| RecordId(id.0)).collect();
    let messages = scoped.messages(ids).await?.into_iter().map(|row| row.id.0);
    let stored: HashSet<_> = messages.chain(scoped.get(&records).await?.iter().map(|row| row.record.id.0)).collect();
    let unknown =
        ids.iter().filter(|id| !stored.contains(&id.0)).map(|id| format!("there is no message or record {id}"));
    let unknown: Vec<String> = unknown.collect();
    let mut receipt = scoped.forget(&Forget::Messages(ids.to_vec())).await?;
    let rest = scoped.forget(&Forget::Records(records)).await?;
    receipt.removed += rest.removed;
    receipt.derived += rest.derived;
    receipt.complete &= rest.complete;
    receipt.stores.extend(rest.stores);
    receipt.unasked = rest.unasked;
    if is_empty(&receipt) && !unknown.is_empty() {
        return Err(Failure::Usage(unknown.join("; ")));
    }
    unknown.iter().for_each(|unknown| say(&format!("warning: {unknown}")));
    Ok((receipt, if unknown.is_empty() { Outcome::Done } else { Outcome::Partial }))
}

/// Writes what was forgotten.
pub(crate) fn write(receipt: &ForgetReceipt, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(output.json(receipt)?);
    }
    Ok(output.told(receipt)?)
}
