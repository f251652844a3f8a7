//! The excerpt of a text that answers a question, with the words that match.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};
use unicode_normalization::char::is_combining_mark;

use crate::store::text::Term;

use super::{Analysis, dense, fold, head_of, term};

/// A piece of a text, on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The piece: blanks and line ends are single blanks, and `…` stands where more of the text is.
    pub text: String,
    /// The byte ranges of its words that the question asks for, in their order.
    pub matches: Vec<Range<usize>>,
}

/// A match: where it stands, and the terms that it shares with the question.
struct Match {
    place: Range<usize>,
    terms: Vec<Term>,
}

/// What a question asks for, to be found in several texts. Made by [`Analysis::excerpts`].
#[derive(Debug)]
pub struct Excerpts<'a> {
    analysis: &'a Analysis,
    sought: HashSet<Term>,
    /// The letters and digits with which these terms begin; none if one begins otherwise.
    initials: Option<HashSet<u8>>,
    /// Of each word that was met, what of it is sought.
    known: HashMap<String, Vec<Term>>,
}

impl Analysis {
    /// Reads a question, to cut the [excerpts](Excerpts::of) of several texts that answer it.
    ///
    /// ```
    /// use memory_core::analysis::Analysis;
    ///
    /// let analysis = Analysis::english();
    /// let mut excerpts = analysis.excerpts("Where is my parcel?");
    /// let excerpt = excerpts.of("The parcels never arrived.", 80);
    /// assert_eq!(excerpt.matches, [4..11]);
    /// ```
    pub fn excerpts(&self, question: &str) -> Excerpts<'_> {
        let sought: HashSet<Term> = self.query(question).into_iter().collect();
        let initial = |term: &Term| term.as_str().bytes().next().filter(|first| !first.is_ascii_uppercase());
        let initials = sought.iter().map(initial).collect();
        Excerpts { analysis: self, sought, initials, known: HashMap::default() }
    }

    /// Returns the excerpt of one text, as [`Excerpts::of`] does.
    pub fn excerpt(&self, question: &str, text: &str, most: usize) -> Excerpt {
        self.excerpts(question).of(text, most)
    }
}

impl Excerpts<'_> {
    /// Returns the piece of `text` that holds the most of what the question asks for, of at most about `most` characters: the
    /// whole text if it is that short, its beginning if nothing matches.
    ///
    /// Words match by their terms, as in a search: `parcels` is marked where a parcel is asked for.
    pub fn of(&mut self, text: &str, most: usize) -> Excerpt {
        let line = one_line(head_of(text));
        let is_whole = text.len() == head_of(text).len();
        let found = joined(&line, self.found(&line));
        let cut = window(&line, &found, most);
        let (before, after) = (cut.start > 0, cut.end < line.len() || !is_whole);
        let lead = if before { "…" } else { "" };
        let shift = |at: usize| at - cut.start + lead.len();
        let inside = found.iter().filter(|one| cut.start <= one.place.start && one.place.end <= cut.end);
        Excerpt {
            matches: inside.map(|one| shift(one.place.start)..shift(one.place.end)).collect(),
            text: format!("{lead}{}{}", line.get(cut).unwrap_or_default(), if after { "…" } else { "" }),
        }
    }

    /// Returns what of a line is sought, in its order.
    fn found(&mut self, line: &str) -> Vec<Match> {
        let mut found = Vec::new();
        if self.sought.is_empty() {
            return found;
        }
        let mut singles = Vec::new();
        for chunk in chunks(line) {
            let text = line.get(chunk.clone()).unwrap_or_default();
            if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                self.add(chunk, text, &mut found);
                continue;
            }
            if let Some(term) = whole(text).filter(|term| self.sought.contains(term)) {
                found.push(Match { place: chunk, terms: vec![term] });
                continue;
            }
            for (run, is_dense) in runs(text) {
                let (at, word) = (chunk.start + run.start, text.get(run).unwrap_or_default());
                if is_dense {
                    pairs(at, word, &self.sought, &mut found, &mut singles);
                    continue;
                }
                self.add(at..at + word.len(), word, &mut found);
            }
        }
        // A character of a pair is sought alone too, which marks much where the pair itself stands.
        if found.is_empty() { singles } else { found }
    }

    /// Adds a word to what was found, if anything of it is sought.
    fn add(&mut self, place: Range<usize>, word: &str, found: &mut Vec<Match>) {
        let terms = self.terms(word);
        if !terms.is_empty() {
            found.push(Match { place, terms: terms.to_vec() });
        }
    }

    /// Returns what of a word is sought.
    fn terms(&mut self, word: &str) -> &[Term] {
        if self.initials.as_ref().is_some_and(|initials| self.analysis.begins_otherwise(word, initials)) {
            return &[];
        }
        if !self.known.contains_key(word) {
            let terms = self.analysis.document(word).into_iter().map(|(term, _)| term);
            let sought = terms.filter(|term| self.sought.contains(term)).collect();
            self.known.insert(word.to_owned(), sought);
        }
        self.known.get(word).map_or(&[], Vec::as_slice)
    }
}

