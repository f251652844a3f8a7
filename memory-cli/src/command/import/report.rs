//! What an import did, in words or as JSON.

use std::collections::BTreeMap;

use memory::edge;
use memory::import::{Foreign, LeftOut, Refusal, Rejection, Tally};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::words::plural;

use super::table::table;

/// Rejections, and conversations of which something is left out, that are told on stderr one by one.
const TOLD: usize = 20;

/// Writes what became of what was read.
pub(super) fn report(
    tally: &Tally,
    interrupted: bool,
    progress: &Progress,
    output: &mut Output,
) -> Result<(), Failure> {
    let (added, already, rejected, forgotten) = (tally.added, tally.already, tally.rejected, tally.forgotten);
    let notes: Vec<String> = tally.notes.iter().cloned().chain(trust(tally)).collect();
    for note in &notes {
        progress.say(&format!("note: {note}"));
    }
    for rejection in tally.rejections.iter().take(TOLD) {
        progress.say(&told(rejection));
    }
    if rejected > TOLD as u64 {
        progress.say(&format!("and {} more", rejected - TOLD as u64));
    }
    if output.is_json() {
        tell_left_out(tally, progress);
    }
    let seconds = progress.elapsed().as_secs_f64();
    if output.is_json() {
        output.json(&json!({
            "added": added, "already": already, "rejected": rejected, "forgotten": forgotten,
            "sessions": tally.sessions(), "left_out": tally.left_out, "left_out_of": tally.left_out_of, "titles": tally.titles,
            "notes": notes, "rejections": tally.rejections.iter().map(rejection_json).collect::<Vec<_>>(),
            "files": tally.files, "no_conversation": tally.no_conversation, "no_conversation_in": tally.no_conversation_in,
            "interrupted": interrupted, "seconds": seconds,
        }))?;
    } else {
        let mut text = format!("{added} added, {already} already there, {rejected} rejected");
        if forgotten > 0 {
            text.push_str(&format!(", {forgotten} forgotten before and left out"));
        }
        let sessions = tally.sessions();
        output.line(&format!("{text}; {sessions} {}, {seconds:.1} s", plural(sessions, "session")))?;
        if rejected > 0 || !tally.left_out.is_empty() || tally.files > 0 {
            output.line("")?;
            table(tally).iter().try_for_each(|line| output.line(line))?;
        }
    }
    if interrupted {
        progress.say("stopped: what is counted above is stored; the same command goes on from there");
    }
    Ok(())
}

/// Tells what was left out of conversations, in all and of each of the first.
fn tell_left_out(tally: &Tally, progress: &Progress) {
    if tally.left_out.is_empty() {
        return;
    }
    progress.say(&format!("left out: {}", counts(&tally.left_out)));
    for (session, left_out) in tally.left_out_of.iter().take(TOLD) {
        progress.say(&format!("  of {session}: {}", counts(left_out)));
    }
    let rest = tally.left_out_of.len().saturating_sub(TOLD);
    if rest > 0 {
        progress.say(&format!("  and of {rest} conversations more, which --json names"));
    }
}

/// Returns how the import ended.
pub(super) fn outcome(tally: &Tally, interrupted: bool) -> Result<Outcome, Failure> {
    if interrupted {
        return Ok(Outcome::Interrupted);
    }
    match tally.rejections.first() {
        None if tally.committed() == 0 => {
            Err(Failure::Usage("nothing could be imported: there is no message in it".to_owned()))
        }
        None => Ok(Outcome::Done),
        Some(first) if tally.committed() == 0 => {
            Err(Failure::Usage(format!("nothing could be imported: {}", told(first))))
        }
        Some(_) => Ok(Outcome::Partial),
    }
}

/// Returns a rejection as one line.
fn told(Rejection { file, line, why, .. }: &Rejection) -> String {
    let place = file.as_ref().map_or_else(String::new, |file| format!("{file}, "));
    format!("{place}line {line}: {}", refusal(why))
}

/// Returns why something is not imported, and what to do about it.
fn refusal(why: &Refusal) -> String {
    let remedy = match why {
        Refusal::UnknownFormat => ": name it with --format",
        Refusal::ForeignOwner => ": import it with --trust-roles if you trust who wrote it",
        Refusal::Foreign(Foreign::Zip) => ": import it by its name, memory import FILE.zip",
        Refusal::Foreign(Foreign::Gzip) => ": unpack it first, as with gunzip -c FILE | memory import -",
        Refusal::Foreign(Foreign::Xz) => ": unpack it first, as with xz -dc FILE | memory import -",
        Refusal::Foreign(Foreign::Zstd) => ": unpack it first, as with zstd -dc FILE | memory import -",
        Refusal::Foreign(Foreign::Bzip2) => ": unpack it first, as with bunzip2 -c FILE | memory import -",
        Refusal::Foreign(Foreign::Utf16) => ": save it as UTF-8 first",
        Refusal::Foreign(Foreign::Sqlite) => ": open it with --db, or import what export writes from it",
        _ => "",
    };
    format!("{why}{remedy}")
}

/// Returns a rejection as JSON.
fn rejection_json(rejection: &Rejection) -> Value {
    let value = json!({ "line": rejection.line, "why": refusal(&rejection.why) });
    edge::with(value, rejection.file.as_ref().map_or(Value::Null, |file| json!({ "file": file })))
}

/// Returns who speaks in what was imported, a clause each.
fn trust(tally: &Tally) -> impl Iterator<Item = String> {
    let Tally { quoted, instructions, is_export, trusted_before, .. } = tally;
    let kept = is_export.then(|| {
        format!("roles and trust are kept as the export says, with {instructions} instructions: import only what you exported")
    });
    let quoted = (*quoted > 0).then(|| {
        format!(
            "{quoted} messages of the roles system and developer are no instructions of yours: contexts leave them out \
             (--trust-roles makes them instructions)"
        )
    });
    let before = (*trusted_before > 0)
        .then(|| format!("{trusted_before} messages keep the trust with which they were stored before"));
    kept.into_iter().chain(quoted).chain(before)
}

/// Returns what an import left out, by kind, as one clause.
fn counts(left_out: &BTreeMap<LeftOut, u64>) -> String {
    let counts: Vec<String> = left_out.iter().map(|(what, count)| format!("{count} {}", what.name())).collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        let table = [
            (Refusal::UnknownFormat, "not a format that is known: name it with --format"),
            (
                Refusal::ForeignOwner,
                "an export of another owner: import it with --trust-roles if you trust who wrote it",
            ),
            (Refusal::Foreign(Foreign::Utf16), "text in UTF-16: save it as UTF-8 first"),
            (Refusal::Other("not JSON".to_owned()), "not JSON"),
        ];
        for (why, line) in table {
            assert_eq!(refusal(&why), line);
        }
    }
}
