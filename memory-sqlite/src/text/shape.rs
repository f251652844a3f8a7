//! How a text index is cut into tail and segments.

/// The sizes at which documents are folded, and how many go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// A tail of more bytes than this is folded.
    pub(super) tail: i64,
    /// Bytes that stay in the tail when it is folded: the newest documents, which are the ones put again soon.
    pub(super) kept: i64,
    /// The most documents of a segment: in fewer and larger segments a search looks up fewer lists, and a fold or a deletion
    /// writes longer ones.
    pub(super) documents: usize,
    /// A segment with so many postings takes no more documents, so that long documents make no huge segments.
    pub(super) postings: i64,
}

impl Default for Shape {
    fn default() -> Self {
        Self { tail: 256 << 10, kept: 64 << 10, documents: 1_024, postings: 200_000 }
    }
}
