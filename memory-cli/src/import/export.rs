//! Our own export: rows with their numbers, records with their versions.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::item::{Item, Sink, Stopped};
use crate::export::{End, RecordLine, RowLine, VERSION};

/// The member by which an export is known.
pub(super) const MARK: &str = "memory_export";

/// What an export is read with.
#[derive(Debug, Default)]
pub(super) struct Reader {
    has_begun: bool,
    /// What was read so far, what could not be taken included.
    read: End,
    /// The last line's number and what it says.
    end: Option<(u64, End)>,
}

impl Reader {
    /// Reads one line.
    pub(super) fn read(&mut self, line: u64, value: Value, sink: &Sink) -> Result<(), Stopped> {
        if let Some(version) = value.get(MARK) {
            return self.header(line, version, sink);
        }
        if !self.has_begun {
            sink.reject(line, "an export begins with its version, as {\"memory_export\":1}")?;
            return Err(Stopped);
        }
        if value.get("row").is_some() {
            self.read.rows += 1;
            let row = parse::<RowLine<'_>>(value).map(|row| Box::new(row.into_stored()));
            return sink.put(row.map_or_else(|why| Item::Rejected { line, why }, |row| Item::Row { line, row }));
        }
        if value.get("record").is_some() {
            self.read.records += 1;
            let record = parse::<RecordLine<'_>>(value).map(|record| Box::new(record.into_stored()));
            let taken = |record| Item::Record { line, record };
            return sink.put(record.map_or_else(|why| Item::Rejected { line, why }, taken));
        }
        match value.get("end").map(|end| serde_json::from_value::<End>(end.clone())) {
            Some(Ok(end)) => {
                self.end = Some((line, end));
                Ok(())
            }
            _ => sink.reject(line, "not a line of an export"),
        }
    }

    fn header(&mut self, line: u64, version: &Value, sink: &Sink) -> Result<(), Stopped> {
        if version.as_u64() != Some(VERSION) {
            sink.reject(line, format!("an export of a version that this program does not read: it reads {VERSION}"))?;
            return Err(Stopped);
        }
        if self.has_begun {
            // Another export follows in the same file.
            self.finish(line, sink)?;
        }
        *self = Self { has_begun: true, ..Self::default() };
        Ok(())
    }

    /// Says whether the file held all that was exported.
    pub(super) fn finish(&self, line: u64, sink: &Sink) -> Result<(), Stopped> {
        match self.end {
            None => sink.reject(line, "the export ends too soon: its last line is missing"),
            Some((line, end)) if end != self.read => {
                let End { rows, records } = end;
                sink.reject(line, format!("the export had {rows} rows and {records} records, the file has not"))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Reads a line without quoting it in what is wrong.
fn parse<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|_| "the line does not have the members of an export".to_owned())
}
