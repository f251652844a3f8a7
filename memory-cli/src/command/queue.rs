//! `memory queue`: what waits in the journal before conversations, and what was refused.

use std::collections::BTreeSet;
use std::time::Duration;

use memory::{MessageId, Refused, Scoped};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::{Queue, QueueChange};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::visible::visible;
use crate::words::plural;

/// How long what was refused and is sent again is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn run(call: &Call, args: &Queue, output: &mut Output) -> Result<Outcome, Failure> {
    let path = call
        .journal()
        .ok_or_else(|| Failure::Usage("there is no journal: SESSION_BUFFER_PATH says where one is".to_owned()))?;
    match &args.change {
        Some(QueueChange::Recover { meant_here }) => recover(call, &path, *meant_here, output).await,
        Some(QueueChange::Retry { ids }) => {
            let (memory, scoped) = call.open().await?;
            let unknown = unknown(&scoped, ids).await?;
            let outcome = outcome(unknown.len() < ids.len(), &unknown)?;
            let ids = if ids.is_empty() {
                refused(&scoped).await?.iter().map(|one| one.message.id).collect()
            } else {
                ids.clone()
            };
            let sent = scoped.retry(&ids).await?;
            memory.flush(PATIENCE).await;
            let left = refused(&scoped).await?.iter().filter(|one| ids.contains(&one.message.id)).count();
            tell(
                output,
                &json!({ "queued": sent, "refused": left }),
                &[format!("{sent} {} queued again", plural(sent, "message")), format!("{left} of them refused again")],
            )?;
            Ok(if left == 0 { outcome } else { Outcome::Partial })
        }
        Some(QueueChange::Discard { ids }) => {
            let (_memory, scoped) = call.open().await?;
            let (mut gone, mut unknown) = (0, Vec::new());
            for id in ids.iter().copied().collect::<BTreeSet<_>>() {
                match scoped.discard(&[id]).await? {
                    0 => unknown.push(id),
                    count => gone += count,
                }
            }
            let outcome = outcome(gone > 0, &unknown)?;
            tell(output, &json!({ "discarded": gone }), &[format!("{gone} {} discarded", plural(gone, "message"))])?;
            Ok(outcome)
        }
        None => list(call, output).await,
    }
}

/// Returns all that was refused of the owner.
async fn refused(scoped: &Scoped) -> Result<Vec<Refused>, Failure> {
    Ok(scoped.refused(usize::MAX).await?)
}

/// Returns those of these messages that were not refused. One that waits or is stored counts as refused: an earlier call that was cut off
/// has sent it again.
async fn unknown(scoped: &Scoped, ids: &[MessageId]) -> Result<Vec<MessageId>, Failure> {
    // First: what waits now may be refused a moment later.
    let mut known: Vec<MessageId> = scoped.messages(ids).await?.iter().map(|row| row.id).collect();
    known.extend(refused(scoped).await?.iter().map(|one| one.message.id));
    Ok(ids.iter().copied().filter(|id| !known.contains(id)).collect())
}

/// Returns how a command ends that was to change messages of which these were not refused, and says so.
fn outcome(is_any_known: bool, unknown: &[MessageId]) -> Result<Outcome, Failure> {
    let told: Vec<String> = unknown.iter().map(|id| format!("no message {id} was refused")).collect();
    if told.is_empty() {
        return Ok(Outcome::Done);
    }
    if !is_any_known {
        return Err(Failure::Usage(told.join("; ")));
    }
    told.iter().for_each(|told| say(&format!("warning: {told}")));
    Ok(Outcome::Partial)
}

/// Lists what waits, of all owners as a number, and what was refused of this owner.
async fn list(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let waiting = memory.status().await.journal.map_or(0, |journal| journal.waiting);
    let refused = refused(&scoped).await?;
    let shown = |one: &Refused| -> (MessageId, String) { (one.message.id, visible(&one.message.text())) };
    if output.is_json() {
        let listed: Vec<Value> = refused
            .iter()
            .map(|one| {
                json!({
                    "id": one.message.id.to_string(), "session": one.session.name(), "role": one.message.role.name(),
                    "text": one.message.text(), "why": one.why,
                })
            })
            .collect();
        output.json(&json!({ "waiting": waiting, "refused": listed }))?;
    } else {
        output.line(&format!("{waiting} {} waiting, of all owners", plural(waiting, "message")))?;
        for one in &refused {
            let (id, text) = shown(one);
            output.line(&format!("{id}  {}  {}", visible(one.session.name()), one.why))?;
            output.line(&format!("  {text}"))?;
        }
        output.line(&format!("{} {} refused", refused.len(), plural(refused.len(), "message")))?;
    }
    output.flush()?;
    Ok(Outcome::Done)
}

fn tell(output: &mut Output, value: &Value, lines: &[String]) -> Result<(), Failure> {
    if output.is_json() {
        output.json(value)?;
    } else {
        lines.iter().try_for_each(|line| output.line(line))?;
    }
    output.flush()?;
    Ok(())
}

#[cfg(feature = "sqlite")]
async fn recover(
    call: &Call,
    path: &std::path::Path,
    meant_here: bool,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    use memory::sqlite::{JournalConfig, Recovered, SqliteJournal};

    // A damaged database would be set aside for a new journal.
    call.database()?.check_places()?;
    let config = call.journal_config(path)?.filter(|_| meant_here).unwrap_or_else(|| JournalConfig::new(path));
    let Recovered { kept, lost, damaged } = SqliteJournal::recover(config).await?;
    let mut lines = vec![format!("{kept} {} in the journal", plural(kept, "message"))];
    match (&damaged, lost) {
        (None, _) => lines.push("it is whole, and was not changed".to_owned()),
        (Some(_), Some(lost)) => lines.push(format!("{lost} lost")),
        (Some(_), None) => lines.push("how many are lost is not known".to_owned()),
    }
    lines.extend(damaged.as_ref().map(|path| format!("the damaged file is {}", path.display())));
    let shown = damaged.as_ref().map(|path| path.display().to_string());
    tell(output, &json!({ "kept": kept, "lost": lost, "damaged": shown }), &lines)?;
    Ok(if damaged.is_some() && lost != Some(0) { Outcome::Partial } else { Outcome::Done })
}

#[cfg(not(feature = "sqlite"))]
async fn recover(_: &Call, _: &std::path::Path, _: bool, _: &mut Output) -> Result<Outcome, Failure> {
    Err(Failure::Usage("a journal is an SQLite file: build with --features sqlite".to_owned()))
}
