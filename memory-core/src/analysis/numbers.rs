//! Numbers that are written in groups of digits: `1.250`, `1 000 000`, `0171 555 1234` are also searched as one.

use super::piece::{Piece, Sink};

/// How many digits a number has that is written in groups of any length, such as a telephone number (ITU-T E.164).
const TELEPHONE: std::ops::RangeInclusive<usize> = 7..=15;

/// How many groups make one number at most.
const GROUPS: usize = 8;

/// Returns whether groups of digits are one number: thousands, or a telephone number.
pub(super) fn is_one<'a>(groups: &(impl Iterator<Item = &'a str> + Clone), may_be_short: bool) -> bool {
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let mut lengths = groups.clone().map(str::len);
    let total: usize = lengths.clone().sum();
    let is_thousands = lengths.next().is_some_and(|first| first <= 3) && lengths.all(|length| length == 3);
    let is_telephone =
        TELEPHONE.contains(&total) && groups.clone().all(|group| group.len() > usize::from(!may_be_short));
    let is_grouped = (2..=GROUPS).contains(&groups.clone().count()) && groups.clone().all(is_digits);
    is_grouped && (is_thousands || is_telephone)
}

/// Gives `sink` each number whose groups of digits are separated by single blanks, as one word.
pub(super) fn spaced(text: &str, sink: Sink<'_>) {
    let mut groups: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let begins = word.trim_start_matches(['+', '(']);
        let digits = begins.trim_end_matches([')', '.', ',', ';', ':', '?', '!']);
        let is_group = !digits.is_empty() && digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_group || begins.len() < word.len() && !word.starts_with('(') {
            give(&mut groups, sink);
        }
        if is_group {
            groups.push(digits);
        }
        if digits.len() < begins.len() && !begins.ends_with(')') {
            give(&mut groups, sink);
        }
    }
    give(&mut groups, sink);
}

fn give(groups: &mut Vec<&str>, sink: Sink<'_>) {
    if is_one(&groups.iter().copied(), false) {
        sink(Piece::Word, &groups.concat());
    }
    groups.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        spaced(text, &mut |_, number| found.push(number.to_owned()));
        found
    }

    #[test]
    fn groups_of_thousands_and_telephone_numbers_are_one() {
        assert_eq!(found("they want 1 000 000, or 7 450 euros"), ["1000000", "7450"]);
        assert_eq!(found("call (0171) 555 1234."), ["01715551234"]);
        assert_eq!(found("+49 171 5551234"), ["491715551234"]);
        assert_eq!(found("in 3 of 7 cases, 12 40"), [""; 0]);
        assert!(is_one(&["1", "250"].into_iter(), false) && is_one(&["555", "123", "4567"].into_iter(), true));
        assert!(!is_one(&["1", "2", "3"].into_iter(), true) && !is_one(&["12", "50"].into_iter(), false));
    }
}
