//! Output: results on stdout, as lines for people or as JSON, and remarks on stderr. No text can steer the terminal.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use anstream::AutoStream;
use memory::store::secrets::text_without_secrets;
use serde::Serialize;

use crate::line::{Line, hang_of};
use crate::look::Look;
use crate::visible::{visible, visible_lines};
use crate::wrap::wrap;

/// Writes results to stdout.
pub(crate) struct Output {
    out: WhileRead,
    is_json: bool,
    look: Look,
    has_answered: bool,
}

impl Output {
    /// Returns the output of this process.
    pub(crate) fn stdout(is_json: bool, look: Look) -> Self {
        let out: Box<dyn Write + Send> = if look.has_colour && !is_json {
            Box::new(BufWriter::new(AutoStream::always(io::stdout())))
        } else {
            Box::new(BufWriter::new(io::stdout()))
        };
        Self { out: WhileRead { out, goes_on: false, is_closed: false }, is_json, look, has_answered: false }
    }

    /// Returns it as one that takes everything, also where nobody reads it any more: what is written then is left out.
    pub(crate) fn outlasting_its_reader(mut self) -> Self {
        self.out.goes_on = true;
        self
    }

    /// Returns whether nobody reads it any more, as far as what was written has shown.
    pub(crate) fn is_closed(&self) -> bool {
        self.out.is_closed
    }

    /// Returns how results look.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Returns whether an answer was given out.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Returns whether results are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Writes one line for people, whatever is in the names and texts that it shows.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.painted(&Line::of(text), hang_of(text))
    }

    /// Writes a line for people. Where it is broken, the rest stands behind `hang` blanks.
    pub(crate) fn painted(&mut self, line: &Line, hang: usize) -> io::Result<()> {
        let Look { width, has_colour } = self.look;
        line.lines(width, hang, has_colour).iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// Writes what somebody said, for people, behind `indent` blanks. Its own line breaks stay.
    pub(crate) fn said(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let text = visible_lines(text);
        let Some(width) = self.look.width else {
            return text.split('\n').try_for_each(|line| writeln!(self.out, "{:1$}{line}", "", blanks(line, indent)));
        };
        for line in text.split('\n').map(|line| line.replace('\t', "    ")) {
            let own = indent + line.len() - line.trim_start_matches(' ').len();
            let whole = format!("{:1$}{line}", "", blanks(&line, indent));
            // Deeply indented code would leave no room for words.
            let hang = if own > width / 3 { indent } else { own };
            for (place, part) in wrap(&whole, width, width.saturating_sub(hang)).into_iter().enumerate() {
                let part = whole.get(part).unwrap_or_default();
                writeln!(self.out, "{:1$}{part}", "", if place == 0 { 0 } else { hang })?;
            }
        }
        Ok(())
    }

    /// Writes each line of a text for people.
    pub(crate) fn told(&mut self, text: &impl Display) -> io::Result<()> {
        text.to_string().lines().try_for_each(|line| self.line(line))
    }

    /// Writes a receipt, as JSON or in words.
    pub(crate) fn receipt(&mut self, receipt: &(impl Serialize + Display)) -> io::Result<()> {
        if self.is_json { self.json(receipt) } else { self.told(receipt) }
    }

    /// Writes a part of what somebody says at once. Its lines are not broken, and lone carriage returns are left out.
    pub(crate) fn piece(&mut self, text: &str) -> io::Result<()> {
        write!(self.out, "{}", visible_lines(&text.replace('\r', "")))?;
        self.out.flush()
    }

    /// Writes what somebody said without breaking its lines.
    pub(crate) fn whole(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", visible_lines(text))
    }

    /// Writes a line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// Returns where lines go that are made elsewhere.
    pub(crate) fn lines(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Writes what is still held back. That nobody reads it is no error: how the command ends is still to be told.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.has_answered = true;
        self.out.flush()
    }
}

/// Writes as long as somebody reads.
struct WhileRead {
    out: Box<dyn Write + Send>,
    /// Whether what nobody reads is left out. Else writing it is an error.
    goes_on: bool,
    is_closed: bool,
}

impl WhileRead {
    /// Does something with what is written to; none once nobody reads it.
    fn unless_closed<T>(&mut self, act: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<Option<T>> {
        if self.is_closed {
            return Ok(None);
        }
        match act(&mut self.out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }
}

impl Write for WhileRead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.unless_closed(|out| out.write(bytes))? {
            Some(written) => Ok(written),
            None if self.goes_on => Ok(bytes.len()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed(|out| out.flush()).map(drop)
    }
}

/// An empty line has no blanks.
fn blanks(line: &str, indent: usize) -> usize {
    if line.is_empty() { 0 } else { indent }
}

/// Says one line on stderr, without the secrets of places. A closed stderr stops nothing.
pub(crate) fn say(text: &str) {
    // Written at once and whole: whoever reads it may kill this process at the next instant.
    let _ = io::stderr().write_all(format!("{}\n", visible(&text_without_secrets(text))).as_bytes());
}

/// Returns the beginning of a text on one line, of at most `most` characters.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line).trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is read up to so many bytes.
    struct Reader(usize);

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_nobody_reads_stops_only_what_does_not_outlast_its_reader() {
        let output = || {
            let out = Box::new(BufWriter::with_capacity(16, Reader(40)));
            let out = WhileRead { out, goes_on: false, is_closed: false };
            Output { out, is_json: false, look: Look::default(), has_answered: false }
        };
        let write = |mut output: Output| {
            (0..9).try_for_each(|_| output.line("ten bytes"))?;
            output.flush()
        };
        assert_eq!(write(output()).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert!(write(output().outlasting_its_reader()).is_ok());
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(brief("über  alle\nBerge", 99), "über alle Berge");
        assert_eq!(brief("über alle Berge", 5), "über…");
        assert_eq!(brief("", 0), "");
    }
}
