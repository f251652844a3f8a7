//! Files of plain text, such as notes or a table: they are refused once, and not once for each line.

use super::queue::{Sink, Stopped};
use super::refusal::Refusal;

/// Lines that are looked at before it is said of a file that it holds no JSON.
const LOOKED_AT: usize = 100;

/// The lines before the first one that is JSON, of a file that does not begin as JSON.
#[derive(Debug)]
pub(super) struct Prose {
    /// The lines so far, each with its reason; none once the file is known to hold JSON.
    lines: Option<Vec<(u64, Refusal)>>,
}

impl Prose {
    /// Returns what is known of a file by its first byte. One that begins as an object is JSON, however much of it is broken.
    pub(super) fn of(first: u8) -> Self {
        Self { lines: (first != b'{').then(Vec::new) }
    }

    /// Returns whether all lines so far are no JSON, and there are some.
    pub(super) fn is_likely(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| !lines.is_empty())
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
