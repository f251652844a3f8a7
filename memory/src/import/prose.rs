//! Files of plain text, such as notes or a table: they are refused once, and not once for each line.

use super::queue::{Sink, Stopped};
use super::refusal::Refusal;
use super::source::Source;

/// Lines that are looked at before it is said of a file that it holds no JSON.
const LOOKED_AT: usize = 100;

/// The lines before the first one that is JSON, of a file that does not begin as JSON.
#[derive(Debug)]
pub(super) struct Prose {
    /// The lines so far, each with its reason; none once the file is known to hold JSON.
    lines: Option<Vec<(u64, Refusal)>>,
}

impl Prose {
    /// Returns what is known of a file by its first byte. One that begins as an object is JSON, however much of it is broken, and so is
    /// one whose format is named.
    pub(super) fn of(first: u8, source: &Source) -> Self {
        Self { lines: (first != b'{' && source.format.is_none()).then(Vec::new) }
    }

    /// Returns whether no line so far is JSON.
    pub(super) fn is_possible(&self) -> bool {
        self.lines.is_some()
    }

    /// Refuses a line that is no JSON: later, as long as the file may hold none at all.
    pub(super) fn reject(&mut self, line: u64, why: Refusal, sink: &Sink) -> Result<(), Stopped> {
        let Some(lines) = &mut self.lines else { return sink.reject(line, why) };
        lines.push((line, why));
        if lines.len() < LOOKED_AT { Ok(()) } else { self.end(sink) }
    }

    /// Refuses the lines so far one by one: the file holds JSON.
    pub(super) fn give_up(&mut self, sink: &Sink) -> Result<(), Stopped> {
        let lines = self.lines.take().unwrap_or_default();
        lines.into_iter().try_for_each(|(line, why)| sink.reject(line, why))
    }

    /// Refuses the file at its end if no line of it is JSON. It is not read on.
    pub(super) fn end(&mut self, sink: &Sink) -> Result<(), Stopped> {
        let lines = self.lines.take().unwrap_or_default();
        let Some((first, _)) = lines.first() else { return Ok(()) };
        sink.reject(*first, Refusal::no_json(lines.len()))?;
        Err(Stopped)
    }
}
