//! Reading large files a piece at a time: lines of bounded length, elements of an array, values one after another.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::Arc;

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::{Deserializer, Value};

use super::bounded::{self, Element};
use super::meter::Meter;
use super::queue::{Sink, Stopped};

/// How serde_json begins to say that its bound of nesting is reached; its categories do not tell that.
const TOO_DEEP: &str = "recursion limit exceeded";
const TOO_LONG: &str = "longer than this program reads";
const TOO_MUCH: &str = "holds more values than this program reads at once: write a message a line";

/// How an input is read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Counts the bytes that were read.
    pub(super) meter: Arc<Meter>,
    /// The longest line or element that is read, in bytes.
    pub(super) longest: usize,
}

/// Takes what was read, with the line it ends on.
pub(super) type Each<'a> = dyn FnMut(u64, Value) -> Result<(), Stopped> + 'a;

/// Reads the JSON of one line; else why it cannot be read, as one clause that quotes nothing of it.
pub(super) fn parse(line: &str) -> Result<Value, String> {
    let mut input = Deserializer::from_str(line);
    let read = bounded::value(&mut input).and_then(|value| input.end().map(|()| value));
    match read {
        Ok(value) => value.ok_or_else(|| format!("the line {TOO_MUCH}")),
        Err(error) => Err(format!("not JSON: {}", category(&error))),
    }
}

fn give(line: u64, value: Option<Value>, sink: &Sink, each: &mut Each<'_>) -> Result<(), Stopped> {
    match value {
        Some(value) => each(line, value),
        None => sink.reject(line, format!("the element {TOO_MUCH}")),
    }
}

/// Counts what passes, and ends an element that is too long.
struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
    /// What the element under way may still have.
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // serde_json reads one byte at a time, so the meter is never ahead of the element; the buffer lies below.
        let count = self.inner.read(buffer)?;
        let lines = buffer.iter().take(count).filter(|byte| **byte == b'\n').count();
        self.meter.add(count as u64, lines as u64);
        let left = self.left.get().checked_sub(count).ok_or_else(|| io::Error::other(TOO_LONG))?;
        self.left.set(left);
        Ok(count)
    }
}

/// A line, or why there is none.
#[derive(Debug)]
pub(super) enum Line {
    Text(String),
    Bad(String),
    End,
}

/// Reads the next line without its end; one that is too long is passed over.
pub(super) fn next_line(input: &mut impl BufRead, reading: &Reading) -> io::Result<Line> {
    let Reading { meter, longest } = reading;
    let mut line = Vec::new();
    let read = input.by_ref().take(*longest as u64 + 1).read_until(b'\n', &mut line)?;
    let has_end = line.last() == Some(&b'\n');
    meter.add(read as u64, u64::from(has_end));
    if read == 0 {
        return Ok(Line::End);
    }
    if !has_end && read > *longest {
        skip_line(input, meter)?;
        return Ok(Line::Bad(format!("the line is {TOO_LONG}")));
    }
    match String::from_utf8(line) {
        Ok(mut text) => {
            text.truncate(text.trim_end_matches(['\n', '\r']).len());
            Ok(Line::Text(text))
        }
        Err(_) => Ok(Line::Bad("the line is not UTF-8".to_owned())),
    }
}

fn skip_line(input: &mut impl BufRead, meter: &Meter) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let ended = end.is_some() || buffer.is_empty();
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        meter.add(used as u64, u64::from(end.is_some()));
        if ended {
            return Ok(());
        }
    }
}

/// Gives every element of the array in `input` to `each`, one at a time; each is dropped before the next is read. What
/// ends the array early is put as a rejection.
pub(super) fn each_element(
    input: impl Read,
    reading: &Reading,
    sink: &Sink,
    each: &mut Each<'_>,
) -> Result<(), Stopped> {
    let mut stopped = false;
    let Reading { meter, longest } = reading;
    let left = Rc::new(Cell::new(*longest));
    let mut visit = |value: Option<Value>| {
        left.set(*longest);
        stopped = give(meter.lines() + 1, value, sink, each).is_err();
        !stopped
    };
    let metered = Metered { inner: input, meter: Arc::clone(meter), left: Rc::clone(&left) };
    let mut deserializer = Deserializer::from_reader(metered);
    let read = deserializer.deserialize_seq(Elements(&mut visit)).and_then(|()| deserializer.end());
    match read {
        Ok(()) => Ok(()),
        Err(_) if stopped => Err(Stopped),
        Err(error) => sink.reject(meter.lines() + 1, format!("not JSON from here on: {}", category(&error))),
    }
}

/// Gives every value in `input` to `each`, however many lines each of them takes.
pub(super) fn each_value(input: impl Read, reading: &Reading, sink: &Sink, each: &mut Each<'_>) -> Result<(), Stopped> {
    let Reading { meter, longest } = reading;
    let left = Rc::new(Cell::new(*longest));
    let metered = Metered { inner: input, meter: Arc::clone(meter), left: Rc::clone(&left) };
    let mut values = Deserializer::from_reader(metered);
    while values.end().is_err() {
        left.set(*longest);
        match bounded::value(&mut values) {
            Ok(value) => give(meter.lines() + 1, value, sink, each)?,
            Err(error) => {
                return sink.reject(meter.lines() + 1, format!("not JSON from here on: {}", category(&error)));
            }
        }
    }
    Ok(())
}

/// Returns what is wrong with JSON, without quoting it.
pub(super) fn category(error: &serde_json::Error) -> String {
    use serde_json::error::Category;

    match error.classify() {
        Category::Io if error.to_string().contains(TOO_LONG) => format!("an element is {TOO_LONG}"),
        Category::Io if error.io_error_kind() == Some(io::ErrorKind::InvalidData) => "it is not UTF-8".to_owned(),
        Category::Io => {
            let (text, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
            format!("it cannot be read: {}", text.trim_end_matches(&place))
        }
        Category::Syntax if error.to_string().starts_with(TOO_DEEP) => {
            format!("it is nested too deep at column {}", error.column())
        }
        Category::Eof => "it ends too soon".to_owned(),
        Category::Syntax | Category::Data => format!("it is not well formed at column {}", error.column()),
    }
}

struct Elements<'a>(&'a mut dyn FnMut(Option<Value>) -> bool);

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while let Some(value) = sequence.next_element_seed(Element)? {
            if !(self.0)(value) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
