//! The person a question is about: a participant whom it names, the one who asks, or the one who is asked.

use foldhash::HashSet;

use super::{Analysis, Language, fold};

/// How many words behind a pronoun its verb is looked for. German has the verb at the end.
const SAYING: usize = 6;

impl Analysis {
    /// Returns the one of `speakers` whom the question names, by the whole name or its first word.
    ///
    /// None if it names nobody or two of them, if it speaks of the asker ("my", "I"), or if the language's words for that are not
    /// known. A name that is also a stop or question word, such as Will, counts only if capitalised, and not at the beginning.
    pub fn named<'a>(&self, question: &str, speakers: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        let question = fold::normalise(question);
        let words: Vec<Bare<'_>> = bare(&question).collect();
        let first_person = &self.0.first_person;
        if first_person.is_empty() || words.iter().any(|word| first_person.contains(&*word.bare)) {
            return None;
        }
        let mut named: Option<&str> = None;
        for speaker in speakers {
            if named != Some(speaker) && self.occurs(speaker, &words).is_some() {
                if named.is_some() {
                    return None;
                }
                named = Some(speaker);
            }
        }
        named
    }

    /// Returns whether the question is about what the one who is asked has said ("what did you suggest?").
    ///
    /// A verb of saying has to follow the pronoun within six words. "Can you tell me who my dentist is?" is a request: the
    /// pronoun behind a modal verb does not count.
    pub fn addresses_the_asked(&self, question: &str) -> bool {
        let question = fold::normalise(question);
        question.split(['.', '!', '?']).any(|sentence| {
            let words: Vec<String> = words(sentence).map(|word| word.bare()).collect();
            let is_asked = |place: usize| {
                let before = place.checked_sub(1).and_then(|before| words.get(before));
                words.get(place).is_some_and(|word| self.0.second_person.contains(word))
                    && !before.is_some_and(|before| self.0.modal.contains(before))
            };
            let addressed = (0..words.len()).filter(|place| is_asked(*place));
            let mut behind = addressed.flat_map(|place| words.iter().skip(place + 1).take(SAYING));
            behind.any(|word| self.0.saying.contains(word))
        })
    }

    /// Returns whether the question names the model ("what did the assistant suggest?").
    pub fn names_the_model(&self, question: &str) -> bool {
        self.holds(question, &self.0.model)
    }

    fn holds(&self, question: &str, any: &HashSet<String>) -> bool {
        let question = fold::normalise(question);
        words(&question).any(|word| any.contains(&*word.bare()))
    }

    /// Returns the question in the first person of `speaker`: "What did Ada paint?" becomes "What did I paint?".
    ///
    /// None if the question does not name the speaker, or the language has no table for it. English has one.
    pub fn in_first_person(&self, question: &str, speaker: &str) -> Option<String> {
        if self.0.language != Some(Language::English) {
            return None;
        }
        let question = fold::normalise(question);
        let words: Vec<Bare<'_>> = bare(&question).collect();
        let mut out = String::with_capacity(question.len());
        let mut copied = 0;
        let mut next = 0;
        while let Some((first, last)) = words.get(next..).and_then(|rest| self.occurs(speaker, rest)) {
            let after = last + 1;
            let word = |at: usize| words.get(next + at).map(|word| &word.word);
            let (Some(first), Some(last)) = (word(first), word(last)) else { break };
            next += after;
            let rest = question.get(last.end()..).unwrap_or_default();
            let suffix = possessive(rest);
            out.push_str(question.get(copied..first.start).unwrap_or_default());
            out.push_str(if suffix > 0 { "my" } else { "I" });
            copied = last.end() + suffix;
        }
        (copied > 0).then(|| out + question.get(copied..).unwrap_or_default())
    }

    /// Returns where the speaker's name begins and ends among the words.
    fn occurs(&self, speaker: &str, among: &[Bare<'_>]) -> Option<(usize, usize)> {
        let speaker = fold::normalise(speaker);
        let name: Vec<String> = words(&speaker).map(|word| word.bare()).collect();
        let first = name.first()?;
        let is_here = |(at, word): &(usize, &Bare<'_>)| {
            let before = at.checked_sub(1).and_then(|before| among.get(before));
            word.bare == *first && self.is_name(word) && !before.is_some_and(|before| self.is_noun(before, word))
        };
        let (at, _) = (0..).zip(among).find(is_here)?;
        let length = among.get(at..)?.iter().zip(&name).take_while(|(word, name)| word.bare == **name).count();
        Some((at, at + if length == name.len() { length - 1 } else { 0 }))
    }

    /// Returns whether a word that could be a name is none, by the word before it: "the bill", "since June".
    fn is_noun(&self, before: &Bare<'_>, Bare { bare, .. }: &Bare<'_>) -> bool {
        let is_month = self.0.months.contains(&bare.as_str());
        self.0.article.contains(&before.bare) || (is_month && self.0.dating.contains(&before.bare))
    }

    fn is_name(&self, Bare { word, bare }: &Bare<'_>) -> bool {
        let is_word = self.0.stop.contains(bare) || self.0.question.contains(bare);
        !is_word || (word.start > 0 && word.text.chars().next().is_some_and(char::is_uppercase))
    }
}

/// A word with its bare form, computed once for all speakers.
struct Bare<'a> {
    word: Word<'a>,
    bare: String,
}

fn bare(text: &str) -> impl Iterator<Item = Bare<'_>> {
    words(text).map(|word| Bare { bare: word.bare(), word })
}

