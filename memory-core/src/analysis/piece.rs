//! The kinds of pieces that a text is split into.

/// The kind of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    /// A word in lower case: to be checked for stop words and stemmed.
    Word,
    /// A text to be taken as it is: an identifier in lower case, or a pair of a dense script.
    Whole,
    /// A single character of a pair that may be a word: for documents, and some for queries.
    Single,
}

/// Receives the pieces in the order of the text.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Piece, &str);
