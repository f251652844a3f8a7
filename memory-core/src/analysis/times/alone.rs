//! Questions about nothing but a time: "What did I do last Tuesday?".

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{WEEKDAYS, day_of, number_of, words};
use crate::analysis::{Analysis, fold};

/// Words of times beside months, weekdays and numbers, and words that say only that something was done or said.
static OF_ANY_TIME: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    const WORDS: &str = "ago last past previous couple since before between early mid late day days week weeks weekend month months \
    year years yesterday today tonight morning afternoon evening night \
    happen happens happened happening going up talk talked talking speak spoke spoken say said tell told mention mentioned discuss \
    discussed chat chatted write wrote anything something everything thing things conversation conversations message messages";
    WORDS.split_whitespace().collect()
});

impl Analysis {
    /// Returns whether a question that names a time asks for nothing else than what was done or said then.
    pub(crate) fn asks_for_a_time_alone(&self, question: &str) -> bool {
        let question = fold::normalise(question);
        let inner = &self.0;
        let sets = [&inner.stop, &inner.question, &inner.first_person, &inner.second_person, &inner.saying];
        let is_of_time = |word: &str| {
            OF_ANY_TIME.contains(word)
                || WEEKDAYS.contains(&word)
                || inner.months.contains(&word)
                || number_of(word).is_some()
                || day_of(word).is_some()
        };
        words(&question)
            .map(|word| word.bare())
            .all(|word| is_of_time(&word) || sets.iter().any(|set| set.contains(&word)))
    }
}