/// A run of letters and digits.
pub(super) struct Word<'a> {
    start: usize,
    text: &'a str,
}

impl Word<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The word in lower case without marks.
    pub(super) fn bare(&self) -> String {
        fold::fold_owned(&self.text.to_lowercase())
    }
}

pub(super) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c);
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|(_, c)| !is_part(*c)).is_some() {}
        let (start, first) = rest.next()?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| is_part(*c)) {
            end = at + c.len_utf8();
        }
        Some(Word { start, text: text.get(start..end)? })
    })
}

/// Returns the length of a possessive ending at the head of `rest`: `'s`, or a lone apostrophe.
fn possessive(rest: &str) -> usize {
    let Some(after) = rest.strip_prefix('\'') else { return 0 };
    let ending = after.strip_prefix(['s', 'S']).unwrap_or(after);
    let is_ended = !ending.chars().next().is_some_and(char::is_alphanumeric);
    if is_ended { rest.len() - ending.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [&str; 2] = ["Caroline", "Melanie"];

    fn named(question: &str) -> Option<&'static str> {
        Analysis::english().named(question, TWO)
    }

    #[test]
    fn a_question_names_one_participant_or_nobody() {
        assert_eq!(named("What did Caroline research?"), Some("Caroline"));
        assert_eq!(named("what is melanie’s hobby"), Some("Melanie"));
        assert_eq!(named("CAROLINE's car?"), Some("Caroline"));
        assert_eq!(named("Where do Caroline and Melanie meet?"), None);
        assert_eq!(named("What did they research?"), None);
        assert_eq!(named("Carolines of the world"), None);
        assert_eq!(Analysis::english().named("Who is Ana?", ["Ana", "Ana"]), Some("Ana"));
    }

    #[test]
    fn a_question_of_the_asker_names_nobody() {
        assert_eq!(named("What did I tell Caroline?"), None);
        assert_eq!(named("Is Melanie my friend?"), None);
    }

    #[test]
    fn a_name_that_is_a_word_needs_a_capital_within_the_question() {
        let names = |question| Analysis::english().named(question, ["Will", "Ada"]);
        assert_eq!(names("What will the weather be?"), None);
        assert_eq!(names("Will it rain?"), None);
        assert_eq!(names("What did Will say?"), Some("Will"));
        assert_eq!(names("What will Ada say?"), Some("Ada"));
    }

    #[test]
    fn a_noun_or_a_month_is_no_name() {
        let names = |question| Analysis::english().named(question, ["bill", "June"]);
        assert_eq!(names("How much was the bill?"), None);
        assert_eq!(names("Where does bill live?"), Some("bill"));
        assert_eq!(names("What happened since June?"), None);
        assert_eq!(names("Did June call?"), Some("June"));
    }

    #[test]
    fn whole_names_and_first_names_count() {
        let names = |question| Analysis::english().named(question, ["John Smith", "Jörg"]);
        assert_eq!(names("What did John buy?"), Some("John Smith"));
        assert_eq!(names("What did John Smith buy?"), Some("John Smith"));
        assert_eq!(names("What did Smith buy?"), None);
        assert_eq!(names("Was kauft Jorg?"), Some("Jörg"));
    }

    #[test]
    fn questions_are_asked_in_the_first_person() {
        let rewritten = |question, name| Analysis::english().in_first_person(question, name);
        assert_eq!(rewritten("What did Caroline research?", "Caroline").unwrap(), "What did I research?");
        assert_eq!(
            rewritten("What is Caroline’s, or caroline's, car?", "Caroline").unwrap(),
            "What is my, or my, car?"
        );
        assert_eq!(rewritten("Charles' car and Charles", "Charles").unwrap(), "my car and I");
        assert_eq!(rewritten("John Smith and John's cat", "John Smith").unwrap(), "I and my cat");
        assert_eq!(rewritten("Where is it?", "Caroline"), None);
        assert_eq!(Analysis::of(Language::German).in_first_person("Wo ist Ada?", "Ada"), None);
    }

    #[test]
    fn the_asked_is_addressed_in_the_second_person() {
        assert!(Analysis::english().addresses_the_asked("What did you suggest?"));
        assert!(Analysis::of(Language::German).addresses_the_asked("Was hast Du mir geraten?"));
        assert!(!Analysis::english().addresses_the_asked("What is the youth club?"));
        assert!(!Analysis::english().addresses_the_asked("Can you tell me who my dentist is?"));
        assert!(!Analysis::english().addresses_the_asked("Thank you! Who told me about the train?"));
        assert!(Analysis::english().addresses_the_asked("What was your advice on the belt?"));
        assert!(!Analysis::plain().addresses_the_asked("What did you suggest?"));
        assert!(Analysis::english().names_the_model("What did the Assistant suggest?"));
        assert!(!Analysis::english().names_the_model("Who assisted her?"));
    }

    #[test]
    fn dates_are_terms_in_words() {
        let date = |analysis: &Analysis, text: &str| {
            let terms = analysis.date(text.parse().unwrap());
            terms.iter().map(|(term, _)| term.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(date(&Analysis::english(), "2023-05-08"), ["2023", "8", "may"]);
        assert_eq!(date(&Analysis::plain(), "2023-05-08"), ["2023", "8"]);
        assert_eq!(date(&Analysis::of(Language::German), "2023-03-01"), ["1", "2023", "marz"]);
        assert!(Analysis::english().date(crate::time::Timestamp(i64::MAX)).is_empty());
    }
}
