//! How a text index is cut into tail and segments.

/// The sizes at which documents are folded, and how many go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A tail of more bytes than this is folded.
    pub tail: i64,
    /// Bytes that stay in the tail when it is folded: the newest documents, which are the ones put again soon.
    pub kept: i64,
    /// The most documents of a segment: in fewer and larger segments a search looks up fewer lists, and a fold or a
    /// deletion writes longer ones.
    pub documents: usize,
    /// A segment with so many postings takes no more documents, so that long documents make no huge segments.
    pub postings: i64,
}

impl Shape {
    /// Returns the usual sizes, with segments of up to `documents`.
    pub const fn of_segments(documents: usize) -> Self {
        Self { tail: 256 << 10, kept: 64 << 10, documents, postings: 200_000 }
    }
}
