//! Which format a file has, told by its content, and reading it.

use std::io::{BufRead, BufReader, Cursor, Read};

use clap::ValueEnum;
use memory::Timestamp;
use serde_json::Value;

use super::item::{Meter, Stopped};
use super::queue::Sink;
use super::stream::{self, Line, Reading};
use super::{chatgpt, export, locomo, longmemeval, openai};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Chat JSON, OpenAI's or Anthropic's: a message a line, {"messages": […]} a line, or one array of messages
    Openai,
    /// The export of ChatGPT: conversations.json
    Chatgpt,
    /// LoCoMo
    Locomo,
    /// LongMemEval
    Longmemeval,
    /// An export of this program
    Export,
}

/// What to read, and what the file does not say.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The format; told by the content if none.
    pub(crate) format: Option<Format>,
    /// The session of messages that name none.
    pub(crate) session: String,
    /// The beginning of the names of conversations that have none.
    pub(crate) stem: String,
    /// The time of messages that have none.
    pub(crate) now: Timestamp,
    /// Tenant and subject of whom it is read for; an export of another owner says nothing by itself.
    pub(crate) owner: (String, String),
    /// Whether messages speak with the trust of the roles that the file gives them.
    pub(crate) trusts_roles: bool,
    /// How it is read.
    pub(crate) reading: Reading,
}

/// Reads all of `input` into `sink`. Blocks; stops when the other side does.
pub(crate) fn read(input: impl Read, source: &Source, sink: &Sink) -> Result<(), Stopped> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let sink = &sink.trusting(source.trusts_roles);
    if let Some(what) = input.fill_buf().ok().and_then(foreign) {
        return sink.reject(1, what);
    }
    let first = match first_byte(&mut input, &source.reading.meter) {
        Ok(Some(first)) => first,
        Ok(None) => return Ok(()),
        Err(error) => return sink.reject(1, format!("the file cannot be read: {error}")),
    };
    let mut reader = Reader::new(source);
    if first == b'[' {
        stream::each_element(input, &source.reading, sink, &mut |line, value| reader.element(line, value, sink))?;
    } else {
        each_line(input, source, sink, &mut reader)?;
    }
    reader.finish(sink)
}

/// Returns what to do with a file that is known by its first bytes and cannot be read as it is.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a ZIP archive: unpack it and import the file in it, of a ChatGPT export conversations.json"),
        (&[0x1f, 0x8b], "compressed by gzip: unpack it first, as with gunzip -c FILE | memory import -"),
        (&[0xfd, b'7', b'z', b'X', b'Z'], "compressed by xz: unpack it first, as with xz -dc FILE | memory import -"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "compressed by zstd: unpack it first, as with zstd -dc FILE | memory import -"),
        (b"BZh", "compressed by bzip2: unpack it first, as with bunzip2 -c FILE | memory import -"),
        (&[0xff, 0xfe], "text in UTF-16: save it as UTF-8 first"),
        (&[0xfe, 0xff], "text in UTF-16: save it as UTF-8 first"),
        (b"SQLite format 3\0", "an SQLite database: open it with --db, or import what export writes from it"),
    ];
    KNOWN.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, what)| *what)
}

fn each_line(mut input: impl BufRead, source: &Source, sink: &Sink, reader: &mut Reader<'_>) -> Result<(), Stopped> {
    let mut is_first = true;
    loop {
        let line = source.reading.meter.lines() + 1;
        match stream::next_line(&mut input, &source.reading) {
            Ok(Line::End) => return Ok(()),
            Ok(Line::Bad(why)) => sink.reject(line, why)?,
            Ok(Line::Text(text)) if text.trim().is_empty() => {}
            // One value over many lines, as printed for people.
            Ok(Line::Text(text)) if is_first && text.trim() == "{" => {
                let rest = Cursor::new("{").chain(input);
                return stream::each_value(rest, &source.reading, sink, &mut |line, value| {
                    reader.element(line, value, sink)
                });
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
    openai: openai::Reader,
    longmemeval: longmemeval::Reader,
    export: export::Reader,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            format: source.format,
            openai: openai::Reader::new(&source.session, &source.stem, source.now),
            longmemeval: longmemeval::Reader::default(),
            export: export::Reader::new(&source.owner, source.trusts_roles),
        }
    }

    fn element(&mut self, line: u64, value: Value, sink: &Sink) -> Result<(), Stopped> {
        if self.format.is_none() {
            self.format = detect(&value);
        }
        match self.format {
            Some(Format::Openai) => self.openai.read(line, value, sink),
            Some(Format::Chatgpt) => chatgpt::read(line, &value, self.source.now, sink),
            Some(Format::Locomo) => locomo::read(line, &value, sink),
            Some(Format::Longmemeval) => self.longmemeval.read(line, &value, sink),
            Some(Format::Export) => self.export.read(line, value, sink),
            None => sink.reject(line, "not a format that is known: name it with --format"),
        }
    }

    fn finish(&self, sink: &Sink) -> Result<(), Stopped> {
        match self.format {
            Some(Format::Export) => self.export.finish(self.source.reading.meter.lines().max(1), sink),
            _ => Ok(()),
        }
    }
}

/// Tells the format of an element by its members.
fn detect(value: &Value) -> Option<Format> {
    let has = |member: &str| value.get(member).is_some();
    if has(export::MARK) {
        return Some(Format::Export);
    }
    if has("haystack_sessions") {
        return Some(Format::Longmemeval);
    }
    if has("mapping") {
        return Some(Format::Chatgpt);
    }
    if has("conversation") && has("sample_id") {
        return Some(Format::Locomo);
    }
    (has("role") || has("messages")).then_some(Format::Openai)
}
