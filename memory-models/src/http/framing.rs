//! Streams cut into events: server-sent events, and lines of JSON.

#[cfg(test)]
mod tests;

use super::error::Fault;

/// The most bytes of one event.
const EVENT_BYTES: usize = 1 << 20;

/// How a stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events, of which the data counts: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
    Events,
    /// A value of JSON on each line.
    Lines,
}

/// A stream of which parts come in, split anywhere.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    line: Vec<u8>,
    /// The data of the event that is under way.
    data: Option<Vec<u8>>,
    /// Whether a line was ended by a carriage return, so that a line feed ends none.
    is_after_return: bool,
    is_first_line: bool,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), data: None, is_after_return: false, is_first_line: true }
    }

    /// Takes the next part, and returns the data of the events that it completes.
    pub(super) fn push(&mut self, part: &[u8]) -> Result<Vec<String>, Fault> {
        let mut events = Vec::new();
        let mut rest = part;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, tail) = rest.split_at(end);
            let is_second_half = self.is_after_return && head.is_empty() && tail.first() == Some(&b'\n');
            self.is_after_return = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
            if is_second_half {
                continue;
            }
            self.extend(head)?;
            events.extend(self.end_line()?);
        }
        if !rest.is_empty() {
            self.is_after_return = false;
            self.extend(rest)?;
        }
        Ok(events)
    }

    /// Ends the stream: returns the last line if it has no end. An event without its end is none.
    pub(super) fn end(mut self) -> Result<Option<String>, Fault> {
        match self.framing {
            Framing::Events => Ok(None),
            Framing::Lines => self.end_line(),
        }
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + bytes.len() > EVENT_BYTES {
            return Err(Fault::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<String>, Fault> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if self.framing == Framing::Lines {
            return if line.trim_ascii().is_empty() { Ok(None) } else { text(line).map(Some) };
        }
        if line.is_empty() {
            return self.data.take().map(text).transpose();
        }
        // Comments, and the fields `event`, `id` and `retry`, say nothing that the data does not.
        let value = match line.strip_prefix(b"data") {
            Some([]) => Some(&[][..]),
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => Some(value),
            _ => None,
        };
        if let Some(value) = value {
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        Ok(None)
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|_| Fault::Garbled("a part is not UTF-8"))
}