/// Returns a text on one line, with single blanks.
fn one_line(text: &str) -> Cow<'_, str> {
    let is_one = !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ");
    if is_one && text.chars().all(|c| c == ' ' || !c.is_whitespace()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the parts of a line between blanks, without the signs around them.
fn chunks(line: &str) -> impl Iterator<Item = Range<usize>> {
    line.split(' ').scan(0, |at, chunk| {
        let start = *at;
        *at += chunk.len() + 1;
        let head = chunk.trim_start_matches(|c| !is_word(c));
        let from = start + chunk.len() - head.len();
        Some(from..from + head.trim_end_matches(|c| !is_word(c)).len())
    })
}

/// Returns the term of a name that signs join, such as `E-4471-B`; none for anything else.
fn whole(chunk: &str) -> Option<Term> {
    if chunk.chars().all(is_word) || chunk.chars().any(dense::is_dense) {
        return None;
    }
    term::of(&fold::fold(&fold::normalise(chunk).to_lowercase()))
}

/// Returns the words of a chunk, and whether each is of a script without blanks.
fn runs(chunk: &str) -> Vec<(Range<usize>, bool)> {
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    let mut follows = false;
    for (at, c) in chunk.char_indices().filter(|(_, c)| *c != '\u{ad}') {
        let end = at + c.len_utf8();
        let is_dense = dense::is_dense(c) || (is_combining_mark(c) && runs.last().is_some_and(|(_, dense)| *dense));
        match runs.last_mut().filter(|_| follows) {
            Some((run, dense)) if is_word(c) && *dense == is_dense => run.end = end,
            _ if is_word(c) => runs.push((at..end, is_dense)),
            _ => {}
        }
        follows = is_word(c);
    }
    runs
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || matches!(c, '\'' | '_');
    }
    c.is_alphanumeric() || is_combining_mark(c) || dense::is_dense(c) || c == '’'
}

/// Finds sought pairs of neighbouring characters, and single ones apart.
fn pairs(start: usize, run: &str, sought: &HashSet<Term>, found: &mut Vec<Match>, singles: &mut Vec<Match>) {
    let sought = |text: &str| term::of(&fold::fold(&fold::normalise(text))).filter(|term| sought.contains(term));
    let mut ends = run.char_indices().map(|(at, c)| (at, at + c.len_utf8())).peekable();
    while let Some((at, end)) = ends.next() {
        let add = |end: usize, list: &mut Vec<Match>| {
            let term = run.get(at..end).and_then(&sought);
            list.extend(term.map(|term| Match { place: start + at..start + end, terms: vec![term] }));
        };
        add(end, singles);
        if let Some((_, end)) = ends.peek() {
            add(*end, found);
        }
    }
}

