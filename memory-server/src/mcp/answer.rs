//! Results that fit into a budget of tokens, whatever is in the memory.

use std::sync::Arc;

use memory::edge::{Shown, fenced};
use memory::model::TokenCounter;
use memory::window::CounterKind;
use memory::{Content, Error, SearchResults};
use serde_json::Value;

use super::refusal::Refusal;

/// The smallest and the largest number of tokens that a call may ask for.
const LEAST: u64 = 200;
const MOST: u64 = 100_000;

/// Characters of an item that are shown: as many as fit.
const PASSAGES: [usize; 4] = [1_200, 600, 300, 150];
const SHORTEST: usize = 80;
/// Passages of this length, and so many of them, are better than shorter ones of more items.
const SHORT: usize = 300;
const FEW: usize = 3;

/// Characters of the longest token.
const LONGEST: usize = 200;
/// More bytes than the longest token has: a run of blanks.
const BYTES: u64 = 256;

/// What a tool answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    /// The same as JSON, where clients rely on it.
    pub(super) structured: Option<Value>,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, structured: None }
    }
}

/// Returns the number of tokens if a result may have so many.
pub(super) fn bounded(tokens: u64) -> memory::Result<u64> {
    let is_right = (LEAST..=MOST).contains(&tokens);
    is_right.then_some(tokens).ok_or_else(|| Error::invalid(format!("max_tokens is from {LEAST} to {MOST}")))
}

/// A budget of tokens.
#[derive(Clone, Debug)]
pub(super) struct Fitting {
    counter: Arc<dyn TokenCounter>,
    most: u64,
}

impl Fitting {
    /// Counts as OpenAI's newer models do, where that is built in.
    pub(super) fn new(most: u64) -> Self {
        Self::counted_by(CounterKind::O200k, most)
    }

    pub(super) fn counted_by(counter: CounterKind, most: u64) -> Self {
        Self { counter: counter.counter(), most: most.clamp(LEAST, MOST) }
    }

