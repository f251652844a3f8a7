//! An answer as bytes, and where it breaks.

use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    framing: Framing,
    /// How many bytes are written at once.
    part: usize,
    pub(super) end: End,
}

/// How the end of the body is told.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    Close,
}

/// What follows the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The connection goes on.
    Whole,
    /// The connection is closed after so many bytes.
    Cut(usize),
    /// Nothing is written after so many bytes, and the connection stays.
    Hang(usize),
    /// The body is repeated until nobody reads it.
    Endless,
}

impl Reply {
    /// Returns an answer of this status with a body of this type.
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into(), framing: Framing::Length, part: usize::MAX, end: End::Whole }
    }

    /// Returns an answer that is JSON.
    pub fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// Returns an answer of this status that is JSON.
    pub fn status(status: u16, value: &Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    /// Returns a stream, such as the vendors' modules make.
    pub fn stream(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { framing: Framing::Chunked, ..Self::new(200, kind, body) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Changes the bytes of the body; the head tells what comes of it.
    #[must_use]
    pub fn broken_by(mut self, breaks: impl FnOnce(&mut Vec<u8>)) -> Self {
        breaks(&mut self.body);
        self
    }

    /// Tells the end of the body by closing the connection alone, as HTTP/1.0 does: who reads cannot know a cut from an end.
    #[must_use]
    pub fn until_closed(mut self) -> Self {
        self.framing = Framing::Close;
        self
    }

    /// Writes so many bytes at once.
    #[must_use]
    pub fn in_parts_of(mut self, bytes: usize) -> Self {
        self.part = bytes.max(1);
        self
    }

    /// Closes the connection after so many bytes, those of the head included.
    #[must_use]
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.end = End::Cut(bytes);
        self
    }

    /// Writes nothing after so many bytes, those of the head included, and keeps the connection.
    #[must_use]
    pub fn hang_at(mut self, bytes: usize) -> Self {
        self.end = End::Hang(bytes);
        self
    }

    /// Repeats the body until nobody reads it.
    #[must_use]
    pub fn endless(mut self) -> Self {
        (self.end, self.framing) = (End::Endless, Framing::Close);
        self
    }

    /// Returns how many bytes all of it has.
    pub fn size(&self) -> usize {
        self.head().len() + self.parts().map(|part| part.len()).sum::<usize>()
    }

    /// Returns how many bytes stand before the body.
    pub fn head_size(&self) -> usize {
        self.head().len()
    }

    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} X\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&match self.framing {
            Framing::Length => format!("content-length: {}\r\n\r\n", self.body.len()),
            Framing::Chunked => "transfer-encoding: chunked\r\n\r\n".to_owned(),
            Framing::Close => "connection: close\r\n\r\n".to_owned(),
        });
        head.into_bytes()
    }

    /// Returns the body as it is written.
    pub(super) fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        let is_chunked = matches!(self.framing, Framing::Chunked);
        let part = move |part: &[u8]| {
            if is_chunked {
                [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat()
            } else {
                part.to_vec()
            }
        };
        let last = is_chunked.then(|| b"0\r\n\r\n".to_vec());
        self.body.chunks(self.part.min(self.body.len().max(1))).map(part).chain(last)
    }

    pub(super) fn is_last(&self) -> bool {
        matches!(self.framing, Framing::Close) || !matches!(self.end, End::Whole)
    }
}
