//! Profiles of known models: context size, output size, token counter.

use std::sync::Arc;

use super::{HeuristicCounter, ImageCost, MediaCosts, count_message};
use crate::message::Message;
use crate::model::TokenCounter;

/// A way of counting that a profile names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CounterKind {
    /// OpenAI's tokenizer since GPT-4o.
    O200k,
    /// OpenAI's tokenizer of GPT-4 and GPT-3.5.
    Cl100k,
    /// [`HeuristicCounter`].
    Heuristic,
}

impl CounterKind {
    /// Returns the counter, or the heuristic one if this build has no tables (feature `tiktoken`).
    pub fn counter(self) -> Arc<dyn TokenCounter> {
        match self {
            #[cfg(feature = "tiktoken")]
            Self::O200k => Arc::new(super::TiktokenCounter::o200k()),
            #[cfg(feature = "tiktoken")]
            Self::Cl100k => Arc::new(super::TiktokenCounter::cl100k()),
            _ => Arc::new(HeuristicCounter),
        }
    }

    /// Loads the counter's tables in a thread of its own. Without this, the first count of the process waits for them: 0.1 to 0.2 s.
    ///
    /// ```
    /// use memory_core::window::CounterKind;
    ///
    /// CounterKind::O200k.load_ahead(); // before stores are opened
    /// ```
    pub fn load_ahead(self) {
        // Without a thread, the first count loads them.
        let _ = std::thread::Builder::new().name("tables".to_owned()).spawn(move || self.counter().count_text(""));
    }
}

/// The profile of a model: its sizes and its counter.
///
/// ```
/// use memory_core::window::{LimitRule, ModelProfile};
///
/// let model = ModelProfile::of("openai/gpt-4o").expect("it is in the table");
/// assert_eq!(model.context, 128_000);
/// let counter = model.token_counter();
/// assert!(counter.count_text("Where is my order?") > 0);
///
/// let rule = LimitRule::default().with_share(0.5).with_unknown(2_000);
/// assert_eq!(rule.limit(Some(&model), 8_000), 60_000);
/// assert_eq!(rule.limit(None, 8_000), 2_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelProfile {
    /// The model's name.
    pub name: String,
    /// The most tokens that it reads and writes together.
    pub context: u64,
    /// The most tokens that it writes.
    pub output: u64,
    /// How it counts text.
    pub counter: CounterKind,
    /// How it counts media.
    pub media: MediaCosts,
}

// The pages that `ImageCost` names have these figures by model. Pages of a PDF: Anthropic's guide to PDF, 1,500 to 3,000
// tokens of text and an image each, which OpenAI's guide to files says without figures; Gemini's guide to documents, 258.
// Sound: OpenAI's guide to realtime costs, a token for each 100 ms; Gemini's guide to audio, 32 a second.
const GPT_4O: MediaCosts = openai("gpt-4o", &[ImageCost::Tiles { base: 85, tile: 170 }]);
const GPT_4O_MINI: MediaCosts = openai("gpt-4o-mini", &[ImageCost::Tiles { base: 2_833, tile: 5_667 }]);
const GPT_5: MediaCosts = openai("gpt-5", &[ImageCost::Tiles { base: 70, tile: 140 }]);
const O1: MediaCosts = openai("o1", &[ImageCost::Tiles { base: 75, tile: 150 }]);
const MINI: MediaCosts = openai("mini", &[ImageCost::Patches { hundredths: 162 }]);
const NANO: MediaCosts = openai("nano", &[ImageCost::Patches { hundredths: 246 }]);
const O4_MINI: MediaCosts = openai("o4-mini", &[ImageCost::Patches { hundredths: 172 }]);
const CLAUDE: MediaCosts = MediaCosts { name: "claude", images: &[ImageCost::Area], page: 4_600, second: 10 };
const GEMINI: MediaCosts = MediaCosts { name: "gemini", images: &[ImageCost::Crops], page: 258, second: 32 };

const fn openai(name: &'static str, images: &'static [ImageCost]) -> MediaCosts {
    MediaCosts { name, images, page: 4_500, second: 10 }
}

