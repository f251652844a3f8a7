//! `memory import`: conversations from a file, or from stdin.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use memory::secrets::without_secrets;
use memory::{Memory, Timestamp};
use serde_json::json;

use super::Call;
use crate::cli::Import;
use crate::failure::{Failure, Outcome};
use crate::import::{self, Importer, Items, Meter, Progress, Reading, Source, Tally, counts};
use crate::output::Output;
use crate::upkeep;

/// Items between reader and writer at the most.
const AHEAD: usize = 256;
/// Rejections, and conversations of which something is left out, that are told on stderr one by one.
const TOLD: usize = 20;
/// How long items wait for a full batch, where the file is a pipe that somebody still writes.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the progress of the indexing is looked up.
const TICK: Duration = Duration::from_millis(250);

/// Imports the file.
pub(crate) async fn run(call: &Call, args: &Import, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let (input, bytes) = open(&args.file)?;
    let source = Source {
        format: args.format,
        session: call.session_name().to_owned(),
        stem: stem(&args.file),
        now: now(&memory),
        owner: (scoped.scope().tenant(), scoped.scope().subject()),
        trusts_roles: args.trust_roles,
        reading: Reading::default(),
    };
    let meter = Arc::clone(&source.reading.meter);
    let progress = Progress::new(args.progress, bytes);
    let (reader, items) = spawn(input, source)?;
    let mut importer = Importer::new(scoped);
    let copied = copy(items, &mut importer, &meter, &progress).await;
    let interrupted = match copied {
        Ok(interrupted) => interrupted,
        Err(error) => {
            progress.finish();
            progress
                .say(&format!("{} items are in; the same command goes on from there", importer.tally().committed()));
            return Err(error.into());
        }
    };
    // A reader that waits for stdin cannot be waited for; one that broke must not look like the end of the file.
    if !interrupted && reader.join().is_err() {
        return Err(Failure::Inner("the reader of the file broke down".to_owned()));
    }
    let interrupted = interrupted || index(&memory, &progress).await;
    progress.finish();
    let tally = importer.into_tally();
    report(&tally, interrupted, &progress, output)?;
    outcome(&tally, interrupted)
}

/// Moves items from the reader to the database. Returns whether the person stopped it.
async fn copy(mut items: Items, importer: &mut Importer, meter: &Meter, progress: &Progress) -> memory::Result<bool> {
    let mut stop = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let (is_due, is_last) = tokio::select! {
            biased;
            _ = &mut stop => return Ok(true),
            item = items.next() => match item {
                Some(item) => (importer.take(item), false),
                None => (true, true),
            },
            () = tokio::time::sleep(PATIENCE), if importer.is_waiting() => (true, false),
        };
        if is_due {
            // A write that waits for a database is not waited for; what it has written is found again.
            tokio::select! {
                biased;
                written = importer.write() => written?,
                _ = &mut stop => return Ok(true),
            }
            progress.committed(importer.tally().committed(), meter.bytes());
        }
        if is_last {
            return Ok(false);
        }
    }
}

/// Lets the indexes follow. Returns whether the person stopped it.
async fn index(memory: &Memory, progress: &Progress) -> bool {
    progress.begin_indexing();
    let follow = upkeep::quietly(memory);
    let watch = async {
        loop {
            tokio::time::sleep(TICK).await;
            if progress.is_live() {
                progress.indexing(upkeep::pending(memory).await);
            }
        }
    };
    tokio::select! {
        () = follow => false,
        () = watch => false,
        _ = tokio::signal::ctrl_c() => true,
    }
}

fn report(tally: &Tally, interrupted: bool, progress: &Progress, output: &mut Output) -> Result<(), Failure> {
    let (added, already, rejected, forgotten) = (tally.added, tally.already, tally.rejected, tally.forgotten);
    for note in &tally.notes {
        progress.say(&format!("note: {note}"));
    }
    for rejection in tally.rejections.iter().take(TOLD) {
        progress.say(&format!("line {}: {}", rejection.line, rejection.why));
    }
    if rejected > TOLD as u64 {
        progress.say(&format!("and {} more", rejected - TOLD as u64));
    }
    tell_left_out(tally, progress);
    let seconds = progress.elapsed().as_secs_f64();
    if output.is_json() {
        output.json(&json!({
            "added": added, "already": already, "rejected": rejected, "forgotten": forgotten,
            "sessions": tally.sessions(), "left_out": tally.left_out, "left_out_of": tally.left_out_of, "notes": tally.notes, "rejections": tally.rejections,
            "interrupted": interrupted, "seconds": seconds,
        }))?;
    } else {
        let mut text = format!("{added} added, {already} already there, {rejected} rejected");
        if forgotten > 0 {
            text.push_str(&format!(", {forgotten} forgotten before and left out"));
        }
        output.line(&format!("{text}; {} sessions, {seconds:.1} s", tally.sessions()))?;
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

fn outcome(tally: &Tally, interrupted: bool) -> Result<Outcome, Failure> {
    if interrupted {
        return Ok(Outcome::Interrupted);
    }
    match tally.rejections.first() {
        None if tally.committed() == 0 => {
            Err(Failure::Usage("nothing could be imported: there is no message in it".to_owned()))
        }
        None => Ok(Outcome::Done),
        Some(first) if tally.committed() == 0 => {
            Err(Failure::Usage(format!("nothing could be imported: line {}: {}", first.line, first.why)))
        }
        Some(_) => Ok(Outcome::Partial),
    }
}

/// Opens the file, and returns its size if it has one.
fn open(file: &str) -> Result<(Box<dyn Read + Send>, Option<u64>), Failure> {
    if file == "-" {
        return Ok((Box::new(io::stdin()), None));
    }
    // Somebody may have given a URL.
    let shown = without_secrets(file);
    let unreadable = |error: io::Error| Failure::Usage(format!("the file {shown} cannot be read: {error}"));
    let opened = File::open(file).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Failure::Usage(format!("{shown} is a folder, not a file")));
    }
    Ok((Box::new(opened), metadata.is_file().then_some(metadata.len())))
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|_| file != "-").unwrap_or("stdin").to_owned()
}

/// Reads in a thread of its own, because reading blocks; it waits while the writer is behind.
fn spawn(input: Box<dyn Read + Send>, source: Source) -> Result<(JoinHandle<()>, Items), Failure> {
    let (sink, items) = import::queue(AHEAD);
    let work = move || {
        // Stopped means that nobody takes the items any more, or that the file is of no use: both are known there.
        let _ = import::read(input, &source, &sink);
    };
    let reader = std::thread::Builder::new().name("reader".to_owned()).spawn(work);
    Ok((reader.map_err(|error| Failure::Inner(format!("no thread can be started: {error}")))?, items))
}

/// The time of messages that have none, in whole milliseconds.
fn now(memory: &Memory) -> Timestamp {
    Timestamp(memory.now().0 / 1_000 * 1_000)
}
