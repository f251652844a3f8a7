//! Texts in other languages than the analysis': whether a text is one, and the beginnings and endings of its words, because the
//! stemmer of one language does not know the forms of another.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use unicode_normalization::char::is_combining_mark;

use super::fold::{fold, fold_owned, is_latin};
use super::{Language, words};
use crate::store::text::Term;

/// The languages that are told apart by their words, in Latin script.
const LATIN: [Language; 7] = [
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Portuguese,
    Language::Italian,
    Language::Dutch,
    Language::Turkish,
];

/// Words without content: which of [`LATIN`] they belong to, a bit each.
static TABLE: LazyLock<HashMap<String, u8>> = LazyLock::new(|| {
    let mut table: HashMap<String, u8> = HashMap::default();
    for (place, language) in LATIN.iter().enumerate() {
        let words::Words { stop, question, .. } = words::of(*language);
        for word in stop.split_whitespace().chain(question.split_whitespace()) {
            *table.entry(fold_owned(word)).or_default() |= 1 << place;
        }
    }
    table
});

/// So many words of one language tell that a question is in it. One may be a word of the analysis' language too ("die hard").
const ENOUGH: usize = 2;

/// What a word tells of the language of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sign {
    /// Whether the analysis drops it.
    is_own: bool,
    /// Whether it has marks, which English words have not.
    is_marked: bool,
    /// The other languages, a bit each, in which it is without content.
    others: u8,
}

impl Sign {
    /// Returns what a word in lower case tells to an analysis of `language`. `bare` is the word without marks; `is_own` tells whether
    /// the analysis drops it.
    pub(super) fn of(language: Language, word: &str, bare: &str, is_own: bool) -> Self {
        let own = LATIN.iter().position(|other| *other == language).map_or(0, |place| 1 << place);
        Self {
            is_own,
            is_marked: word != bare && bare.is_ascii() && language == Language::English,
            others: TABLE.get(bare).copied().unwrap_or(0) & !own,
        }
    }
}

/// What a text tells of the language that it is in, word by word.
#[derive(Debug, Default)]
pub(super) struct Tongue {
    own: usize,
    counts: [usize; LATIN.len()],
    is_marked: bool,
}

impl Tongue {
    /// Counts what a word tells.
    pub(super) fn hear(&mut self, Sign { is_own, is_marked, others }: Sign) {
        self.own += usize::from(is_own);
        self.is_marked |= is_marked;
        if others != 0 {
            for (place, count) in self.counts.iter_mut().enumerate() {
                *count += usize::from(others & (1 << place) != 0);
            }
        }
    }

    /// Returns whether the text seems to be in another language.
    pub(super) fn is_foreign(&self) -> bool {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        most > self.own || (self.is_marked && most >= self.own)
    }

    /// Returns whether `bare` is a word without content in the language that the text is in.
    pub(super) fn drops(&self, bare: &str) -> bool {
        let Some(bits) = TABLE.get(bare) else { return false };
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let is_sure = most > self.own && (most >= ENOUGH || self.is_marked);
        let is_of_it = |place: usize| self.counts.get(place) == Some(&most) && bits & (1 << place) != 0;
        is_sure && (0..LATIN.len()).any(is_of_it)
    }
}

/// Words of small talk in the languages that are known by their words.
static PHATIC: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let words = LATIN.iter().flat_map(|language| words::of(*language).phatic.split_whitespace());
    words.filter(|word| word.chars().count() > 3 || !word.is_ascii()).map(fold_owned).collect()
});

/// Returns whether a word is small talk in another language.
pub(super) fn is_phatic(bare: &str) -> bool {
    PHATIC.contains(bare)
}

/// How many letters the beginning and the ending of a word have. Five serve Turkish as well as a stemmer (Can et al. 2008), and
/// pieces of four or five letters serve every language of Europe, those with compounds above all (McNamee and Mayfield 2004).
const LETTERS: usize = 5;

/// Gives `sink` the beginning and the ending of a word without marks, as terms that no word is.
///
/// So "randevum" finds "randevu", and "Zahnarzt" and "Umzug" find "Zahnarzttermin" and "Laternenumzug".
pub(super) fn ends(bare: &str, sink: &mut dyn FnMut(&str)) {
    let starts: Vec<usize> = bare.char_indices().filter(|(_, c)| !is_combining_mark(*c)).map(|(at, _)| at).collect();
    if !bare.chars().all(|c| c.is_alphabetic() || is_combining_mark(c)) {
        return;
    }
    let Some(last) = starts.len().checked_sub(LETTERS).and_then(|place| starts.get(place)) else { return };
    let first = starts.get(LETTERS).copied().unwrap_or(bare.len());
    for (text, is_first) in [(bare.get(..first), true), (bare.get(*last..), false)] {
        let text = text.unwrap_or_default();
        sink(&if is_first { format!("{text}*") } else { format!("*{text}") });
    }
}

/// Returns whether a term may be one that [`ends`] gives: it holds the code of `*`, or is the hash of a text that is too long.
pub(super) fn may_be_end(term: &Term) -> bool {
    term.as_str().contains("X2a") || term.as_str().starts_with('H')
}

/// Returns whether a word is in another script than Latin.
pub(super) fn is_of_other_script(word: &str) -> bool {
    word.chars().next().is_some_and(|c| c.is_alphabetic() && !is_latin(c))
}

/// Phrases of questions in scripts without spaces, whose pairs would be searched for, separated by blanks. Longer ones first.
const PHRASES: &str = "什么时候 怎么样 星期几 什么 哪里 哪儿 哪个 哪辆 哪 谁 多少 怎么 为什么 请问 吗 呢 何時 いつ \
    どこ だれ 誰 どれ どの なぜ どう どんな 何の 何 ですか ますか 教えてください 教えて ください すみません \
    ありますか のか ช่วยบอกหน่อยได้ไหมว่า ช่วยบอก ได้ไหม หน่อย วันไหน ที่ไหน ไหน อะไร ใคร เมื่อไหร่ เมื่อไร ทำไม อย่างไร เท่าไหร่ \
    เท่าไร 언제 어디 누구 무엇 뭐 왜 어떻게 얼마";

/// Phrases of small talk in scripts without spaces, separated by blanks. Longer ones first.
const SMALL_TALK: &str = "こんにちは ありがとうございます ありがとう おはようございます おはよう こんばんは \
    お願いします 分かりました わかりました なるほど すごい 了解です 了解 続けて はい いいえ またね おやすみ \
    どう思いますか 早上好 晚上好 你好 谢谢 好的 是的 再见 晚安 继续 明白了 不客气 没问题 你觉得 好 สวัสดี ขอบคุณ ครับ \
    ค่ะ โอเค 안녕하세요 감사합니다 네";

/// Returns a normalised question without the phrases of questions in scripts without spaces.
pub(super) fn without_phrases(question: &str) -> Cow<'_, str> {
    without(Cow::Borrowed(question), &[PHRASES])
}

/// Returns a normalised turn without the phrases of questions and of small talk in scripts without spaces.
pub(super) fn without_small_talk(turn: &str) -> Cow<'_, str> {
    without(Cow::Borrowed(turn), &[SMALL_TALK, PHRASES])
}

fn without<'a>(mut text: Cow<'a, str>, lists: &[&str]) -> Cow<'a, str> {
    if fold(&text).is_ascii() {
        return text;
    }
    for phrase in lists.iter().flat_map(|phrases| phrases.split_whitespace()) {
        if text.contains(phrase) {
            text = Cow::Owned(text.replace(phrase, " "));
        }
    }
    text
}