/// Joins matches that overlap, or between which only signs stand.
fn joined(line: &str, found: Vec<Match>) -> Vec<Match> {
    let mut joined: Vec<Match> = Vec::with_capacity(found.len());
    for next in found {
        let is_joined = joined.last().is_some_and(|last| {
            next.place.start <= last.place.end
                || line
                    .get(last.place.end..next.place.start)
                    .is_some_and(|gap| gap.chars().all(|c| "-./@:".contains(c)))
        });
        match joined.last_mut().filter(|_| is_joined) {
            Some(last) => {
                last.place.end = last.place.end.max(next.place.end);
                last.terms.extend(next.terms);
            }
            None => joined.push(next),
        }
    }
    joined
}

/// Returns the part of a line, of about `most` characters, that holds the most different terms.
fn window(line: &str, found: &[Match], most: usize) -> Range<usize> {
    // No text has more characters than bytes.
    if line.len() <= most {
        return 0..line.len();
    }
    let places: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let all = places.len() - 1;
    if all <= most {
        return 0..line.len();
    }
    let of_byte = |at: usize| places.partition_point(|place| *place < at);
    let Some((first, last)) = best(found, |one| of_byte(one.place.start), |one| of_byte(one.place.end), most) else {
        return cut(line, &places, 0, most);
    };
    // What stands before the first match leads to it; more is told behind.
    let room = most.saturating_sub(last - first);
    let start = first.saturating_sub(room / 3).min(all - most);
    cut(line, &places, if start == 0 { 0 } else { begin(line, &places, start, first) }, most)
}

/// Returns the first and the last character of the matches that share the most terms with the question.
fn best(
    found: &[Match],
    start: impl Fn(&Match) -> usize,
    end: impl Fn(&Match) -> usize,
    most: usize,
) -> Option<(usize, usize)> {
    let mut counts: HashMap<&Term, usize> = HashMap::default();
    let mut best: Option<((usize, usize), (usize, usize))> = None;
    let mut from = found.iter().enumerate().peekable();
    for (place, one) in found.iter().enumerate() {
        one.terms.iter().for_each(|term| *counts.entry(term).or_default() += 1);
        while let Some((_, old)) = from.next_if(|(at, old)| *at < place && end(one) - start(old) > most) {
            for term in &old.terms {
                if let Some(count) = counts.get_mut(term) {
                    *count -= 1;
                }
            }
            counts.retain(|_, count| *count > 0);
        }
        let first = from.peek().map_or(one, |(_, old)| *old);
        let score = (counts.len(), counts.values().sum());
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, (start(first), end(one))));
        }
    }
    best.map(|(_, place)| place)
}

/// Returns the character at which an excerpt begins: a sentence between `start` and `first`, else a word.
fn begin(line: &str, places: &[usize], start: usize, first: usize) -> usize {
    let byte = |at: usize| places.get(at).copied().unwrap_or(line.len());
    let lead = line.get(byte(start)..byte(first)).unwrap_or_default();
    let sentence =
        [". ", "! ", "? ", "。", "！", "？"].iter().filter_map(|end| Some(lead.find(end)? + end.len())).min();
    let word = || lead.find(' ').map(|blank| blank + 1);
    let skipped = sentence.or_else(word).unwrap_or(0);
    places.partition_point(|place| *place < byte(start) + skipped)
}

