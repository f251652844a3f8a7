//! `memory backup`: the whole database as a new file, while others use it.

mod part;
mod place;

use std::io::BufWriter;
use std::path::Path;

use memory::transfer::export;
use serde_json::json;

use super::call::Call;
use crate::config::Database;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

use place::Place;

/// What a backup is.
#[derive(Clone, Copy)]
enum Kind {
    /// A database file, with every owner in it.
    Database,
    /// An export of one owner.
    Export,
}

/// Makes the backup. The file appears under its name when it is whole and on the disk.
pub(crate) async fn run(call: &Call, args: &crate::cli::Backup, output: &mut Output) -> Result<Outcome, Failure> {
    let database = call.database()?;
    let place = Place::new(&args.file)?;
    let kind = match database.file.as_deref() {
        Some(file) => {
            database.must_be_there()?;
            database.must_be_one()?;
            copy(file, place.path()).await?;
            Kind::Database
        }
        None => {
            write_export(call, &database, &place).await?;
            Kind::Export
        }
    };
    let bytes = place.keep()?;
    if call.journal().is_some_and(|journal| journal.exists()) {
        say("note: what may wait in the journal reaches the database later, and is not in the backup");
    }
    let file = args.file.display();
    if output.is_json() {
        let kind = match kind {
            Kind::Database => "database",
            Kind::Export => "export",
        };
        output.json(&json!({ "file": file.to_string(), "bytes": bytes, "kind": kind }))?;
    } else {
        output.line(&format!("{file}: {bytes} bytes"))?;
        output.line(match kind {
            Kind::Database => "the whole database, of every owner: open it with --db",
            Kind::Export => "an export of this owner alone: `memory import` reads it",
        })?;
    }
    output.flush()?;
    Ok(Outcome::Done)
}

#[cfg(feature = "sqlite")]
async fn copy(file: &Path, to: &Path) -> Result<(), Failure> {
    let config = memory::sqlite::SqliteConfig::new(file).with_create(false);
    let sqlite = memory::sqlite::Sqlite::connect(config).await?;
    let copied = sqlite.backup(to).await;
    sqlite.close().await?;
    Ok(copied?)
}

#[cfg(not(feature = "sqlite"))]
async fn copy(_: &Path, _: &Path) -> Result<(), Failure> {
    Err(Failure::Usage("sqlite is not built in".to_owned()))
}

/// Writes an export of the owner, without the journal: a program that runs may have that.
async fn write_export(call: &Call, database: &Database, place: &Place) -> Result<(), Failure> {
    let owner = call.owner()?;
    let memory = call.hold(database.build(database.connect().await?, None).await?).await;
    let mut lines = BufWriter::new(place.file()?);
    export(&memory.of(&owner), None, &mut lines).await?;
    let file = lines.into_inner().map_err(|error| Failure::Output(error.into_error()))?;
    Ok(file.sync_all()?)
}
