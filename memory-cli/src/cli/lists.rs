//! The commands that list and show: conversations, messages, records, owners.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use memory::{MessageId, RecordId, Timestamp};

use crate::duration;

/// `memory stats`.
#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// Shows how much the program does that tells its figures there, as `memory serve --metrics` does
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// How long that is looked at
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse, requires = "metrics")]
    pub(crate) over: Duration,
}

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
    /// Lists what was current at this time: 2024-05-17, yesterday, two weeks ago; words are taken here alone, and a filter takes dates
    #[arg(long, value_name = "TIME", value_parser = crate::moment::parse, conflicts_with = "all")]
    pub(crate) as_of: Option<Timestamp>,
    /// Lists retired and superseded ones too
    #[arg(long)]
    pub(crate) all: bool,
    /// How many at the most; 0 for all [default: 20, with --json all]
    #[arg(short = 'n', long = "number", value_name = "N", allow_negative_numbers = true)]
    pub(crate) number: Option<usize>,
}

/// What is known of a record from now on.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Set {
    /// The record
    #[arg(value_name = "UUID")]
    pub(crate) id: RecordId,
    /// A tag to add; may be given several times
    #[arg(long = "tag", value_name = "TAG", group = "what")]
    pub(crate) tags: Vec<String>,
    /// A tag to take away; may be given several times
    #[arg(long = "untag", value_name = "TAG", group = "what")]
    pub(crate) untags: Vec<String>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, group = "what")]
    pub(crate) importance: Option<f32>,
    /// Whether it is kept whatever expires: true or false
    #[arg(long, value_name = "BOOL", group = "what")]
    pub(crate) pinned: Option<bool>,
    /// Whether it stays stored, though hidden, when it expires: true or false
    #[arg(long, value_name = "BOOL", group = "what")]
    pub(crate) hold: Option<bool>,
}

/// `memory facts`.
#[derive(Args, Debug)]
pub(crate) struct Facts {
    #[command(subcommand)]
    pub(crate) change: Option<FactsChange>,
}

/// What becomes of the finding of facts.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum FactsChange {
    /// Finds facts from now on, also in what was said before: name, home, work, likes and the like, by rules
    /// unless the settings name a model
    On,
    /// Finds no more; what was found stays
    Off,
    /// Shows what would be found in a conversation, and stores nothing
    Try,
}

/// `memory queue`.
#[derive(Args, Debug)]
pub(crate) struct Queue {
    #[command(subcommand)]
    pub(crate) change: Option<QueueChange>,
}

/// A change of what waits in the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum QueueChange {
    /// Sends messages again that were refused
    Retry {
        /// The messages [default: all that were refused of the owner]
        #[arg(value_name = "UUID")]
        ids: Vec<MessageId>,
    },
    /// Forgets messages for good that were refused
    Discard {
        /// The message; several may be given
        #[arg(value_name = "UUID", required = true)]
        ids: Vec<MessageId>,
    },
    /// Saves what is whole of a damaged journal into a new file, and keeps the damaged one beside it
    Recover {
        /// If the damage hides which database the messages are meant for: it is the one that the settings name
        #[arg(long)]
        meant_here: bool,
    },
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
    /// Changes what is known of a record: its tags, its importance, whether it is pinned or on hold; its text stays
    Set(Set),
    /// Says that a record is true no longer; it stays in the history
    Retire {
        /// The record; several may be given
        #[arg(value_name = "UUID", required = true)]
        ids: Vec<RecordId>,
    },
}
