//! The lines of stdin, read in a thread of their own because reading blocks: who waits for a line can be stopped.

use std::io::{self, BufRead, Read as _, stdin};

use tokio::sync::mpsc::{Receiver, channel};

use crate::failure::Failure;

/// The longest line that is taken, in bytes: no message is longer, however it is written.
const LONGEST: u64 = 32 << 20;

/// What editors and shells of Windows begin a file with.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// It is longer than any that is taken, and was passed over.
    TooLong,
}

impl Line {
    /// Returns its text; else why it is not taken.
    pub(super) fn text(self) -> Result<String, Failure> {
        let Self::Whole(bytes) = self else {
            return Err(Failure::Usage("the line is longer than this program reads".to_owned()));
        };
        String::from_utf8(bytes).map_err(|_| Failure::Usage("the line is not UTF-8".to_owned()))
    }
}

/// Begins to read.
pub(super) fn lines() -> Result<Receiver<io::Result<Line>>, Failure> {
    let (sender, lines) = channel(1);
    let work = move || {
        let mut input = stdin().lock();
        let mut next = first_line(&mut input, LONGEST);
        while let Some(line) = next.transpose() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
            next = next_line(&mut input, LONGEST);
        }
    };
    let reader = std::thread::Builder::new().name("reader".to_owned()).spawn(work);
    reader.map_err(|error| Failure::no_thread(&error))?;
    Ok(lines)
}

/// Reads the first line, without the mark before it; none at the end.
fn first_line(input: &mut impl BufRead, longest: u64) -> io::Result<Option<Line>> {
    let mut line = next_line(input, longest)?;
    if let Some(Line::Whole(bytes)) = &mut line
        && bytes.starts_with(MARK)
    {
        bytes.drain(..MARK.len());
    }
    Ok(line)
}

/// Reads the next line; none at the end.
fn next_line(input: &mut impl BufRead, longest: u64) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    if input.by_ref().take(longest + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() as u64 > longest {
        input.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Whole(line)))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(input: &[u8], longest: u64) -> Vec<Line> {
        // A pipe may give byte after byte.
        let mut input = BufReader::with_capacity(1, input);
        let first = first_line(&mut input, longest).unwrap();
        first.into_iter().chain(std::iter::from_fn(|| next_line(&mut input, longest).unwrap())).collect()
    }

    #[test]
    fn lines_are_read_without_their_ends_and_a_byte_order_mark() {
        let lines = |texts: &[&str]| texts.iter().map(|text| Line::Whole(text.as_bytes().to_vec())).collect::<Vec<_>>();
        assert_eq!(read("\u{feff}one\n\ntwo".as_bytes(), 9), lines(&["one", "", "two"]));
        assert_eq!(read(b"one\n", 9), lines(&["one"]));
        assert_eq!(read(b"", 9), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_to_its_end() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(read(b"123\n1234\n12\n", 3), [whole("123"), Line::TooLong, whole("12")]);
        assert_eq!(read(b"12\n123456", 3), [whole("12"), Line::TooLong]);
        assert_eq!(Line::TooLong.text().unwrap_err().code(), 2);
    }
}
