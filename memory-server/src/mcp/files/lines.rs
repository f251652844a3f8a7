//! How files are shown: lines with numbers, and sizes as people read them.

use std::fmt::Write as _;

/// The width of a line's number, and the most lines of a file.
const WIDTH: usize = 6;

/// Returns lines with their numbers, the first of which is `first`.
pub(super) fn numbered<'a>(lines: impl Iterator<Item = &'a str>, first: usize) -> String {
    let mut text = String::new();
    for (place, line) in lines.enumerate() {
        let end = if place == 0 { "" } else { "\n" };
        let _ = write!(text, "{end}{:>WIDTH$}\t{line}", place + first);
    }
    text
}

/// Returns a number of bytes with its unit: `0B`, `512B`, `1.5K`.
pub(super) fn size(bytes: usize) -> String {
    let units = ["B", "K", "M", "G"];
    let unit = bytes.checked_ilog2().map_or(0, |bits| usize::try_from(bits).unwrap_or(0) / 10).min(units.len() - 1);
    let whole = 1_usize << (10 * unit);
    let name = units.get(unit).copied().unwrap_or("B");
    if bytes.is_multiple_of(whole) {
        format!("{}{name}", bytes / whole)
    } else {
        format!("{:.1}{name}", bytes as f64 / whole as f64)
    }
}

/// Returns lines as an editor counts them: what ends with a line break has no empty line behind it.
pub(super) fn lines_of(content: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = content.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_lines_are_those_of_the_reference() {
        let sizes = [0, 1, 1_023, 1_024, 1_536, 1 << 20, 5 << 30].map(size);
        assert_eq!(sizes, ["0B", "1B", "1023B", "1K", "1.5K", "1M", "5G"]);
        assert_eq!(numbered("a\nb".split('\n'), 9), "     9\ta\n    10\tb");
        assert_eq!((lines_of("a\n\n"), lines_of(""), lines_of("a")), (vec!["a", ""], vec![], vec!["a"]));
    }
}
