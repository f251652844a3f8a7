//! Our own export: rows with their numbers, records with their versions, and roles and trust as they were.
//!
//! Anybody can write such a file, so an export speaks with the trust that it claims for its own owner alone: another
//! owner's is refused unless the caller says that its roles are to be trusted.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::item::Item;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::Refusal;
use crate::transfer::line::{Exported, MARK, RecordLine, RowLine, VERSION};

/// What an export is read with.
#[derive(Debug)]
pub(super) struct Reader {
    /// Tenant and subject of the owner who imports.
    owner: (String, String),
    trusts_roles: bool,
    has_begun: bool,
    /// What was read so far, what could not be taken included.
    read: Exported,
    /// The last line's place and what it says.
    end: Option<(Position, Exported)>,
}

impl Reader {
    pub(super) fn new(owner: &(String, String), trusts_roles: bool) -> Self {
        Self { owner: owner.clone(), trusts_roles, has_begun: false, read: Exported::default(), end: None }
    }

    /// Reads one line.
    pub(super) fn read(&mut self, at: Position, value: Value, sink: &Sink) -> Result<(), Stopped> {
        let Position { line, within, .. } = at;
        if value.get(MARK).is_some() {
            return self.header(at, &value, sink);
        }
        if !self.has_begun {
            sink.reject(at, "an export begins with its version, as {\"memory_export\":1}")?;
            return Err(Stopped);
        }
        if value.get("row").is_some() {
            self.read.rows += 1;
            let row = parse::<RowLine<'_>>(value).map(|row| Box::new(row.into_stored()));
            return sink.put(
                row.map_or_else(|why| Item::Rejected { line, within, why: why.into() }, |row| Item::Row { line, row }),
            );
        }
        if value.get("record").is_some() {
            self.read.records += 1;
            let record = parse::<RecordLine<'_>>(value).map(|record| Box::new(record.into_stored()));
            let taken = |record| Item::Record { line, record };
            return sink.put(record.map_or_else(|why| Item::Rejected { line, within, why: why.into() }, taken));
        }
        match value.get("end").map(|end| serde_json::from_value::<Exported>(end.clone())) {
            Some(Ok(end)) => {
                self.end = Some((at, end));
                Ok(())
            }
            _ => sink.reject(at, "not a line of an export"),
        }
    }

    fn header(&mut self, at: Position, header: &Value, sink: &Sink) -> Result<(), Stopped> {
        if header.get(MARK).and_then(Value::as_u64) != Some(VERSION) {
            sink.reject(at, format!("an export of a version that this program does not read: it reads {VERSION}"))?;
            return Err(Stopped);
        }
        let named = |member: &str| header.get(member).and_then(Value::as_str);
        let is_own = named("tenant") == Some(&self.owner.0) && named("subject") == Some(&self.owner.1);
        if !is_own && !self.trusts_roles {
            sink.reject(at, Refusal::ForeignOwner)?;
            return Err(Stopped);
        }
        if self.has_begun {
            // Another export follows in the same file.
            self.finish(at, sink)?;
        }
        (self.has_begun, self.read, self.end) = (true, Exported::default(), None);
        Ok(())
    }

    /// Returns whether the file is whole.
    pub(super) fn finish(&self, last: impl Into<Position>, sink: &Sink) -> Result<(), Stopped> {
        match self.end {
            None => sink.reject(last, Refusal::Cut("the export ends too soon: its last line is missing".to_owned())),
            Some((at, end)) if end != self.read => {
                let Exported { rows, records } = end;
                sink.reject(at, format!("the export had {rows} rows and {records} records, the file has not"))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Reads a line without quoting it in what is wrong.
fn parse<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|_| "the line does not have the members of an export".to_owned())
}
