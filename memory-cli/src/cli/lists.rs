//! The commands that list and show: conversations, messages, records, owners.

use clap::{Args, Subcommand, ValueEnum};
use memory::{RecordId, Timestamp};

/// The order of conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// The one with the newest message first
    #[default]
    Recent,
    /// By title
    Title,
    /// The longest first
    Length,
}

/// `memory sessions`.
#[derive(Args, Debug)]
pub(crate) struct Sessions {
    /// Only those whose title or name holds these words
    pub(crate) words: Option<String>,
    /// The order
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sort: Order,
    /// How many at the most; 0 for all [default: 20, with --json all]
    #[arg(short = 'n', long = "number", value_name = "N", allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
}

/// `memory show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// A conversation, by its name or the beginning of it; or the id of a message or record
    #[arg(value_name = "SESSION|ID")]
    pub(crate) what: String,
    /// Shows the conversation around this message: its number or its id
    #[arg(long, value_name = "NUMBER|ID")]
    pub(crate) around: Option<String>,
    /// How many messages at the most, the newest [default: all; with --around 11]
    #[arg(short = 'n', long = "number", value_name = "N", allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
}

/// `memory fork`.
#[derive(Args, Debug)]
pub(crate) struct Fork {
    /// The conversation whose past is shared
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// The conversation that begins
    #[arg(value_name = "NEW")]
    pub(crate) branch: String,
    /// The last message that is shared: its number, or its id [default: the newest]
    #[arg(long, value_name = "NUMBER|ID")]
    pub(crate) at: Option<String>,
}

/// `memory records`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Records {
    #[command(subcommand)]
    pub(crate) change: Option<RecordChange>,
    /// Only those of this kind
    #[arg(long, value_name = "WORD")]
    pub(crate) kind: Option<String>,
    /// Only those with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// A condition, such as: at >= 2024-01-01 and trust >= user
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) filter: Option<String>,
    /// Lists what was current at this time: 2024-05-17, yesterday, two weeks ago
    #[arg(long, value_name = "TIME", value_parser = crate::moment::parse, conflicts_with = "all")]
    pub(crate) as_of: Option<Timestamp>,
    /// Lists retired and superseded ones too
    #[arg(long)]
    pub(crate) all: bool,
    /// How many at the most; 0 for all [default: 20, with --json all]
    #[arg(short = 'n', long = "number", value_name = "N", allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
}

/// A change of a record.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordChange {
    /// Puts another text in the place of a record's; the old one stays in the history
    Edit {
        /// The record
        #[arg(value_name = "UUID")]
        id: RecordId,
        /// What it says from now on
        text: String,
    },
    /// Says that a record is true no longer; it stays in the history
    Retire {
        /// The record; several may be given
        #[arg(value_name = "UUID", required = true)]
        ids: Vec<RecordId>,
    },
}
