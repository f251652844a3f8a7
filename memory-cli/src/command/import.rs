//! `memory import`: conversations from a file, or from stdin.

mod report;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use memory::import::{Import, Progress as Imported, Source};
use memory::store::secrets::without_secrets;
use memory::{Memory, Timestamp};

use super::call::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::{cli, upkeep};

use report::{outcome, report};

/// How often the progress of the indexing is looked up.
const TICK: Duration = Duration::from_millis(250);

/// Imports the file.
pub(crate) async fn run(call: &Call, args: &cli::Import, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let (input, bytes) = open(&args.file)?;
    let mut source = Source::new(scoped.scope(), call.session_name(), now(&memory)).with_stem(stem(&args.file));
    if let Some(format) = args.format {
        source = source.with_format(format.into());
    }
    if args.trust_roles {
        source = source.trusting_roles();
    }
    let progress = Progress::new(args.progress, bytes);
    let mut import = Import::begin(scoped, input, source).map_err(|error| Failure::no_thread(&error))?;
    let interrupted = match copy(&mut import, &progress).await {
        Ok(interrupted) => interrupted,
        Err(error) => {
            progress.finish();
            progress.say(&format!("{} items are in; the same command goes on from there", import.tally().committed()));
            return Err(error.into());
        }
    };
    let interrupted = interrupted || index(&memory, &progress).await;
    progress.finish();
    let tally = import.finish();
    report(&tally, interrupted, &progress, output)?;
    outcome(&tally, interrupted)
}

/// Moves items from the file to the database. Returns whether the person stopped it.
async fn copy(import: &mut Import, progress: &Progress) -> memory::Result<bool> {
    let mut stop = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        // A write that waits for a database is not waited for; what it has written is found again.
        let step = tokio::select! {
            biased;
            _ = &mut stop => return Ok(true),
            step = import.step() => step?,
        };
        let Some(Imported { committed, bytes, .. }) = step else { return Ok(false) };
        progress.committed(committed, bytes);
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

/// The time of messages that have none, in whole milliseconds.
fn now(memory: &Memory) -> Timestamp {
    Timestamp(memory.now().0 / 1_000 * 1_000)
}
