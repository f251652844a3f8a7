//! `memory forget`: messages, records, a conversation or everything, for good.

use std::collections::HashSet;
use std::io::{IsTerminal, stdin};

use memory::engine::{Forget as What, ForgetReceipt, Unasked};
use memory::{MessageId, RecordId, Scoped, SessionId};

use super::{Call, sessions};
use crate::cli::Forget;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::upkeep;

/// Forgets what is named.
pub(crate) async fn run(call: &Call, args: &Forget, output: &mut Output) -> Result<Outcome, Failure> {
    let named = call.named_session()?;
    let chosen = usize::from(!args.ids.is_empty()) + usize::from(named.is_some()) + usize::from(args.all);
    if chosen != 1 {
        return Err(Failure::Usage("say what is to be forgotten: one of --id, --session and --all".to_owned()));
    }
    let owner = call.owner()?;
    if args.all && !args.yes && !is_confirmed(&format!("{} of {}", owner.subject(), owner.tenant()))? {
        say("nothing was forgotten");
        return Ok(Outcome::Interrupted);
    }
    let (memory, scoped) = call.open().await?;
    let (receipt, outcome) = match &named {
        Some(session) => (forget_session(&scoped, session).await?, Outcome::Done),
        None if args.all => (scoped.forget(&What::Everything).await?, Outcome::Done),
        None => forget_ids(&scoped, &args.ids).await?,
    };
    write(&receipt, output)?;
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(if receipt.complete { outcome } else { Outcome::Partial })
}

/// Forgets a conversation, whose name may be mistyped.
async fn forget_session(scoped: &Scoped, session: &SessionId) -> Result<ForgetReceipt, Failure> {
    // Asked for first, also where nothing is left of it: an earlier call may have been cut off.
    let receipt = scoped.forget(&What::Session(session.clone())).await?;
    if is_empty(&receipt) {
        return Err(Failure::Usage(sessions::no_such(scoped, session).await?));
    }
    Ok(receipt)
}

fn is_empty(receipt: &ForgetReceipt) -> bool {
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
    let mut receipt = scoped.forget(&What::Messages(ids.to_vec())).await?;
    let rest = scoped.forget(&What::Records(records)).await?;
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
    let ForgetReceipt { removed, derived, complete, .. } = receipt;
    let derived = if *derived > 0 { format!(", {derived} of them derived from the others") } else { String::new() };
    output.line(&format!("{removed} items forgotten{derived}"))?;
    for store in receipt.stores.iter().filter(|store| store.remaining != Some(0)) {
        let why = store.why.as_deref().unwrap_or("not all is removed yet");
        output.line(&format!("not complete: {} ({}): {why}", store.part, store.backend))?;
    }
    for Unasked { index, notes } in receipt.unasked.iter().filter(|index| index.notes != Some(0)) {
        let notes = notes.map_or("its notes".to_owned(), |notes| format!("{notes} notes"));
        output
            .line(&format!("not complete: the index {index} is not open here, and {notes} of the owner wait for it"))?;
    }
    if !complete {
        output.line("nothing of it can be recalled any more; upkeep removes the rest")?;
    }
    Ok(())
}

fn is_confirmed(who: &str) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::Usage("everything of the owner would be forgotten: say --yes".to_owned()));
    }
    say(&format!("Everything of {who} will be forgotten for good. Type yes to go on:"));
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
