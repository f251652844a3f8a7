//! A line for people: pieces of text, some of them painted. Colour adds nothing that the words do not say.

use std::ops::Range;

use memory::Role;

use crate::visible::visible;
use crate::wrap::{columns, wrap};

/// How a piece of a line is painted where there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Bold,
    Faint,
    Person,
    Model,
    Tool,
}

impl Paint {
    /// Returns the paint of who speaks.
    pub(crate) fn of(role: Role) -> Self {
        match role {
            Role::User => Self::Person,
            Role::Assistant => Self::Model,
            Role::System | Role::Developer | Role::Tool | Role::Function => Self::Tool,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Bold => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Person => "\u{1b}[36m",
            Self::Model => "\u{1b}[32m",
            Self::Tool => "\u{1b}[33m",
        }
    }
}

const END: &str = "\u{1b}[0m";

/// A line. What is added to it cannot steer the terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    text: String,
    painted: Vec<(Range<usize>, Paint)>,
}

impl Line {
    /// Returns a line of plain text.
    pub(crate) fn of(text: &str) -> Self {
        Self::default().plain(text)
    }

    /// Adds text.
    pub(crate) fn plain(mut self, text: &str) -> Self {
        self.text.push_str(&visible(text));
        self
    }

    /// Adds painted text.
    pub(crate) fn painted(mut self, paint: Paint, text: &str) -> Self {
        let start = self.text.len();
        self.text.push_str(&visible(text));
        self.painted.push((start..self.text.len(), paint));
        self
    }

    /// Adds text of which these ranges of bytes are bold.
    pub(crate) fn marked(mut self, text: &str, bold: &[Range<usize>]) -> Self {
        let mut at = 0;
        for range in bold {
            let (before, word) = (text.get(at..range.start), text.get(range.clone()));
            self = self.plain(before.unwrap_or_default()).painted(Paint::Bold, word.unwrap_or_default());
            at = range.end;
        }
        self.plain(text.get(at..).unwrap_or_default())
    }

    /// Returns the lines of a screen: broken at `width` if there is one, each but the first behind `hang` blanks.
    pub(crate) fn lines(&self, width: Option<usize>, hang: usize, has_colour: bool) -> Vec<String> {
        let all = || std::iter::once(0..self.text.len()).collect();
        // On a narrow screen words need the room more than the order needs blanks.
        let hang = width.map_or(hang, |width| hang.min(width / 3));
        let lines: Vec<Range<usize>> = width.map_or_else(all, |width| wrap(&self.text, width, width - hang));
        let blanks = |place: usize| if place == 0 { 0 } else { hang };
        let painted = lines.into_iter().enumerate().map(|(place, line)| {
            let text = if has_colour { self.paint(line) } else { self.text.get(line).unwrap_or_default().to_owned() };
            format!("{:1$}{text}", "", blanks(place))
        });
        painted.collect()
    }

    fn paint(&self, line: Range<usize>) -> String {
        let (mut out, mut at) = (String::new(), line.start);
        let piece = |from: usize, until: usize| self.text.get(from..until).unwrap_or_default();
        for (range, paint) in &self.painted {
            let (start, end) = (range.start.clamp(at, line.end), range.end.clamp(at, line.end));
            if start == end {
                continue;
            }
            out.extend([piece(at, start), paint.code(), piece(start, end), END]);
            at = end;
        }
        out + piece(at, line.end)
    }
}

/// Returns the column at which the second part of `label   value` begins, else how far a text is indented.
pub(crate) fn hang_of(text: &str) -> usize {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let rest = text.get(indent..).unwrap_or_default();
    let value = rest.find("  ").map(|gap| {
        let behind = rest.get(gap..).unwrap_or_default();
        columns(rest.get(..gap).unwrap_or_default()) + behind.len() - behind.trim_start_matches(' ').len()
    });
    indent + value.filter(|column| *column <= 14).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_goes_over_the_end_of_a_line_and_leaves_the_words_as_they_are() {
        let line = Line::of("1. ").marked("the parcel of Ada", &[4..10, 14..17]);
        assert_eq!(line.lines(None, 3, false), ["1. the parcel of Ada"]);
        let painted = line.lines(Some(10), 3, true);
        assert_eq!(painted, ["1. the", "   \u{1b}[1mparcel\u{1b}[0m", "   of \u{1b}[1mAda\u{1b}[0m"]);
        let long = Line::default().painted(Paint::Bold, "one two").lines(Some(3), 0, true);
        assert_eq!(long, ["\u{1b}[1mone\u{1b}[0m", "\u{1b}[1mtwo\u{1b}[0m"]);
    }

    #[test]
    fn no_text_paints_or_breaks_a_line() {
        let line = Line::default().painted(Paint::Faint, "a\u{1b}[31m\nb").lines(None, 0, true);
        assert_eq!(line, ["\u{1b}[2ma\\u{1b}[31m\\nb\u{1b}[0m"]);
    }

    #[test]
    fn what_follows_hangs_under_the_value() {
        assert_eq!((hang_of("window    5 of 5"), hang_of("  a b"), hang_of("a b"), hang_of("")), (10, 2, 0, 0));
    }
}
