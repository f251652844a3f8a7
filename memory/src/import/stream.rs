//! Reading large files a piece at a time: lines of bounded length, elements of an array, values one after another.

mod place;

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::{Deserializer, Value};

use super::bounded;
use super::meter::Meter;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::Refusal;

use place::Place;

/// How serde_json begins to say that its bound of nesting is reached; its categories do not tell that.
const TOO_DEEP: &str = "recursion limit exceeded";
/// How serde_json says that a text is not UTF-8.
const NO_TEXT: &str = "invalid unicode code point";
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

/// Takes what was read, with its place.
pub(super) type Each<'a> = dyn FnMut(Position, Value) -> Result<(), Stopped> + 'a;

/// Reads the JSON of one line; else why it cannot be read, as one clause that quotes nothing of it.
pub(super) fn parse(line: &str) -> Result<Value, String> {
    let mut input = Deserializer::from_str(line);
    let read = bounded::value(&mut input).and_then(|value| input.end().map(|()| value));
    match read {
        Ok(value) => value.ok_or_else(|| format!("the line {TOO_MUCH}")),
        Err(error) => Err(format!("not JSON: {}", wrong(&error, &format!(" at column {}", error.column())))),
    }
}

fn give(at: Position, value: Option<Value>, sink: &Sink, each: &mut Each<'_>) -> Result<(), Stopped> {
    match value {
        Some(value) => each(at, value),
        None => sink.reject(at, format!("the element {TOO_MUCH}")),
    }
}

/// Counts what passes, and ends an element that is too long.
struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
    /// What the element under way may still have, none once it was too long: a parser goes on reading behind an error.
    left: Rc<Cell<Option<usize>>>,
    place: Place,
    /// The last byte ended a line, which is not counted yet: a number that ends a line is known by that byte, and stands before it.
    is_at_end_of_line: bool,
}

impl<R> Metered<R> {
    fn new(inner: R, meter: &Arc<Meter>, left: &Rc<Cell<Option<usize>>>) -> Self {
        let (meter, left) = (Arc::clone(meter), Rc::clone(left));
        Self { inner, meter, left, place: Place::default(), is_at_end_of_line: false }
    }
}