    /// Returns the budget that a call asks for.
    pub(super) fn asked(&self, tokens: Option<u64>) -> Result<Self, Refusal> {
        let most = tokens.map_or(Ok(self.most), bounded)?;
        Ok(Self { counter: Arc::clone(&self.counter), most })
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Returns half the budget.
    pub(super) fn half(&self) -> Self {
        Self { counter: Arc::clone(&self.counter), most: self.most / 2 }
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        // What is so long need not be counted, which takes a second for some megabytes.
        text.len() as u64 / BYTES <= self.most && self.counter.count_text(text) <= self.most
    }

    /// Returns a text that fits: the beginning, if it is too long.
    pub(super) fn clip(&self, text: &str) -> String {
        self.clipped(text, str::to_owned)
    }

    /// Returns as `wrap` writes it a text that fits then: the beginning, if it is too long.
    pub(super) fn clipped(&self, text: &str, wrap: impl Fn(&str) -> String) -> String {
        let whole = wrap(text);
        if self.fits(&whole) {
            return whole;
        }
        // No token is longer than this: what is behind it need not be counted.
        let most = usize::try_from(self.most).unwrap_or(usize::MAX).saturating_mul(LONGEST);
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).take(most).collect();
        let cut = |characters: usize| {
            let end = places.get(characters).copied().unwrap_or(text.len());
            wrap(&format!("{}…", text.get(..end).unwrap_or_default()))
        };
        let (mut fits, mut fails) = (0, places.len());
        // Halving: a longer beginning has no fewer tokens, but for a few at its end.
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            if self.fits(&cut(middle)) { fits = middle } else { fails = middle }
        }
        while fits > 0 && !self.fits(&cut(fits)) {
            fits -= 1;
        }
        cut(fits)
    }

    /// Returns how many of `count` parts are left out, from the first on, so that the others fit: all but the last one, if that does
    /// not fit either. `text` writes the parts from a place on.
    pub(super) fn left_out(&self, count: usize, text: impl Fn(usize) -> String) -> usize {
        if self.fits(&text(0)) {
            return 0;
        }
        let (mut fails, mut fits) = (0, count.saturating_sub(1));
        // Halving: each time, all that is left is written and counted.
        while fits - fails > 1 {
            let middle = fails + (fits - fails) / 2;
            if self.fits(&text(middle)) { fits = middle } else { fails = middle }
        }
        fits
    }

    /// Returns as many of these items as fit, in their order, as one block of data; the passages that answer `words`.
    pub(super) fn items(&self, items: &[&Content], words: &str, analysis: &memory::analysis::Analysis) -> String {
        if items.is_empty() {
            return "Nothing was found.".to_owned();
        }
        let text = |content: &Content, most: usize| {
            let text = content.text();
            if text.chars().nth(most).is_none() { text } else { analysis.excerpt(words, &text, most).text }
        };
        let block = |shown: usize, characters: usize| {
            let some = items.iter().take(shown);
            let block = fenced(some.map(|content| Shown { content, text: text(content, characters), shared_by: None }));
            match items.len() - shown {
                0 => block,
                rest => format!("{block}\n{rest} more did not fit: ask more narrowly, or with more max_tokens."),
            }
        };
        let frame = self.counter.count_text(&fenced([]));
        let fitting_at = |characters: usize| {
            let mut used = frame;
            let of_one = items.iter().map(|content| {
                let text = text(content, characters);
                fenced([Shown { content, text, shared_by: None }])
            });
            let costs = of_one.map(|one| self.counter.count_text(&one).saturating_sub(frame));
            costs
                .take_while(|cost| {
                    used += cost;
                    used <= self.most
                })
                .count()
        };
        // Shorter passages before fewer of them.
        let is_enough = |characters, shown| shown == items.len() || (characters <= SHORT && shown >= FEW);
        let mut counted = PASSAGES.into_iter().map(|characters| (characters, fitting_at(characters)));
        let chosen = counted.find(|(characters, shown)| is_enough(*characters, *shown));
        let (characters, shown) = chosen.unwrap_or_else(|| (SHORTEST, fitting_at(SHORTEST)));
        let fits = (0..=shown).rev().map(|shown| block(shown, characters)).find(|block| self.fits(block));
        fits.unwrap_or_else(|| self.clip("What was found does not fit: ask with more max_tokens."))
    }

    /// Returns the hits of a search as one block of data.
    pub(super) fn found(&self, found: &SearchResults, words: &str, analysis: &memory::analysis::Analysis) -> String {
        let items: Vec<&Content> = found.hits.iter().map(|hit| &hit.content).collect();
        let block = self.items(&items, words, analysis);
        if found.receipt.degraded.is_empty() {
            return block;
        }
        let told = format!("{block}\nPart of the memory did not answer, so something may be missing.");
        if self.fits(&told) { told } else { block }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Counts no text of more than 60,000 bytes.
    #[derive(Debug)]
    struct Short;

    impl TokenCounter for Short {
        fn name(&self) -> &str {
            "short"
        }

        fn count(&self, message: &memory::Message) -> u64 {
            self.count_text(&message.text())
        }

        fn count_text(&self, text: &str) -> u64 {
            assert!(text.len() <= 60_000, "{}", text.len());
            text.len() as u64 / 300
        }
    }

    #[test]
    fn what_is_too_long_in_any_case_is_not_counted() {
        let fitting = Fitting { counter: Arc::new(Short), most: LEAST };
        assert!(fitting.fits(&" ".repeat(50_000)));
        assert!(!fitting.fits(&" ".repeat(64 << 20)));
    }

    #[test]
    fn a_session_of_many_short_messages_is_cut_to_a_budget_with_few_counts() {
        let fitting = Fitting { counter: Arc::new(Short), most: LEAST };
        let written = Cell::new(0);
        let left_out = |count: usize| {
            written.set(0);
            fitting.left_out(count, |from| {
                written.set(written.get() + 1);
                vec!["word"; count - from].join("\n")
            })
        };
        assert_eq!([0, 1, 10_291, 10_292].map(left_out), [0, 0, 0, 1]);
        assert_eq!(left_out(20_000), 20_000 - 10_291);
        assert!(written.get() <= 20, "{}", written.get());
        // Where none fits, the last one is left.
        assert_eq!([1, 2, 7].map(|count| fitting.left_out(count, |_| " ".repeat(1 << 20))), [0, 1, 6]);
    }

    #[test]
    fn whatever_a_text_holds_its_beginning_fits() {
        for piece in ["word ", "🦀", "\u{0}", "ﷺ", "aaaaaaaa", "日本", "\n\n \t", "e\u{301}\u{202e}"] {
            for repeats in [1, 300, 5_000] {
                for most in [LEAST, 1_500] {
                    let fitting = Fitting::new(most);
                    let text = piece.repeat(repeats);
                    let clipped = fitting.clip(&text);
                    assert!(fitting.fits(&clipped), "{piece} {repeats}");
                    assert!(clipped == text || clipped.ends_with('…'));
                }
            }
        }
    }
}
