//! Writing an export: everything of one owner that has not expired or is on hold, as JSON lines.

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

use std::io::Write;

use memory_core::engine::Scoped;
use memory_core::{Filter, Record, RecordId, SessionId};

use super::error::Error;
use super::line::{EndLine, Exported, Header, RecordLine, RowLine, VERSION};
use super::session_reader::{SessionReader, TRIES, Torn};
use super::spool::{Spool, write_line};

/// Sessions, or records, that are read together. Few, so that not much is held of very long records.
const PAGE: usize = 100;

/// Writes everything of an owner as JSON lines, a page at a time, and returns how much that is; only one session if one
/// is given. [`Import`](crate::import::Import) reads it again.
///
/// What has expired is left out, unless it is on hold, and so is the board. Each session is written as it is at one moment.
///
/// # Errors
/// [`Error::Busy`] for a session that is written to all the while; [`Error::Output`] if the lines cannot be written. Then the
/// last line is missing, and an import says so.
pub async fn export(
    scoped: &Scoped,
    only: Option<&SessionId>,
    output: &mut (impl Write + ?Sized),
) -> Result<Exported, Error> {
    let mut end = Exported::default();
    let scope = scoped.scope();
    let at = scoped.memory().now().to_string();
    write_line(output, &Header { memory_export: VERSION, tenant: scope.tenant(), subject: scope.subject(), at })?;
    if let Some(session) = only {
        end.rows += write_session(scoped, session, output).await?;
    } else {
        end.rows += write_sessions(scoped, output).await?;
        end.records += write_records(scoped, output).await?;
    }
    write_line(output, &EndLine { end })?;
    Ok(end)
}

async fn write_sessions(scoped: &Scoped, output: &mut (impl Write + ?Sized)) -> Result<u64, Error> {
    let mut rows = 0;
    let mut after: Option<SessionId> = None;
    loop {
        let sessions = scoped.sessions(after.as_ref(), PAGE).await?;
        for state in &sessions {
            rows += write_session(scoped, &state.session, output).await?;
        }
        match sessions.into_iter().next_back() {
            Some(last) => after = Some(last.session),
            None => return Ok(rows),
        }
    }
}

/// Writes the rows of a session as they were at one moment. One of several pages waits in a file without a name until its
/// last page shows that nobody changed it meanwhile.
async fn write_session(scoped: &Scoped, id: &SessionId, output: &mut (impl Write + ?Sized)) -> Result<u64, Error> {
    let session = scoped.session(id);
    for _ in 0..TRIES {
        let mut session_reader = SessionReader::default();
        let Ok(first) = session_reader.take(session.read(&session_reader.page()).await?) else { continue };
        let Ok(mut rows) = session_reader.take(session.read(&session_reader.page()).await?) else { continue };
        if rows.is_empty() {
            first.iter().try_for_each(|row| write_line(output, &RowLine::new(row)))?;
            return Ok(first.len() as u64);
        }
        let mut spool = Spool::new()?;
        first.iter().try_for_each(|row| spool.write(&RowLine::new(row)))?;
        drop(first);
        let is_torn = loop {
            rows.iter().try_for_each(|row| spool.write(&RowLine::new(row)))?;
            match session_reader.take(session.read(&session_reader.page()).await?) {
                Ok(next) if next.is_empty() => break false,
                Ok(next) => rows = next,
                Err(Torn) => break true,
            }
        };
        if !is_torn {
            return Ok(spool.copy_to(output)?);
        }
    }
    Err(Error::Busy(id.clone()))
}

async fn write_records(scoped: &Scoped, output: &mut (impl Write + ?Sized)) -> Result<u64, Error> {
    // Superseded records are history, expired ones are gone, also before they are swept away. A sweep spares those on hold.
    let now = scoped.memory().now();
    let is_gone = |record: &Record| !record.hold && record.expires_at().is_some_and(|at| at <= now);
    let (mut records, mut after): (u64, Option<RecordId>) = (0, None);
    loop {
        let page = scoped.records(&Filter::All, after, PAGE).await?;
        for stored in page.iter().filter(|stored| !is_gone(&stored.record)) {
            write_line(output, &RecordLine::new(stored))?;
            records += 1;
        }
        match page.last() {
            Some(last) => after = Some(last.record.id),
            None => return Ok(records),
        }
    }
}
