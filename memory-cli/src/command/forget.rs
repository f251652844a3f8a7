//! `memory forget`: deletes messages, records, a conversation or everything of an owner, for good.

use std::io::{BufRead, IsTerminal, stdin};

use memory::{Forget as What, ForgetReceipt, Scoped, SessionId, edge};

use super::call::Call;
use crate::cli::Forget;
use crate::failure::{Failure, Outcome};
use crate::forgetting::{forget_ids, is_empty};
use crate::output::{Output, say};
use crate::{sessions, upkeep};

/// Forgets what is named.
pub(crate) async fn run(call: &Call, args: &Forget, output: &mut Output) -> Result<Outcome, Failure> {
    let named = call.named_session()?;
    let chosen = usize::from(!args.ids.is_empty()) + usize::from(named.is_some()) + usize::from(args.all);
    match chosen {
        1 => {}
        0 => return Err(Failure::Usage("say what is to be forgotten: one of --id, --session and --all".to_owned())),
        _ => return Err(Failure::Usage("too much is named: say only one of --id, --session and --all".to_owned())),
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
    match &named {
        // A branch without messages of its own: a session that is not there was refused above.
        Some(session) if is_empty(&receipt) && !output.is_json() => {
            output.line(&format!("{} is forgotten: it had no messages of its own", session.name()))?;
        }
        _ => output.receipt(&receipt)?,
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(if receipt.complete { outcome } else { Outcome::Partial })
}

/// Forgets a conversation, whose name may be mistyped.
async fn forget_session(scoped: &Scoped, session: &SessionId) -> Result<ForgetReceipt, Failure> {
    let (receipt, is_unknown) = edge::forget_session(scoped, session).await?;
    if is_unknown {
        return Err(Failure::Usage(sessions::no_such(scoped, session).await?));
    }
    Ok(receipt)
}

fn is_confirmed(who: &str) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::Usage("everything of the owner would be forgotten: say --yes".to_owned()));
    }
    say(&format!("Everything of {who} will be forgotten for good. Type yes to go on:"));
    Ok(says_yes(stdin().lock()))
}

/// Returns whether the next line is yes, and nothing else.
fn says_yes(mut input: impl BufRead) -> bool {
    let mut answer = Vec::new();
    input.read_until(b'\n', &mut answer).is_ok_and(|_| answer.trim_ascii() == b"yes")
}

#[cfg(test)]
mod tests {
    use super::says_yes;

    #[test]
    fn only_yes_is_yes() {
        for (line, is_yes) in
            [(&b"yes\n"[..], true), (b" yes\r\n", true), (b"yes", true), (b"y\n", false), (b"", false)]
        {
            assert_eq!(says_yes(line), is_yes, "{line:?}");
        }
        assert!(!says_yes(&b"\xffyes\n"[..]) && !says_yes(&b"no\nyes\n"[..]));
    }
}
