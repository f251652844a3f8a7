//! The shape of a text index: the sizes of its tail and its segments.

/// The sizes of tail and segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bytes above which a tail is folded.
    pub tail: i64,
    /// The bytes that stay in the tail after a fold: the newest documents, which are often put again soon.
    pub kept: i64,
    /// The most documents of a segment. With larger segments a search looks up fewer lists, while a fold or a deletion writes
    /// longer ones.
    pub documents: usize,
    /// The postings from which on a segment takes no more documents, so that long documents make no huge segments.
    pub postings: i64,
}

impl Shape {
    /// Returns the usual sizes, with segments of up to `documents`.
    pub const fn of_segments(documents: usize) -> Self {
        Self { tail: 256 << 10, kept: 64 << 10, documents, postings: 200_000 }
    }
}
