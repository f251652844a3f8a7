//! Forgets items by their ids.

use memory::{ForgetReceipt, MessageId, Scoped, edge};

use crate::failure::{Failure, Outcome};
use crate::output::say;

/// Returns whether nothing was there to be forgotten.
pub(crate) fn is_empty(receipt: &ForgetReceipt) -> bool {
    receipt.removed == 0 && receipt.complete
}

/// Forgets each id as a message and as a record: whoever gives one need not know which it is. Says which are neither.
pub(crate) async fn forget_ids(scoped: &Scoped, ids: &[MessageId]) -> Result<(ForgetReceipt, Outcome), Failure> {
    let (receipt, unknown) = edge::forget_ids(scoped, ids).await?;
    let unknown: Vec<String> = unknown.iter().map(|id| format!("there is no message or record {id}")).collect();
    if is_empty(&receipt) && !unknown.is_empty() {
        return Err(Failure::Usage(unknown.join("; ")));
    }
    unknown.iter().for_each(|unknown| say(&format!("warning: {unknown}")));
    Ok((receipt, if unknown.is_empty() { Outcome::Done } else { Outcome::Partial }))
}
