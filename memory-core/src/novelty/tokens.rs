//! The words of a statement, normalised so that its wording does not count.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::char::is_combining_mark;

use crate::analysis::{Analysis, Language, normalise};

/// Returns the words of `text` that `is_kept` keeps, without case and (in English) without plural, and its numbers once
/// more where a sign or unit stands at them; in the order of the text.
pub(super) fn tokens(analysis: &Analysis, text: &str, is_kept: impl Fn(&str) -> bool) -> Vec<String> {
    let is_english = analysis.language() == Some(Language::English);
    let mut tokens = Vec::new();
    analysis.words(text, &mut |word| {
        if is_kept(word) {
            tokens.push(if is_english { singular(word) } else { word.to_owned() });
        }
    });
    push_signs(&normalise(text), &mut tokens);
    tokens
}

/// Returns whether two texts that look alike differ in what makes facts different: in a number, a negation, or a word
/// that one of them writes with a capital letter.
///
/// Guards [`super::Gate`], because vectors hardly see these. Names in lower case are not seen.
pub fn differ_in_particulars(analysis: &Analysis, a: &str, b: &str) -> bool {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (text, step) in [(a, 1), (b, -1)] {
        for token in tokens(analysis, text, |word| !analysis.is_filler(word)) {
            *counts.entry(token).or_default() += step;
        }
    }
    let capitals: BTreeSet<String> = [a, b].into_iter().flat_map(|text| capitals(analysis, text)).collect();
    let is_particular = |token: &str| {
        token.chars().any(|c| !c.is_alphabetic()) || analysis.is_negation(token) || capitals.contains(token)
    };
    counts.iter().any(|(token, count)| *count != 0 && is_particular(token))
}

/// Returns the tokens of the words that `text` writes with a capital letter somewhere.
fn capitals(analysis: &Analysis, text: &str) -> Vec<String> {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_uppercase));
    words.flat_map(|word| tokens(analysis, word, |_| true)).collect()
}

/// Returns an English word without its plural ending. Nothing else is cut off: `worked` is not `works`.
pub(super) fn singular(word: &str) -> String {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies")
        && word.len() > 4
    {
        return format!("{stem}y");
    }
    let takes_es = ["sses", "shes", "ches", "xes", "zzes"].iter().any(|ending| word.ends_with(ending));
    let keeps_s = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let cut = if takes_es { 2 } else { usize::from(!keeps_s && word.ends_with('s')) };
    word.get(..word.len() - cut).unwrap_or(word).to_owned()
}

/// Adds what is neither word nor punctuation: signs, units and pictures, each with the number it stands at.
fn push_signs(text: &str, tokens: &mut Vec<String>) {
    let is_number = |c: &char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + c.len_utf8()..).unwrap_or_default());
        let next = after.chars().next().unwrap_or(' ');
        let is_token = match c {
            '-' | '+' | '\u{2212}' => next.is_ascii_digit() && !previous.is_alphanumeric(),
            '!' => next == '=',
            _ if c.is_ascii() => matches!(c, '$' | '%' | '<' | '>' | '='),
            _ => !c.is_alphanumeric() && !c.is_whitespace() && !is_combining_mark(c) && !is_punctuation(c),
        };
        if is_token {
            let mut token = String::new();
            if !next.is_ascii_digit() && previous.is_ascii_digit() {
                let number: Vec<char> = before.chars().rev().take_while(is_number).collect();
                token.extend(number.iter().rev());
            }
            token.push(if c == '\u{2212}' { '-' } else { c });
            token.extend(after.chars().take_while(is_number));
            tokens.push(token.trim_end_matches(['.', ',']).to_owned());
        }
        previous = c;
    }
}

/// Returns whether `c`, which is not ASCII, is punctuation.
pub(super) fn is_punctuation(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{37e}' | '\u{387}'
        | '\u{55a}'..='\u{55f}' | '\u{589}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{5f3}' | '\u{5f4}' | '\u{60c}'
        | '\u{61b}' | '\u{61f}' | '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{e2f}' | '\u{e5a}' | '\u{e5b}'
        | '\u{104a}'..='\u{104f}' | '\u{17d4}'..='\u{17da}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
        | '\u{2e00}'..='\u{2e7f}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{30fb}'
        | '\u{fe10}'..='\u{fe6f}' | '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_fall_off_and_nothing_else() {
        for (word, one) in [
            ("cats", "cat"),
            ("boxes", "box"),
            ("parties", "party"),
            ("classes", "class"),
            ("class", "class"),
            ("bus", "bus"),
            ("houses", "house"),
            ("this", "this"),
            ("worked", "worked"),
            ("works", "work"),
            ("was", "was"),
            ("1990s", "1990s"),
            ("cafés", "cafés"),
        ] {
            assert_eq!(singular(word), one);
        }
    }

    #[test]
    fn signs_and_units_stay_with_their_numbers() {
        let signs = |text: &str| {
            let mut tokens = Vec::new();
            push_signs(text, &mut tokens);
            tokens
        };
        assert_eq!(signs("It is -5.5 degrees, or 22%, for $1,000. Well-known 3-4!"), ["-5.5", "22%", "$1,000"]);
        assert_eq!(signs("€5 and 7€, a != b 😀"), ["€5", "7€", "!", "=", "😀"]);
        assert_eq!(signs("“Hello” – he said… «oui»。"), [""; 0]);
    }
}
