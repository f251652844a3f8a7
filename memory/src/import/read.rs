//! Reading a file of any of the formats, element by element.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

use serde_json::Value;

use super::format::Format;
use super::item::Item;
use super::meter::Meter;
use super::queue::{Sink, Stopped};
use super::refusal::{Foreign, Refusal};
use super::source::Source;
use super::stream::{self, Line, Reading};
use super::{chatgpt, claude, export, locomo, longmemeval, openai};

/// Reads all of `input` into `sink`, and counts it by `meter`. Blocks; stops when the other side does.
pub(super) fn read(input: impl Read, source: &Source, meter: &Arc<Meter>, sink: &Sink) -> Result<(), Stopped> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let sink = &sink.trusting(source.trusts_roles);
    if let Some(kind) = input.fill_buf().ok().and_then(Foreign::of) {
        return sink.reject(1, Refusal::Foreign(kind));
    }
    let reading = Reading { meter: Arc::clone(meter), longest: source.longest };
    let first = match first_byte(&mut input, meter) {
        Ok(Some(first)) => first,
        Ok(None) => return Ok(()),
        Err(error) => return sink.reject(1, format!("the file cannot be read: {error}")),
    };
    let mut reader = Reader::new(source);
    if first == b'[' {
        stream::each_element(input, &reading, sink, &mut |line, value| reader.element(line, value, sink))?;
    } else {
        each_line(input, &reading, sink, &mut reader)?;
    }
    reader.finish(meter.lines().max(1), sink)
}

fn each_line(mut input: impl BufRead, reading: &Reading, sink: &Sink, reader: &mut Reader<'_>) -> Result<(), Stopped> {
    let mut is_first = true;
    loop {
        let line = reading.meter.lines() + 1;
        match stream::next_line(&mut input, reading) {
            Ok(Line::End) => return Ok(()),
            Ok(Line::Bad(why)) => sink.reject(line, why)?,
            Ok(Line::Text(text)) if text.trim().is_empty() => {}
            // One value over many lines, as printed for people.
            Ok(Line::Text(text)) if is_first && text.trim() == "{" => {
                let rest = Cursor::new("{").chain(input);
                return stream::each_value(rest, reading, sink, &mut |line, value| reader.element(line, value, sink));
            }
            Ok(Line::Text(text)) => {
                let value = stream::parse(&text);
                // The values are as large again; the text is not held beside what is made of them.
                drop(text);
                match value {
                    Ok(value) => reader.element(line, value, sink)?,
                    Err(why) => sink.reject(line, why)?,
                }
            }
            Err(error) => return sink.reject(line, format!("the file cannot be read: {error}")),
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

/// Reads elements in the format of the first one.
struct Reader<'a> {
    source: &'a Source,
    format: Option<Format>,
    has_begun: bool,
    openai: openai::Reader,
    longmemeval: longmemeval::Reader,
    export: export::Reader,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            format: source.format,
            has_begun: false,
            openai: openai::Reader::new(&source.session, &source.stem, source.now),
            longmemeval: longmemeval::Reader::default(),
            export: export::Reader::new(&source.owner, source.trusts_roles),
        }
    }

    fn element(&mut self, line: u64, value: Value, sink: &Sink) -> Result<(), Stopped> {
        if !self.has_begun {
            self.has_begun = true;
            let told = Format::of(&value);
            if let Some(name) = self.source.among_others.clone().filter(|_| told.is_none()) {
                sink.put(Item::NoConversation { name })?;
                return Err(Stopped);
            }
            self.format = self.format.or(told);
        }
        match self.format {
            Some(Format::Openai) => self.openai.read(line, value, sink),
            Some(Format::Chatgpt) => chatgpt::read(line, &value, self.source.now, sink),
            Some(Format::Claude) => claude::read(line, &value, self.source.now, sink),
            Some(Format::Locomo) => locomo::read(line, &value, sink),
            Some(Format::Longmemeval) => self.longmemeval.read(line, &value, sink),
            Some(Format::Export) => self.export.read(line, value, sink),
            None => sink.reject(line, Refusal::UnknownFormat),
        }
    }

    /// Ends behind the line `last`.
    fn finish(&self, last: u64, sink: &Sink) -> Result<(), Stopped> {
        match self.format {
            Some(Format::Export) => self.export.finish(last, sink),
            _ => Ok(()),
        }
    }
}