impl<R: BufRead> Metered<R> {
    /// Passes over the rest of an element that is too long, and returns whether its array goes on behind it.
    fn skip_element(&mut self) -> io::Result<bool> {
        while !self.place.is_behind_element() {
            let buffer = self.inner.fill_buf()?;
            if buffer.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let (mut used, mut lines) = (0, u64::from(std::mem::take(&mut self.is_at_end_of_line)));
            for byte in buffer {
                self.place.pass(*byte);
                used += 1;
                lines += u64::from(*byte == b'\n');
                if self.place.is_behind_element() {
                    break;
                }
            }
            self.inner.consume(used);
            self.meter.add(used as u64, lines);
        }
        Ok(!self.place.is_behind_array())
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let too_long = || io::Error::other(TOO_LONG);
        let left = self.left.get().ok_or_else(too_long)?;
        // serde_json reads one byte at a time, so the meter is never ahead of the element; the buffer lies below.
        let count = self.inner.read(buffer)?;
        let read = buffer.get(..count).unwrap_or_default();
        let lines = read.iter().filter(|byte| **byte == b'\n').count() as u64;
        let is_at_end = read.ends_with(b"\n");
        let before = std::mem::replace(&mut self.is_at_end_of_line, is_at_end);
        self.meter.add(count as u64, lines + u64::from(before) - u64::from(is_at_end));
        read.iter().for_each(|byte| self.place.pass(*byte));
        self.left.set(left.checked_sub(count));
        self.left.get().map(|_| count).ok_or_else(too_long)
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

/// Gives every element of the array in `input` to `each`, one at a time; each is dropped before the next is read. One that is too long is
/// passed over and put as a rejection, and so is what ends the array early.
pub(super) fn each_element(
    input: impl BufRead,
    reading: &Reading,
    sink: &Sink,
    each: &mut Each<'_>,
) -> Result<(), Stopped> {
    let Reading { meter, longest } = reading;
    let left = Rc::new(Cell::new(Some(*longest)));
    let mut metered = Metered::new(input, meter, &left);
    // Stands before the rest of an array, or before what is behind it, so that it begins as one.
    let mut begin = "";
    let mut count = 0;
    loop {
        let (mut stopped, first) = (false, meter.lines() + 1);
        let element = Cell::new(first);
        let begins = || element.set(meter.lines() + 1);
        let mut visit = |value: Option<Value>| {
            left.set(Some(*longest));
            count += 1;
            let at = Position::of_element(meter.lines() + 1, count).begun_on(element.get());
            stopped = give(at, value, sink, each).is_err();
            !stopped
        };
        let is_within = Cell::new(false);
        let elements = Elements { begins: &begins, visit: &mut visit, is_within: &is_within };
        let error = match elements.read(begin.as_bytes().chain(&mut metered)) {
            Ok(()) => return Ok(()),
            Err(_) if stopped => return Err(Stopped),
            Err(error) => error,
        };
        let skipped = if is_too_long(&error) { metered.skip_element().ok() } else { None };
        count += 1;
        let Some(goes_on) = skipped else {
            let (line, why) = broken(&error, first, begin.is_empty(), meter.lines() + 1);
            let at = if is_within.get() { Position::of_element(line, count) } else { Position::from(line) };
            return sink.reject(at, why);
        };
        sink.reject(Position::of_element(meter.lines() + 1, count), format!("the element is {TOO_LONG}"))?;
        // Behind an array may stand blanks, however many.
        begin = if goes_on { "[" } else { "[]" };
        left.set(Some(if goes_on { *longest } else { usize::MAX }));
    }
}

/// Gives every value in `input`, behind the line `first` that is a bracket alone, to `each`, however many lines each of them takes.
pub(super) fn each_value(
    first: u64,
    input: impl Read,
    reading: &Reading,
    sink: &Sink,
    each: &mut Each<'_>,
) -> Result<(), Stopped> {
    let Reading { meter, longest } = reading;
    let left = Rc::new(Cell::new(Some(*longest)));
    let bracket = b"{\n".as_slice();
    let mut values = Deserializer::from_reader(bracket.chain(Metered::new(input, meter, &left)));
    let mut is_first = true;
    while values.end().is_err() {
        // The bracket of the first one was read before.
        let begin = if std::mem::take(&mut is_first) { first } else { meter.lines() + 1 };
        left.set(Some(*longest));
        match bounded::value(&mut values) {
            Ok(value) => give(Position::from(meter.lines() + 1).begun_on(begin), value, sink, each)?,
            Err(error) => {
                let (line, why) = broken(&error, first, true, meter.lines() + 1);
                return sink.reject(line, why);
            }
        }
    }
    Ok(())
}

fn is_too_long(error: &serde_json::Error) -> bool {
    error.is_io() && error.to_string().contains(TOO_LONG)
}

/// Returns the line from which on there is no JSON, and why. What was read began in the line `first`, at its beginning or not, and was
/// read up to the line `last`: a parser reads on behind a mistake.
fn broken(error: &serde_json::Error, first: u64, is_from_beginning: bool, last: u64) -> (u64, Refusal) {
    let (line, column) = (error.line() as u64, error.column());
    let (line, place) = match column {
        _ if error.is_io() => (last, String::new()),
        // It is the end of a line that is wrong, or the end of the input behind it.
        0 => (first + line.saturating_sub(2), " at the end of the line".to_owned()),
        _ if line == 1 && !is_from_beginning => (first, String::new()),
        _ => (first + line.saturating_sub(1), format!(" at column {column}")),
    };
    let why = format!("not JSON from here on: {}", wrong(error, &place));
    (line, if error.is_eof() { Refusal::Cut(why) } else { Refusal::Other(why) })
}

/// Returns what is wrong with JSON at a place, without quoting it.
fn wrong(error: &serde_json::Error, place: &str) -> String {
    use serde_json::error::Category;

    match error.classify() {
        Category::Io if is_too_long(error) => format!("an element is {TOO_LONG}"),
        Category::Io if error.io_error_kind() == Some(io::ErrorKind::InvalidData) => "it is not UTF-8".to_owned(),
        Category::Io => {
            let (text, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
            format!("it cannot be read: {}", text.trim_end_matches(&place))
        }
        Category::Syntax if error.to_string().starts_with(TOO_DEEP) => format!("it is nested too deep{place}"),
        Category::Syntax if error.to_string().starts_with(NO_TEXT) => format!("it is not UTF-8{place}"),
        Category::Eof => "it ends too soon".to_owned(),
        Category::Syntax | Category::Data => format!("it is not well formed{place}"),
    }
}

/// Takes the elements of an array.
struct Elements<'a> {
    /// Is told of an element when its first byte was read.
    begins: &'a dyn Fn(),
    visit: &'a mut dyn FnMut(Option<Value>) -> bool,
    /// Is set by an error that stands within the array, and not behind it.
    is_within: &'a Cell<bool>,
}

impl Elements<'_> {
    fn read(self, input: impl Read) -> serde_json::Result<()> {
        let mut input = Deserializer::from_reader(input);
        input.deserialize_seq(self).and_then(|()| input.end())
    }
}

/// Reads an element, and tells that it begins.
struct Begun<'a>(&'a dyn Fn());

impl<'de> DeserializeSeed<'de> for Begun<'_> {
    type Value = Option<Value>;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Option<Value>, D::Error> {
        (self.0)();
        bounded::value(input)
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        // Behind an error the parser still looks for the end of the array.
        while let Some(value) =
            sequence.next_element_seed(Begun(self.begins)).inspect_err(|_| self.is_within.set(true))?
        {
            if !(self.visit)(value) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
