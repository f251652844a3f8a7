//! The pieces that a text is split into.

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word in lower case: to be checked for stop words and stemmed.
    Word,
    /// Something to be taken as it is: an identifier in lower case, or a pair of a dense script.
    Whole,
    /// A character within a pair that may be a word by itself: for documents, and some for queries.
    Single,
}

/// Receives the pieces in the order of the text.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Piece, &str);