/// Prefixes of names with context, output, counter and media, from the providers' model pages. The longest match counts.
const KNOWN: [(&str, u64, u64, CounterKind, MediaCosts); 20] = [
    ("gpt-3.5-turbo", 16_385, 4_096, CounterKind::Cl100k, GPT_4O),
    ("gpt-4", 8_192, 8_192, CounterKind::Cl100k, GPT_4O),
    ("gpt-4-32k", 32_768, 32_768, CounterKind::Cl100k, GPT_4O),
    ("gpt-4-turbo", 128_000, 4_096, CounterKind::Cl100k, GPT_4O),
    ("gpt-4.1", 1_047_576, 32_768, CounterKind::O200k, GPT_4O),
    ("gpt-4.1-mini", 1_047_576, 32_768, CounterKind::O200k, MINI),
    ("gpt-4.1-nano", 1_047_576, 32_768, CounterKind::O200k, NANO),
    ("gpt-4o", 128_000, 16_384, CounterKind::O200k, GPT_4O),
    ("gpt-4o-mini", 128_000, 16_384, CounterKind::O200k, GPT_4O_MINI),
    ("chatgpt-4o", 128_000, 16_384, CounterKind::O200k, GPT_4O),
    ("gpt-5", 400_000, 128_000, CounterKind::O200k, GPT_5),
    ("gpt-5-mini", 400_000, 128_000, CounterKind::O200k, MINI),
    ("gpt-5-nano", 400_000, 128_000, CounterKind::O200k, NANO),
    ("o1", 200_000, 100_000, CounterKind::O200k, O1),
    ("o3", 200_000, 100_000, CounterKind::O200k, O1),
    ("o4-mini", 200_000, 100_000, CounterKind::O200k, O4_MINI),
    ("claude-3", 200_000, 4_096, CounterKind::Heuristic, CLAUDE),
    ("claude-", 200_000, 32_000, CounterKind::Heuristic, CLAUDE),
    ("gemini-1.5", 1_048_576, 8_192, CounterKind::Heuristic, GEMINI),
    ("gemini-2.", 1_048_576, 8_192, CounterKind::Heuristic, GEMINI),
];

impl ModelProfile {
    /// Returns the profile of the model called `name`, with or without its provider (`openai/gpt-4o`).
    ///
    /// None for a model that is not in the table. A local model reads as much as its server is configured to.
    pub fn of(name: &str) -> Option<Self> {
        let short = name.rsplit('/').next().unwrap_or(name);
        let short = short.strip_prefix("ft:").unwrap_or(short);
        let matching = KNOWN.iter().filter(|(beginning, ..)| short.starts_with(beginning));
        let (_, context, output, counter, media) = *matching.max_by_key(|(beginning, ..)| beginning.len())?;
        Some(Self { name: name.to_owned(), context, output, counter, media })
    }

    /// Returns the counter of the model, which counts text and media by this profile.
    ///
    /// Its name tells both, so that a memory recounts what it has stored for another model.
    pub fn token_counter(&self) -> Arc<dyn TokenCounter> {
        let words = self.counter.counter();
        Arc::new(ModelCounter { name: format!("{}+{}", words.name(), self.media.name), words, media: self.media })
    }
}

/// The counter of one model.
#[derive(Debug)]
struct ModelCounter {
    name: String,
    words: Arc<dyn TokenCounter>,
    media: MediaCosts,
}

impl TokenCounter for ModelCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, message: &Message) -> u64 {
        count_message(message, &self.media, &|text| self.words.count_text(text))
    }

    fn count_text(&self, text: &str) -> u64 {
        self.words.count_text(text)
    }
}

/// The rule that derives a token limit from a model's context.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LimitRule {
    /// The share of the context that a conversation may take, 0 to 1. Default 0.75.
    pub share: f64,
    /// The limit for an unknown model. Default 3,000.
    pub unknown: u64,
}

impl Default for LimitRule {
    fn default() -> Self {
        Self { share: 0.75, unknown: 3_000 }
    }
}

impl LimitRule {
    /// Sets the share of the context, clamped to 0 to 1.
    #[must_use]
    pub fn with_share(mut self, share: f64) -> Self {
        self.share = share.clamp(0.0, 1.0);
        self
    }

    /// Sets the limit for an unknown model.
    #[must_use]
    pub fn with_unknown(mut self, tokens: u64) -> Self {
        self.unknown = tokens;
        self
    }

    /// Returns the limit for a model that keeps `reserved` tokens of its context for its answer, rounded down.
    pub fn limit(&self, profile: Option<&ModelProfile>, reserved: u64) -> u64 {
        let Some(profile) = profile else { return self.unknown };
        let left = profile.context.saturating_sub(reserved);
        (left as f64 * self.share).floor() as u64
    }
}
