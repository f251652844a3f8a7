//! Output: results on stdout, as lines for people or as JSON, and remarks on stderr. No text can steer the terminal.

use std::io::{self, BufWriter, Write};

use memory::store::secrets::text_without_secrets;
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

    /// Writes one line for people, whatever is in the names and texts that it shows.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", visible(text))
    }

    /// Writes what somebody said, for people. Its own line breaks stay.
    pub(crate) fn said(&mut self, text: &str) -> io::Result<()> {
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

    /// Writes what is still held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says one line on stderr, without the secrets of places. A closed stderr stops nothing.
pub(crate) fn say(text: &str) {
    // Written at once and whole: whoever reads it may kill this process at the next instant.
    let _ = io::stderr().write_all(format!("{}\n", visible(&text_without_secrets(text))).as_bytes());
}

/// Returns text as one line that cannot steer a terminal: control characters, line ends, and characters that turn the
/// direction of writing are shown by their codes.
pub(crate) fn visible(text: &str) -> String {
    shown(text, |c| c.is_control() || is_line_end(c) || turns(c) || is_mark(c))
}

/// Returns text of several lines that cannot steer a terminal. Line breaks, tabs, and the marks that texts written from the
/// right need, stay.
fn visible_lines(text: &str) -> String {
    shown(&text.replace("\r\n", "\n"), |c| (c.is_control() && c != '\n' && c != '\t') || is_line_end(c) || turns(c))
}

fn shown(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// The ends of lines and paragraphs that are no control characters.
fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Embeddings, overrides, isolates and their ends, and the old characters that change how digits and letters look.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
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
    fn a_name_cannot_steer_the_terminal_or_begin_a_line() {
        let name = "a\u{1b}[2J\r\n\u{9b}b\u{202e}c\u{2028}\u{200f}\td\u{7f}é日";
        assert_eq!(visible(name), "a\\u{1b}[2J\\r\\n\\u{9b}b\\u{202e}c\\u{2028}\\u{200f}\\td\\u{7f}é日");
    }

    #[test]
    fn what_was_said_keeps_its_lines() {
        let said = "one\r\ntwo\n\tthree\u{200f}\u{1b}]0;x\u{7}\u{2067}\r";
        assert_eq!(visible_lines(said), "one\ntwo\n\tthree\u{200f}\\u{1b}]0;x\\u{7}\\u{2067}\\r");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(brief("über  alle\nBerge", 99), "über alle Berge");
        assert_eq!(brief("über alle Berge", 5), "über…");
        assert_eq!(brief("", 0), "");
    }
}
