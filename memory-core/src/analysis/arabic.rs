//! Arabic words without articles, endings and vowel signs, for analyses of another language.
//!
//! The light stemmer "light10" (Larkey, Ballesteros and Connell 2007), which finds as much as an analysis of the roots.

/// Letters that words are left with at least.
const LEAST: usize = 3;
/// Endings are cut from words that keep at least so many letters.
const LEAST_BEFORE_ENDING: usize = 2;

const ARTICLES: [&str; 7] = ["وال", "بال", "كال", "فال", "ال", "لل", "و"];
const ENDINGS: [&str; 10] = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];

/// Returns whether a word is written in Arabic letters.
pub(super) fn writes(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| matches!(c, '\u{620}'..='\u{65f}' | '\u{670}'..='\u{6d3}'))
}

/// Returns the light stem of a word.
pub(super) fn light(word: &str) -> String {
    let word: String = word.chars().filter_map(letter).collect();
    let letters = |text: &str| text.chars().count();
    // A leading "and" may be of the root, so it leaves one letter more.
    let least = |article: &str| if article == "و" { LEAST } else { LEAST - 1 };
    let cut = |article: &&str| word.strip_prefix(article).filter(|rest| letters(rest) >= least(article));
    let mut stem = ARTICLES.iter().find_map(cut).unwrap_or(&word);
    for ending in ENDINGS {
        stem = stem.strip_suffix(ending).filter(|rest| letters(rest) >= LEAST_BEFORE_ENDING).unwrap_or(stem);
    }
    stem.to_owned()
}

/// Returns the usual form of a letter; none for vowel signs and the stroke that widens a word.
fn letter(c: char) -> Option<char> {
    match c {
        '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' => None,
        'أ' | 'إ' | 'آ' | 'ٱ' => Some('ا'),
        'ى' => Some('ي'),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_endings_and_vowel_signs_do_not_hide_a_word() {
        for (one, other) in [
            ("الأسنان", "أسنان"),
            ("والسيارة", "سيارة"),
            ("الفُول", "فول"),
            ("مُفتاح", "المفتاح"),
            ("مـفتاح", "مفتاح"),
            ("للبيت", "البيت"),
        ] {
            assert_eq!(light(one), light(other), "{one} {other}");
        }
        assert_ne!(light("ولد"), light("لد"));
        assert!(writes("فول") && !writes("fool") && !writes(""));
    }
}
