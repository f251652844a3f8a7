//! Questions about nothing but a time: "What did I do last Tuesday?".

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{WEEKDAYS, day_of, number_of, words, year_of};
use crate::analysis::{Analysis, fold};

/// Words of times beside months, weekdays and numbers, and words that tell nothing of what was done or said.
static OF_ANY_TIME: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    const WORDS: &str = "ago last past previous couple since before after between during around from early mid late day days week \
    weeks weekend month months year years yesterday today tonight morning afternoon evening night \
    about up with were been being have had anything something everything thing things conversation conversations message messages";
    WORDS.split_whitespace().collect()
});

/// Words that say only that something was done or said. "How are you today?" has none.
static DOING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    const WORDS: &str = "did do done doing happen happens happened happening talk talked talking speak spoke spoken say said saying \
    tell told mention mentioned discuss discussed discussing chat chatted write wrote";
    WORDS.split_whitespace().collect()
});

impl Analysis {
    /// Returns whether a question that names a time asks for nothing else than what was done or said then: "What did we talk about
    /// yesterday?".
    pub(crate) fn asks_for_a_time_alone(&self, question: &str) -> bool {
        let question = fold::normalise(question);
        let inner = &self.0;
        let sets = [&inner.stop, &inner.question, &inner.first_person, &inner.second_person, &inner.saying];
        // A number that is no day, hour or year is what the question is about.
        let is_of_time = |word: &str| {
            OF_ANY_TIME.contains(word)
                || WEEKDAYS.contains(&word)
                || inner.months.contains(&word)
                || number_of(word).is_some_and(|number| number <= 31)
                || day_of(word).is_some()
                || year_of(word).is_some()
        };
        let mut is_of_doing = false;
        let is_all = words(&question).map(|word| word.bare()).all(|word| {
            let is_doing = DOING.contains(&*word);
            is_of_doing |= is_doing;
            is_doing || is_of_time(&word) || sets.iter().any(|set| set.contains(&word))
        });
        is_all && is_of_doing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_a_time_alone_has_no_matter_of_its_own() {
        let english = Analysis::english();
        for question in [
            "What did I do last Tuesday?",
            "What did we talk about yesterday?",
            "what were we discussing last week",
            "What happened on 8 May 2023?",
            "what have I been doing since March?",
            "Tell me what I said two weeks ago.",
        ] {
            assert!(english.asks_for_a_time_alone(question), "{question}");
        }
        for question in [
            "How are you today?",
            "I am so tired today",
            "Where did I eat last Tuesday?",
            "Did you mention 33713 last week?",
            "What did Ada say yesterday?",
            "What shall I cook tonight?",
        ] {
            assert!(!english.asks_for_a_time_alone(question), "{question}");
        }
    }
}
