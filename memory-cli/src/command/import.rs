//! `memory import`: conversations from files, folders and archives, or from stdin.

mod report;
mod table;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use memory::import::{Import, Progress as Imported, Source};
use memory::store::secrets::without_secrets;
use memory::{Memory, Scoped, Timestamp};

use super::call::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::{cli, upkeep};

use report::{outcome, report};

/// How often the progress of the indexing is looked up.
const TICK: Duration = Duration::from_millis(250);

/// Imports the files.
pub(crate) async fn run(call: &Call, args: &cli::Import, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let mut source = Source::new(scoped.scope(), call.session_name(), now(&memory));
    if call.global.session.is_some() {
        source = source.naming_conversations();
    }
    if let Some(format) = args.format {
        source = source.with_format(format.into());
    }
    if args.trust_roles {
        source = source.trusting_roles();
    }
    let (mut import, bytes) = begin(scoped, &args.files, source)?;
    let progress = Progress::new(args.progress, bytes);
    let interrupted = match copy(&mut import, &progress).await {
        Ok(interrupted) => interrupted,
        Err(memory::Error::Fenced) => {
            progress.finish();
            let what = "the owner or a session was erased while it was imported, with what was in it: \
                the same command imports it anew";
            return Err(Failure::Busy(what.to_owned()));
        }
        Err(error) => {
            progress.finish();
            progress.say(&format!("{} items are in; the same command goes on from there", import.tally().committed()));
            return Err(error.into());
        }
    };
    let interrupted = interrupted || index(&memory, &progress).await;
    progress.finish();
    let tally = import.finish();
    report(&tally, &args.files, interrupted, &progress, output)?;
    outcome(&tally, &args.files, interrupted)
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
        _ = follow => false,
        () = watch => false,
        _ = tokio::signal::ctrl_c() => true,
    }
}

/// Begins to read the files, or stdin; returns how many bytes that is, if it is known.
fn begin(scoped: Scoped, files: &[String], source: Source) -> Result<(Import, Option<u64>), Failure> {
    if let [file] = files
        && file == "-"
    {
        let import = Import::begin(scoped, io::stdin(), source.with_stem("stdin"));
        return Ok((import.map_err(|error| Failure::no_thread(&error))?, None));
    }
    let sizes = files.iter().map(|file| size(file)).collect::<Result<Vec<_>, Failure>>()?;
    let paths = files.iter().map(PathBuf::from).collect();
    let import = Import::begin_files(scoped, paths, source).map_err(|error| Failure::no_thread(&error))?;
    Ok((import, sizes.into_iter().sum()))
}

/// Returns the size of a file that can be read, if its bytes are those that are read: not those of a folder or an archive.
fn size(file: &str) -> Result<Option<u64>, Failure> {
    let unreadable = |error: io::Error| unreadable(file, &error);
    if file == "-" {
        return Err(Failure::Usage("stdin is read alone: give - or files".to_owned()));
    }
    let metadata = std::fs::metadata(file).map_err(unreadable)?;
    if metadata.is_dir() {
        return std::fs::read_dir(file).map(|_| None).map_err(unreadable);
    }
    if metadata.is_file() {
        File::open(file).map_err(unreadable)?;
    }
    let is_packed = file.to_ascii_lowercase().ends_with(".zip");
    Ok(Some(metadata.len()).filter(|_| metadata.is_file() && !is_packed))
}

/// Returns why a file cannot be read, and what to do.
fn unreadable(file: &str, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::NotFound if file.contains("://") => "it is a URL: download it, and give the file".to_owned(),
        io::ErrorKind::NotFound => "it is not there: look at its name and its folder".to_owned(),
        io::ErrorKind::PermissionDenied => "the system does not let you read it: look at whose it is".to_owned(),
        _ => error.to_string(),
    };
    Failure::Usage(format!("the file {} cannot be read: {why}", without_secrets(file)))
}

/// The time of messages that have none, in whole milliseconds.
fn now(memory: &Memory) -> Timestamp {
    Timestamp(memory.now().0 / 1_000 * 1_000)
}
