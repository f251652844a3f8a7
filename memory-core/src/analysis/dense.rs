//! Scripts without spaces between words.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::piece::Piece;

/// A kind of script without spaces. Neighbouring characters of one kind make pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// Han characters and Kana, which Japanese words mix.
    HanKana,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
}

fn script(c: char) -> Option<Script> {
    match c {
        '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}' => Some(Script::HanKana),
        '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' => {
            Some(Script::Hangul)
        }
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' => Some(Script::Thai),
        '\u{e80}'..='\u{ece}' | '\u{edc}'..='\u{edf}' => Some(Script::Lao),
        '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}'..='\u{17dd}' => Some(Script::Khmer),
        '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ef}' | '\u{aa60}'..='\u{aa7f}' => {
            Some(Script::Myanmar)
        }
        _ => None,
    }
}

/// Returns whether `c` belongs to a script without spaces.
pub(crate) fn is_dense(c: char) -> bool {
    c > '\u{e00}' && script(c).is_some()
}

/// Returns whether one character of this kind can be a word by itself.
fn is_word(c: char) -> bool {
    !matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
        && matches!(script(c), Some(Script::HanKana | Script::Hangul | Script::Thai))
}

/// Function and question characters, which have no meaning alone: Chinese, and Japanese `what`.
const EMPTY: &str = "的了是在我你您他她它们們什甚么麼吗嗎呢吧哪谁誰怎几幾个個这這那有和与與也都就很不没沒之何";

/// Returns whether a query also asks for this single character of a pair: an ideograph that can be a word.
pub(super) fn is_asked(single: &str) -> bool {
    let is_ideograph =
        |c: char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    single.chars().next().is_some_and(|c| is_ideograph(c) && !EMPTY.contains(c))
}

/// A character with the marks on it.
struct Cluster {
    start: usize,
    end: usize,
    script: Option<Script>,
    is_word: bool,
}

/// Gives `sink` the pairs of a run of such characters, each character without a neighbour of its kind, and those single
/// characters of pairs that can be words.
pub(super) fn pairs(run: &str, sink: &mut dyn FnMut(Piece, &str)) {
    places(run, &mut |piece, place| {
        if let Some(text) = run.get(place) {
            sink(piece, text);
        }
    });
}

/// Gives `sink` the places of what [`pairs`] gives.
pub(super) fn places(run: &str, sink: &mut dyn FnMut(Piece, Range<usize>)) {
    let clusters = clusters(run);
    let mut is_paired = false;
    for (index, cluster) in clusters.iter().enumerate() {
        let Cluster { start, end, script, is_word } = *cluster;
        let next = clusters.get(index + 1).filter(|next| next.script == script);
        match next {
            Some(next) => sink(Piece::Whole, start..next.end),
            None if !is_paired => sink(Piece::Whole, start..end),
            None => {}
        }
        if is_word && (is_paired || next.is_some()) {
            sink(Piece::Single, start..end);
        }
        is_paired = next.is_some();
    }
}

fn clusters(run: &str) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for (start, c) in run.char_indices() {
        let end = start + c.len_utf8();
        match clusters.last_mut() {
            Some(last) if is_combining_mark(c) => last.end = end,
            _ => clusters.push(Cluster { start, end, script: script(c), is_word: is_word(c) }),
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(run: &str) -> Vec<String> {
        let mut out = Vec::new();
        pairs(run, &mut |piece, text| out.push(if piece == Piece::Single { format!("({text})") } else { text.into() }));
        out
    }

    #[test]
    fn neighbours_of_one_kind_make_pairs_and_a_lone_character_stands_alone() {
        assert_eq!(pieces("東京都"), ["東京", "(東)", "京都", "(京)", "(都)"]);
        assert_eq!(pieces("猫"), ["猫"]);
        assert_eq!(pieces("食べる"), ["食べ", "(食)", "べる"]);
        assert_eq!(pieces("책을"), ["책을", "(책)", "(을)"]);
        assert_eq!(pieces("用한"), ["用", "한"]);
        assert_eq!(pieces("ที่นี่"), ["ที่นี่", "(ที่)", "(นี่)"]);
        assert_eq!(pieces(""), Vec::<String>::new());
    }
}
