//! Exact counts for OpenAI's models.

use std::fmt;

use tiktoken_rs::CoreBPE;
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

use super::{MediaCosts, count_message};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::model::TokenCounter;

/// The most bytes counted at once: tiktoken-rs panics on about 1,000,000 blanks in a row. A cut may part a word, which gives a few tokens
/// more or fewer.
const PIECE_BYTES: usize = 64 << 10;

/// Counts like OpenAI's tokenizers. For a text above 64 KiB the count may differ by a few tokens for each 64 KiB.
///
/// Its name is the tokenizer's, with the version of the rules for the rest of a message. Words such as `<|endoftext|>` are
/// ordinary text. The tables are loaded once per process, at the first count.
///
/// ```
/// use memory_core::model::TokenCounter as _;
/// use memory_core::window::TiktokenCounter;
///
/// let counter = TiktokenCounter::for_model("gpt-4o-mini")?;
/// assert_eq!(counter.count_text("hello world"), 2);
/// # Ok::<(), memory_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TiktokenCounter {
    name: &'static str,
    tables: fn() -> &'static CoreBPE,
}

impl TiktokenCounter {
    /// Returns the counter of the model called `name`, such as `gpt-4o-mini` or `openai/gpt-4o`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a model whose tokenizer tiktoken does not have; [`super::HeuristicCounter`] counts for
    /// every model.
    pub fn for_model(name: &str) -> Result<Self> {
        let short = name.rsplit('/').next().unwrap_or(name);
        match get_tokenizer(short) {
            Some(Tokenizer::O200kBase) => Ok(Self::o200k()),
            Some(Tokenizer::Cl100kBase) => Ok(Self::cl100k()),
            Some(Tokenizer::O200kHarmony) => {
                Ok(Self { name: "o200k_harmony-3", tables: tiktoken_rs::o200k_harmony_singleton })
            }
            Some(Tokenizer::P50kBase) => Ok(Self { name: "p50k_base-3", tables: tiktoken_rs::p50k_base_singleton }),
            Some(Tokenizer::P50kEdit) => Ok(Self { name: "p50k_edit-3", tables: tiktoken_rs::p50k_edit_singleton }),
            Some(Tokenizer::R50kBase | Tokenizer::Gpt2) => {
                Ok(Self { name: "r50k_base-3", tables: tiktoken_rs::r50k_base_singleton })
            }
            None => Err(Error::Unsupported { backend: "tiktoken", what: "count for this model".to_owned() }),
        }
    }

    /// Returns the counter of GPT-4o and later models.
    pub fn o200k() -> Self {
        Self { name: "o200k_base-3", tables: tiktoken_rs::o200k_base_singleton }
    }

    /// Returns the counter of GPT-4, GPT-3.5 and the embedding models.
    pub fn cl100k() -> Self {
        Self { name: "cl100k_base-3", tables: tiktoken_rs::cl100k_base_singleton }
    }
}

impl fmt::Debug for TiktokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TiktokenCounter({})", self.name)
    }
}

impl TokenCounter for TiktokenCounter {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, message: &Message) -> u64 {
        count_message(message, &MediaCosts::USUAL, &|text| self.count_text(text))
    }

    fn count_text(&self, text: &str) -> u64 {
        let tables = (self.tables)();
        pieces(text).map(|piece| tables.count_ordinary(piece) as u64).sum()
    }
}

/// Returns `text` in pieces of at most [`PIECE_BYTES`], cut between characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_small_and_lose_nothing() {
        for unit in ["a", "ä", "中", "😀", "a中"] {
            let text = unit.repeat(200_000 / unit.len());
            let parts: Vec<_> = pieces(&text).collect();
            assert!(parts.iter().all(|part| part.len() <= PIECE_BYTES));
            assert_eq!(parts.concat(), text);
        }
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn models_are_known_by_name() {
        let name = |model: &str| TiktokenCounter::for_model(model).map(|counter| counter.name.to_owned());
        assert_eq!(name("gpt-4o-mini").unwrap(), "o200k_base-3");
        assert_eq!(name("openai/gpt-4o").unwrap(), "o200k_base-3");
        assert_eq!(name("gpt-4").unwrap(), "cl100k_base-3");
        assert_eq!(name("text-embedding-3-small").unwrap(), "cl100k_base-3");
        assert_eq!(name("gpt-oss-120b").unwrap(), "o200k_harmony-3");
        assert!(matches!(name("some-llama"), Err(Error::Unsupported { .. })));
    }

    /// Sentences, numbers, code, letters without blanks between them, and signs of several characters.
    const UNITS: [&str; 5] = [
        "The unbelievably quick brown fox jumps over the lazy dog. ",
        "In 1914 there were 1234567 of 89, or 0.271828. ",
        "fn main() {\n    let total_count = rows.len();\n}\n\n",
        "用户的乌龟住在池塘里，今天没有下雨。",
        "👩\u{200d}👩\u{200d}👧 née e\u{301}tude ",
    ];
    /// How many tokens a cut of such a text may make more or fewer.
    const FEW: u64 = 8;

    fn whole(text: &str) -> u64 {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
    }

    #[test]
    fn a_cut_anywhere_makes_a_few_tokens_of_difference() {
        for text in UNITS.map(|unit| unit.repeat(3)) {
            for (place, _) in text.char_indices() {
                let (head, tail) = text.split_at(place);
                let cut = whole(head) + whole(tail);
                assert!(cut.abs_diff(whole(&text)) <= FEW, "{cut} for {}: {head}|{tail}", whole(&text));
            }
        }
    }

    #[test]
    fn a_long_text_counts_a_few_tokens_more_or_fewer_for_each_cut() {
        for unit in UNITS {
            let text = unit.repeat(4 * PIECE_BYTES / unit.len());
            let cuts = pieces(&text).count() as u64 - 1;
            let (counted, whole) = (TiktokenCounter::o200k().count_text(&text), whole(&text));
            assert!(cuts > 0 && counted.abs_diff(whole) <= FEW * cuts, "{counted} for {whole}: {unit}");
        }
    }

    #[test]
    fn special_words_are_ordinary_text() {
        assert!(TiktokenCounter::o200k().count_text("<|endoftext|>") > 1);
    }

    #[test]
    fn s2_5_a_million_blanks_do_not_panic() {
        for blank in [" ", "\t", "\u{a0}", "\n", " \n"] {
            let text = blank.repeat(1_000_000);
            assert!(TiktokenCounter::o200k().count_text(&text) > 0);
            assert!(TiktokenCounter::cl100k().count_text(&text) > 0);
        }
    }
}