/// Returns the bytes of `most` characters from `start` on, without a word that would be cut.
fn cut(line: &str, places: &[usize], start: usize, most: usize) -> Range<usize> {
    let byte = |at: usize| places.get(at).copied().unwrap_or(line.len());
    let (from, until) = (byte(start), byte(start.saturating_add(most)));
    let piece = line.get(from..until).unwrap_or_default();
    let is_cut = line.get(until..).is_some_and(|rest| !rest.is_empty() && !rest.starts_with(' '));
    // A text without blanks has no words to be kept whole.
    let blank = piece.rfind(' ').filter(|blank| is_cut && *blank > piece.len() / 2);
    from..blank.map_or(until, |blank| from + blank)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(question: &str, text: &str, most: usize) -> String {
        let Excerpt { text, matches } = Analysis::english().excerpt(question, text, most);
        let mut out = String::new();
        let mut at = 0;
        for Range { start, end } in matches {
            out += &format!("{}<{}>", &text[at..start], &text[start..end]);
            at = end;
        }
        out + &text[at..]
    }

    #[test]
    fn words_match_as_a_search_matches_them() {
        for (question, text, promised) in [
            ("Where is my parcel?", "The parcels  never\narrived.", "The <parcels> never arrived."),
            ("what did I buy", "I bought it, CAFÉ or not.", "I <bought> it, CAFÉ or not."),
            ("cafe", "The CAFÉ's closed.", "The <CAFÉ's> closed."),
            ("e-4471-b", "Order (E-4471-B), please.", "Order (<E-4471-B>), please."),
            ("charlie", "Ask charlie@example.org.", "Ask <charlie>@example.org."),
            ("東京", "私は東京に住む。", "私は<東京>に住む。"),
            ("東京都庁", "新東京都庁です", "新<東京都庁>です"),
            ("zebra", "Nothing of it.", "Nothing of it."),
            ("", "Nothing of it.", "Nothing of it."),
        ] {
            assert_eq!(marked(question, text, 99), promised, "{question}");
        }
    }

    #[test]
    fn the_piece_with_the_most_of_the_question_is_shown() {
        let filler = "Nothing much happened on that day, as usual. ".repeat(8);
        let text = format!("The dog barked. {filler}Then the dog saw the vet about chocolate. {filler}");
        let shown = marked("dog vet chocolate", &text, 90);
        assert!(shown.starts_with("…Then the <dog> saw the <vet> about <chocolate>."), "{shown}");
        assert!(shown.ends_with('…') && shown.chars().count() < 100, "{shown}");
        assert_eq!(marked("zebra", &text, 20), "The dog barked.…");
    }

    #[test]
    fn words_with_a_stem_of_their_own_begin_as_it_does_or_are_not_plain() {
        let english = Analysis::english();
        assert_eq!(
            ["garden", "Plan", "42", "bought", "iPhone"].map(|word| english.initial(word)),
            [Some(b'g'), Some(b'p'), Some(b'4'), None, None]
        );
        let words =
            "skis skies dying lying tying idly gently ugly early only singly news yes youth nicht pour para Die bought";
        words.split(' ').for_each(begins_as_its_terms);
    }

    fn begins_as_its_terms(word: &str) {
        let analysis = Analysis::english();
        let Some(initial) = analysis.initial(word) else { return };
        let terms = analysis.document(word).into_iter().filter_map(|(term, _)| term.as_str().bytes().next());
        let firsts: Vec<u8> = terms.collect();
        assert!(firsts.iter().all(|first| *first == initial || first.is_ascii_uppercase()), "{word}");
        // None of a word that is dropped, one stem of any other, and two ends more if it is of another language.
        assert!(matches!(firsts.len(), 0 | 1 | 3), "{word}");
    }

    proptest! {
        #[test]
        fn a_plain_word_begins_as_its_terms(word in "[A-Za-z][a-z]{0,14}|[0-9]{1,40}") {
            begins_as_its_terms(&word);
        }

        #[test]
        fn any_text_is_cut_at_characters(question in "\\PC{0,12}", text in "\\PC{0,80}", most in 0usize..90) {
            let Excerpt { text: shown, matches } = Analysis::english().excerpt(&question, &text, most);
            prop_assert!(shown.chars().count() <= most + 2);
            prop_assert!(matches.iter().all(|place| shown.get(place.clone()).is_some_and(|word| !word.is_empty())));
        }
    }
}
