//! What an import did, in words or as JSON.

use std::collections::BTreeMap;

use clap::ValueEnum;
use memory::edge;
use memory::import::{Foreign, LeftOut, Refusal, Rejection, Tally};
use memory::store::secrets::without_secrets;
use serde_json::{Value, json};

use crate::cli;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::words::{counted, plural};

use super::table::{TOLD, table};

/// Files that are named where none holds a message.
const NAMED: usize = 3;

/// What can be imported.
const TAKEN: &str = "give chat JSON, or an export of ChatGPT or Claude as it was downloaded";

/// Writes what became of what was read from `files`.
pub(super) fn report(
    tally: &Tally,
    files: &[String],
    interrupted: bool,
    progress: &Progress,
    output: &mut Output,
) -> Result<(), Failure> {
    let (added, already, rejected, forgotten) = (tally.added, tally.already, tally.rejected, tally.forgotten);
    let notes: Vec<String> = tally.notes.iter().cloned().chain(trust(tally)).collect();
    for note in &notes {
        progress.say(&format!("note: {note}"));
    }
    // A single rejection is told by the error at the end.
    let is_the_end = !interrupted && tally.committed() == 0 && rejected == 1;
    for rejection in tally.rejections.iter().take(TOLD).filter(|_| !is_the_end) {
        progress.say(&told(rejection, files));
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
        if rejected > 0 && tally.committed() > 0 || !tally.left_out.is_empty() || tally.files > 0 {
            output.line("")?;
            table(tally, output.look().width, is_the_end).iter().try_for_each(|line| output.line(line))?;
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

/// Returns how the import of `files` ended.
pub(super) fn outcome(tally: &Tally, files: &[String], interrupted: bool) -> Result<Outcome, Failure> {
    if interrupted {
        return Ok(Outcome::Interrupted);
    }
    match tally.rejections.first() {
        None if tally.committed() == 0 => {
            let why = nothing(tally, files);
            Err(Failure::Usage(format!("nothing could be imported: there is no message in it: {why}")))
        }
        None => Ok(Outcome::Done),
        Some(first) if tally.committed() == 0 => {
            Err(Failure::Usage(format!("nothing could be imported: {}", told(first, files))))
        }
        Some(_) => Ok(Outcome::Partial),
    }
}

/// Returns why there was no message, with the name of the file.
fn nothing(tally: &Tally, files: &[String]) -> String {
    let [file] = files else {
        let names: Vec<String> = files.iter().take(NAMED).map(|file| without_secrets(file)).collect();
        let rest = if files.len() > NAMED { " and the others" } else { "" };
        return format!("none of the {} files in {}{rest} holds conversations: {TAKEN}", tally.files, names.join(", "));
    };
    let shown = if file == "-" { "stdin".to_owned() } else { without_secrets(file) };
    if !tally.left_out.is_empty() {
        return format!("all that {shown} holds is left out: {}", counts(&tally.left_out));
    }
    match std::fs::metadata(file) {
        _ if tally.files > 0 => format!("none of the {} files in {shown} holds conversations: {TAKEN}", tally.files),
        Ok(metadata) if metadata.is_dir() => format!("the folder {shown} holds no file: {TAKEN}"),
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => format!("{shown} is empty: {TAKEN}"),
        _ => format!("{shown} holds nothing but blanks or an empty list: {TAKEN}"),
    }
}

/// Returns a rejection as one line. Of a single file the name is the one that the person gave.
fn told(Rejection { file, line, within, why, .. }: &Rejection, files: &[String]) -> String {
    let is_of_whole_file = why.is_of_whole_file();
    let given = files.first().filter(|given| files.len() == 1 && *given != "-").map(|given| without_secrets(given));
    let why = match within.to_string() {
        within if within.is_empty() => refusal(why),
        within => format!("{within}: {}", refusal(why)),
    };
    match file.clone().or(given) {
        Some(file) if is_of_whole_file => format!("{file}: {why}"),
        None if is_of_whole_file => why,
        Some(file) => format!("line {line} of {file}: {why}"),
        None => format!("line {line}: {why}"),
    }
}

/// Returns why something is not imported, and what to do about it.
fn refusal(why: &Refusal) -> String {
    let remedy = match why {
        Refusal::UnknownFormat => return format!("{why}: name it with --format {}", formats()),
        Refusal::NoJson(_) | Refusal::Foreign(Foreign::Pdf | Foreign::Binary) => return format!("{why}: {TAKEN}"),
        Refusal::Cut(_) => ": its end is missing, so download or copy it again",
        Refusal::ForeignOwner => ": import it with --trust-roles if you trust who wrote it",
        Refusal::Foreign(Foreign::Zip) => ": import it by its name, memory import FILE.zip",
        Refusal::Foreign(Foreign::BrokenZip) => ": download it again",
        Refusal::Foreign(Foreign::Gzip) => ": unpack it first, as with gunzip -c FILE | memory import -",
        Refusal::Foreign(Foreign::Xz) => ": unpack it first, as with xz -dc FILE | memory import -",
        Refusal::Foreign(Foreign::Zstd) => ": unpack it first, as with zstd -dc FILE | memory import -",
        Refusal::Foreign(Foreign::Bzip2) => ": unpack it first, as with bunzip2 -c FILE | memory import -",
        Refusal::Foreign(Foreign::Utf16) => ": save it as UTF-8 first",
        Refusal::Foreign(Foreign::Html) => ": give the JSON of the export, such as conversations.json",
        Refusal::Foreign(Foreign::Sqlite) => ": open it with --db, or import what export writes from it",
        _ => "",
    };
    format!("{why}{remedy}")
}

/// Returns the names of the formats that can be read, as a clause.
fn formats() -> String {
    let names: Vec<_> = cli::Format::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    let names: Vec<&str> = names.iter().map(clap::builder::PossibleValue::get_name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns a rejection as JSON.
fn rejection_json(rejection: &Rejection) -> Value {
    let place = if rejection.why.is_of_whole_file() { Value::Null } else { json!({ "line": rejection.line }) };
    let within = json!(rejection.within);
    let value = edge::with(edge::with(json!({ "why": refusal(&rejection.why) }), place), within);
    edge::with(value, rejection.file.as_ref().map_or(Value::Null, |file| json!({ "file": file })))
}

/// Returns who speaks in what was imported, a clause each.
fn trust(tally: &Tally) -> impl Iterator<Item = String> {
    let Tally { quoted, instructions, is_export, trusted_before, .. } = tally;
    let kept = is_export.then(|| {
        let instructions = counted(*instructions, "instruction");
        format!("roles and trust are kept as the export says, with {instructions}: import only what you exported")
    });
    let quoted = (*quoted > 0).then(|| {
        let (are, leave, make) = match quoted {
            1 => ("is no instruction", "leave it out", "makes it one"),
            _ => ("are no instructions", "leave them out", "makes them instructions"),
        };
        let messages = counted(*quoted, "message");
        format!("{messages} of the roles system and developer {are} of yours: contexts {leave} (--trust-roles {make})")
    });
    let before = (*trusted_before > 0).then(|| match trusted_before {
        1 => "1 message keeps the trust with which it was stored before".to_owned(),
        more => format!("{more} messages keep the trust with which they were stored before"),
    });
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
            (
                Refusal::UnknownFormat,
                "not a format that is known: name it with --format openai, chatgpt, claude, locomo, longmemeval or export",
            ),
            (
                Refusal::NoJson("not JSON".to_owned()),
                "not JSON: give chat JSON, or an export of ChatGPT or Claude as it was downloaded",
            ),
            (
                Refusal::ForeignOwner,
                "an export of another owner: import it with --trust-roles if you trust who wrote it",
            ),
            (
                Refusal::Cut("it ends too soon".to_owned()),
                "it ends too soon: its end is missing, so download or copy it again",
            ),
            (Refusal::Foreign(Foreign::Utf16), "text in UTF-16: save it as UTF-8 first"),
            (Refusal::Other("not JSON".to_owned()), "not JSON"),
        ];
        for (why, line) in table {
            assert_eq!(refusal(&why), line);
        }
    }
}
