//! The commands that ask: contexts and searches.

use clap::{Args, ValueEnum};
use memory::{Timestamp, Unit};

/// What bounds a context.
#[derive(Args, Clone, Debug)]
pub(crate) struct Bounds {
    /// Tokens that the context may have [default: 3000, or three quarters of what the model reads]
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub(crate) budget: Option<u64>,
    /// The model that the context is for; gives the default budget
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Tokens of the budget to be kept free [default: 0, or as the settings say]
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub(crate) reserve: Option<u64>,
    /// How many items are recalled at the most [default: 5, or as the settings say]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) recall: Option<usize>,
    /// Shows what stands aside in imported conversations too: thoughts, calls of tools and their results
    #[arg(long)]
    pub(crate) asides: bool,
}

/// How a context is written for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// A list of messages as OpenAI's API takes it
    Openai,
    /// The members `messages` and `system` as Anthropic's API takes them
    Anthropic,
    /// Plain text, each message behind its role
    Text,
}

/// `memory context`.
#[derive(Args, Debug)]
pub(crate) struct Context {
    /// What the person says now
    pub(crate) query: Option<String>,
    /// Writes exactly what is sent to a model, and no receipt [default: as a person reads it]
    #[arg(long = "as", value_enum, value_name = "DIALECT")]
    pub(crate) dialect: Option<Dialect>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// `memory search`.
#[derive(Args, Debug)]
pub(crate) struct Search {
    /// The words to be found; '' lists what is newest
    pub(crate) query: String,
    /// How many hits at the most [default: 10, or as the settings say]
    #[arg(short = 'k', long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<usize>,
    /// A condition, such as: role = user and at >= 2024-01-01 and tag in (a, b)
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) filter: Option<String>,
    /// Shows how each hit was found
    #[arg(long)]
    pub(crate) explain: bool,
    /// Searches only messages or only records
    #[arg(long, value_enum)]
    pub(crate) kind: Option<SearchUnit>,
    /// Puts near-duplicates of better hits behind what adds something: 1 for none of it, 0.5 for much (maximal marginal relevance)
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) mmr: Option<f32>,
    /// Finds what was current at this time: 2024-05-17, yesterday, two weeks ago, in May; words are taken here alone, and a filter
    /// takes dates
    #[arg(long, value_name = "TIME", value_parser = crate::moment::parse)]
    pub(crate) as_of: Option<Timestamp>,
}

/// What is searched.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SearchUnit {
    /// Messages
    Message,
    /// Records
    Record,
}

impl From<SearchUnit> for Unit {
    fn from(kind: SearchUnit) -> Self {
        match kind {
            SearchUnit::Message => Self::Message,
            SearchUnit::Record => Self::Record,
        }
    }
}
