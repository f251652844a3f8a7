//! The pieces that a text is split into.

/// The kind of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The pieces of a text in order, in one string: most texts have many short ones.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    text: String,
    /// The kind of each, and where it ends.
    ends: Vec<(Piece, usize)>,
}

impl Pieces {
    /// Adds a piece behind the others.
    pub(super) fn push(&mut self, piece: Piece, text: &str) {
        self.text.push_str(text);
        self.ends.push((piece, self.text.len()));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Piece, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |(piece, end)| {
            let text = self.text.get(start..*end).unwrap_or_default();
            start = *end;
            (*piece, text)
        })
    }

    /// Returns the words among them.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|(piece, _)| *piece == Piece::Word).map(|(_, word)| word)
    }
}
