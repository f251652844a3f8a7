//! Reading a file of any of the formats, element by element.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use serde_json::Value;

use super::format::Format;
use super::item::Item;
use super::meter::Meter;
use super::position::Position;
use super::prose::Prose;
use super::queue::{Sink, Stopped};
use super::refusal::{Foreign, Refusal, title, titled};
use super::source::Source;
use super::stream::{self, Line, Reading};
use super::surrogates::Mended;
use super::{chatgpt, claude, export, locomo, longmemeval, openai};

/// Elements of no known format that are looked at before it is said of them that they have none: of a file of conversations the first
/// may be broken.
const LOOKED_AT: usize = 100;

/// Reads all of `input` into `sink`, and counts it by `meter`. Blocks; stops when the other side does.
pub(super) fn read(input: impl Read, source: &Source, meter: &Arc<Meter>, sink: &Sink) -> Result<(), Stopped> {
    let mut input = BufReader::with_capacity(1 << 16, Mended::new(input));
    let sink = &sink.trusting(source.trusts_roles);
    if let Some(kind) = input.fill_buf().ok().and_then(Foreign::of) {
        return sink.reject(1u64, Refusal::Foreign(kind));
    }
    let reading = Reading { meter: Arc::clone(meter), longest: source.longest };
    let first = match first_byte(&mut input, meter) {
        Ok(Some(first)) => first,
        Ok(None) => return Ok(()),
        Err(error) => return sink.reject(1u64, Refusal::unreadable("file", &error)),
    };
    let mut reader = Reader::new(source, meter);
    if first == b'[' {
        stream::each_element(input, &reading, sink, &mut |at, value| reader.element(at, value, sink))?;
    } else {
        each_line(input, &reading, sink, &mut reader, Prose::of(first, source))?;
    }
    reader.finish(sink)
}

fn each_line(
    mut input: impl BufRead,
    reading: &Reading,
    sink: &Sink,
    reader: &mut Reader<'_>,
    mut prose: Prose,
) -> Result<(), Stopped> {
    let mut is_first = true;
    loop {
        let line = reading.meter.lines() + 1;
        match stream::next_line(&mut input, reading) {
            Ok(Line::End) => return prose.end(sink),
            Ok(Line::Bad(why)) => {
                reader.last = line;
                prose.reject(line, why.into(), sink)?;
            }
            Ok(Line::Text(text)) if text.trim().is_empty() => {}
            // One value over many lines, as printed for people.
            Ok(Line::Text(text)) if is_first && text.trim() == "{" => {
                return stream::each_value(line, input, reading, sink, &mut |at, value| {
                    reader.element(at, value, sink)
                });
            }
            Ok(Line::Text(text)) => {
                let value = stream::parse(&text);
                // The values are as large again; the text is not held beside what is made of them.
                drop(text);
                reader.last = line;
                match value {
                    // A number alone on a line stands in tables too.
                    Ok(value) if prose.is_possible() && !value.is_object() => {
                        prose.reject(line, Refusal::UnknownFormat, sink)?;
                    }
                    Ok(value) => {
                        prose.give_up(sink)?;
                        reader.element(line.into(), value, sink)?;
                    }
                    Err(why) => prose.reject(line, why.into(), sink)?,
                }
            }
            Err(error) => {
                prose.give_up(sink)?;
                return sink.reject(line, format!("the file cannot be read: {error}"));
            }
        }
        is_first = false;
    }
}

/// Passes over blanks and a byte order mark, and returns the byte that follows.
fn first_byte(input: &mut impl BufRead, meter: &Meter) -> std::io::Result<Option<u8>> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, lines) = match buffer {
            [] => return Ok(None),
            [0xef, 0xbb, 0xbf, ..] => (3, 0),
            [b'\n', ..] => (1, 1),
            [b' ' | b'\t' | b'\r', ..] => (1, 0),
            [first, ..] => return Ok(Some(*first)),
        };
        input.consume(used);
        meter.add(used as u64, lines);
    }
}

/// Reads elements in the format of the first one of which it is known.
struct Reader<'a> {
    source: &'a Source,
    format: Option<Format>,
    /// An element told its format, or the first one came and the format was named.
    is_known: bool,
    /// The elements before, with their titles.
    unknown: Vec<(Position, Option<String>)>,
    /// The last line that was read.
    last: u64,
    openai: openai::Reader,
    longmemeval: longmemeval::Reader,
    export: export::Reader,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, meter: &Arc<Meter>) -> Self {
        Self {
            source,
            format: source.format,
            is_known: false,
            unknown: Vec::new(),
            last: 1,
            openai: openai::Reader::new(source, meter),
            longmemeval: longmemeval::Reader::default(),
            export: export::Reader::new(&source.owner, source.trusts_roles),
        }
    }

    fn element(&mut self, at: Position, value: Value, sink: &Sink) -> Result<(), Stopped> {
        self.last = at.line;
        if !self.is_known {
            let told = Format::of(&value);
            if told.is_none() && (self.format.is_none() || self.source.among_others.is_some()) {
                self.unknown.push((at, title(&value)));
                return if self.unknown.len() < LOOKED_AT { Ok(()) } else { self.give_up(sink) };
            }
            (self.is_known, self.format) = (true, self.format.or(told));
            self.refuse_unknown(sink)?;
        }
        match self.format {
            Some(Format::Openai) => self.openai.read(at, value, sink),
            Some(Format::Chatgpt) => chatgpt::read(at, &value, self.source.now, sink),
            Some(Format::Claude) => claude::read(at, &value, self.source.now, sink),
            Some(Format::Locomo) => locomo::read(at, &value, sink),
            Some(Format::Longmemeval) => self.longmemeval.read(at, &value, sink),
            Some(Format::Export) => self.export.read(at, value, sink),
            None => sink.reject(at, Refusal::UnknownFormat),
        }
    }

    /// Says of the elements so far that they hold no conversation. A file among others that begins so is not read on.
    fn give_up(&mut self, sink: &Sink) -> Result<(), Stopped> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        if let Some(name) = self.source.among_others.clone() {
            sink.put(Item::NoConversation { name })?;
            return Err(Stopped);
        }
        self.refuse_unknown(sink)
    }

    /// Refuses the elements so far: their file has none of the formats, or they are not as those behind them.
    fn refuse_unknown(&mut self, sink: &Sink) -> Result<(), Stopped> {
        for (at, title) in std::mem::take(&mut self.unknown) {
            let why = self.format.map(|format| Refusal::Other(titled(title, format.lack())));
            sink.reject(at, why.unwrap_or(Refusal::UnknownFormat))?;
        }
        Ok(())
    }

    fn finish(&mut self, sink: &Sink) -> Result<(), Stopped> {
        self.give_up(sink)?;
        match self.format {
            Some(Format::Export) => self.export.finish(self.last, sink),
            _ => Ok(()),
        }
    }
}
