//! Where results go: lines for people, or JSON; and what is said beside them, on stderr.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

/// Writes results to stdout.
pub(crate) struct Output {
    out: Box<dyn Write>,
    is_json: bool,
}

impl Output {
    /// Returns the output of this process.
    pub(crate) fn stdout(is_json: bool) -> Self {
        Self { out: Box::new(BufWriter::new(io::stdout())), is_json }
    }

    /// Returns whether results are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Writes a line for people. Control characters of stored text do not reach the terminal.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", plain(text))
    }

    /// Writes a line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// Writes what is still held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says something on stderr. A closed stderr stops nothing.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", plain(text));
}

/// Returns text with its control characters, line breaks and tabs apart, made visible.
pub(crate) fn plain(text: &str) -> String {
    let is_safe = |c: char| !c.is_control() || c == '\n' || c == '\t';
    text.chars().map(|c| if is_safe(c) { c } else { '\u{fffd}' }).collect()
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

    #[test]
    fn stored_text_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\r\u{9b}c\td\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\td\n");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(brief("über  alle\nBerge", 99), "über alle Berge");
        assert_eq!(brief("über alle Berge", 5), "über…");
        assert_eq!(brief("", 0), "");
    }
}
