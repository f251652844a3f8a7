//! Breaking text into lines by the columns that characters take: two for Chinese, Japanese, Korean and most emoji.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns how many columns a text of one line takes.
pub(crate) fn columns(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the lines of a text as ranges of bytes: the first of at most `first` columns, the others of at most `rest`.
///
/// Lines are broken at blanks and beside wide characters; a word that fits on no line is broken where the line ends.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    let (mut lines, mut start, mut width, mut limit) = (Vec::new(), 0, 0, first.max(2));
    // The end of the line that a break here would leave, and the beginning of the next one.
    let mut place: Option<(usize, usize)> = None;
    for (at, letter) in text.grapheme_indices(true) {
        let (end, wide) = (at + letter.len(), letter.width());
        if letter == " " {
            // The blanks that a line begins with are its own.
            if text.get(start..at).is_some_and(|line| !line.trim().is_empty()) {
                place = Some((at, end));
            }
            width += 1;
            continue;
        }
        if wide > 1 && at > start && !is_closing(letter) && place.is_none_or(|(_, next)| next < at) {
            place = Some((at, at));
        }
        if width + wide > limit && at > start {
            let (stop, next) = place.take().unwrap_or((at, at));
            lines.push(start..stop);
            (start, limit) = (next, rest.max(2));
            width = columns(text.get(start..at).unwrap_or_default());
        }
        width += wide;
        if wide > 1 && !text.get(end..).is_some_and(|rest| rest.graphemes(true).next().is_some_and(is_closing)) {
            place = Some((end, end));
        }
    }
    lines.push(start..text.len());
    lines.into_iter().map(|line| line.start..line.start + text.get(line).unwrap_or_default().trim_end().len()).collect()
}

/// Returns the beginning of a text of one line that takes at most so many columns, with `…` where it is cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let fits = |letter: &&str| left.checked_sub(letter.width()).map(|rest| left = rest).is_some();
    format!("{}…", text.graphemes(true).take_while(fits).collect::<String>().trim_end())
}

/// Signs that no line begins with.
fn is_closing(letter: &str) -> bool {
    letter.chars().next().is_some_and(|c| "、。，．・：；？！）］｝〕〉》」』】ー々…,.;:?!)]}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, first: usize, rest: usize) -> Vec<&str> {
        wrap(text, first, rest).into_iter().map(|line| &text[line]).collect()
    }

    #[test]
    fn lines_are_broken_at_words_and_long_words_where_the_line_ends() {
        assert_eq!(lines("the cat sat on the mat", 7, 7), ["the cat", "sat on", "the mat"]);
        assert_eq!(lines("the cat sat", 7, 3), ["the cat", "sat"]);
        assert_eq!(lines("a https://example.org/x b", 10, 10), ["a", "https://ex", "ample.org/", "x b"]);
        assert_eq!(lines("  two blanks", 8, 8), ["  two", "blanks"]);
        assert_eq!(lines("one  two", 4, 4), ["one", "two"]);
        assert_eq!(lines("", 8, 8), [""]);
    }

    #[test]
    fn wide_characters_take_two_columns_and_no_line_begins_with_a_closing_sign() {
        assert_eq!(lines("東京都庁です", 6, 6), ["東京都", "庁です"]);
        assert_eq!(lines("東京都。庁", 6, 6), ["東京", "都。庁"]);
        assert_eq!(lines("go to 東京 now", 8, 8), ["go to 東", "京 now"]);
        assert_eq!(lines("👩‍👩‍👧👍🏽a", 4, 4), ["👩‍👩‍👧👍🏽", "a"]);
        assert_eq!(columns("é日👩‍👩‍👧e\u{301}"), 6);
    }

    #[test]
    fn no_line_is_wider_than_it_may_be_and_nothing_is_lost() {
        let text =
            "Is 東京タワー near the station? ไปเที่ยวกรุงเทพ — здравствуйте, 👍 https://example.org/a/very/long/path";
        for width in 2..60 {
            let lines = lines(text, width, width);
            assert!(lines.iter().all(|line| columns(line) <= width), "{width}: {lines:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&lines.concat()), bare(text), "{width}");
        }
    }
}
