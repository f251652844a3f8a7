//! The command line.

use std::fmt;

use clap::{Args, Parser, Subcommand, ValueEnum};
use memory::store::secrets::without_secrets;
use memory::{MessageId, RecordId, Timestamp, Unit};

use crate::embedding::Embedding;
use crate::progress::Style;

/// Memory for LLM agents: conversations in, contexts with receipts out.
#[derive(Debug, Parser)]
#[command(
    name = "memory",
    version,
    arg_required_else_help = true,
    after_help = "Begin with `memory demo`. Exit codes: 0 done, 1 the database failed, 2 wrong call or input, \
                  3 done in part, 4 over the budget, 130 stopped."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where a database is. May hold a password, which is not shown.
#[derive(Clone)]
pub(crate) struct DatabaseUrl(pub(crate) String);

impl From<String> for DatabaseUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DatabaseUrl").field(&without_secrets(&self.0)).finish()
    }
}

/// What every command takes, before or after its name.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The database: sqlite:PATH, a path, postgres://… or redis://… [default: a file in your data folder, shown by `memory stats`]
    #[arg(long, global = true, value_name = "URL", env = "MEMORY_URL", hide_env_values = true)]
    pub(crate) db: Option<DatabaseUrl>,
    /// The tenant whose memory this is
    #[arg(long, global = true, value_name = "NAME", env = "MEMORY_TENANT", hide_env_values = true)]
    pub(crate) tenant: Option<String>,
    /// The person or agent within the tenant whose memory this is
    #[arg(long, global = true, value_name = "NAME", env = "MEMORY_SUBJECT", hide_env_values = true)]
    pub(crate) subject: Option<String>,
    /// The conversation [default: chat_history]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Who embeds, for search by meaning beside search by words [default: static, if it is built in]
    #[arg(long, global = true, value_enum, value_name = "WHO", env = "MEMORY_EMBEDDER", hide_env_values = true)]
    pub(crate) embedder: Option<Embedding>,
    /// Writes JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Which options were given on the command line, not by the environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) database: bool,
    pub(crate) embedder: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows all of it on a sample conversation: no argument, no network, a few seconds
    Demo,
    /// Reads conversations from a file; a second import of the same file adds nothing
    Import(Import),
    /// Shows what a model would be sent, within a budget of tokens, and why
    Context(Context),
    /// Finds messages and records
    Search(Search),
    /// Stores a fact, preference or other record
    Remember(Remember),
    /// Forgets messages, records, a conversation or everything, for good
    Forget(Forget),
    /// Lists the conversations
    Sessions,
    /// Shows the database, what it holds of you, and how far its indexes are
    Stats,
    /// Puts everything that is stored into the indexes again, of all owners; with --embedder changes who embeds
    Reindex(Reindex),
    /// Empties an index that is not used any more, and forgets it
    Retire(Retire),
    /// Writes everything of the owner as JSON lines, which `import` reads
    Export,
    /// Copies an owner, or all of them, into another database, with checksums; safe to run again
    Move(Move),
    /// Measures how well recall finds the evidence of questions, on sets that the field knows
    Eval(Eval),
    /// Takes a conversation line by line and shows the context of each
    Chat(Chat),
    /// Writes what a shell needs to complete the commands of this program
    Completions(Completions),
    /// Writes the manual pages into a folder
    #[command(hide = true)]
    Man(Man),
}

impl Command {
    /// Returns whether it stores something.
    pub(crate) fn stores(&self) -> bool {
        match self {
            Self::Demo | Self::Import(_) | Self::Remember(_) | Self::Move(_) | Self::Eval(_) | Self::Chat(_) => true,
            Self::Context(_) | Self::Search(_) | Self::Forget(_) | Self::Sessions | Self::Stats | Self::Export => false,
            Self::Reindex(_) | Self::Retire(_) | Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

/// `memory completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `memory man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The folder; it is made if it is missing
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: std::path::PathBuf,
}

/// A format that can be read.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Chat JSON, OpenAI's or Anthropic's: a message a line, {"messages": […]} a line, or one array of messages
    Openai,
    /// The export of ChatGPT: conversations.json
    Chatgpt,
    /// The export of Claude: conversations.json
    Claude,
    /// LoCoMo
    Locomo,
    /// LongMemEval
    Longmemeval,
    /// An export of this program
    Export,
}

impl From<Format> for memory::import::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Openai => Self::Openai,
            Format::Chatgpt => Self::Chatgpt,
            Format::Claude => Self::Claude,
            Format::Locomo => Self::Locomo,
            Format::Longmemeval => Self::Longmemeval,
            Format::Export => Self::Export,
        }
    }
}

/// `memory import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Files, and folders and ZIP archives as they were downloaded; - alone reads from stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The format [default: told by the content]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Lets messages speak with the trust of the roles that the file gives them: its system messages become instructions
    #[arg(long)]
    pub(crate) trust_roles: bool,
    /// How progress is shown on stderr
    #[arg(long, value_enum, default_value_t = Style::Auto)]
    pub(crate) progress: Style,
}

/// What bounds a context.
#[derive(Args, Clone, Debug)]
pub(crate) struct Bounds {
    /// Tokens that the context may have [default: 3000, or three quarters of what the model reads]
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub(crate) budget: Option<u64>,
    /// The model that the context is for; gives the default budget
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Tokens of the budget to be kept free
    #[arg(long, value_name = "TOKENS", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) reserve: u64,
    /// How many items are recalled at the most
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    pub(crate) recall: usize,
    /// Shows what stands aside in imported conversations too: thoughts, calls of tools and their results
    #[arg(long)]
    pub(crate) asides: bool,
}

/// `memory context`.
#[derive(Args, Debug)]
pub(crate) struct Context {
    /// What the person says now
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// `memory search`.
#[derive(Args, Debug)]
pub(crate) struct Search {
    /// The words to be found; '' lists what is newest
    pub(crate) query: String,
    /// How many hits at the most
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) limit: usize,
    /// A condition, such as: role = user and at >= 2024-01-01 and tag in (a, b)
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) filter: Option<String>,
    /// Shows how each hit was found
    #[arg(long)]
    pub(crate) explain: bool,
    /// Searches only messages or only records
    #[arg(long, value_enum)]
    pub(crate) kind: Option<SearchUnit>,
    /// Finds what was current at this time
    #[arg(long, value_name = "TIME")]
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

/// `memory remember`.
#[derive(Args, Debug)]
pub(crate) struct Remember {
    /// What is to be remembered
    pub(crate) text: String,
    /// Its kind: fact, preference, context or any other word
    #[arg(long, value_name = "WORD", default_value = "fact")]
    pub(crate) kind: String,
    /// How long it is remembered: 30m, 12h, 7d, 4w [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = crate::duration::parse)]
    pub(crate) ttl: Option<std::time::Duration>,
    /// Its importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) importance: Option<f32>,
    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// The agent that it belongs to
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The run of the agent
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,
    /// Its id [default: made from the content]
    #[arg(long, value_name = "UUID")]
    pub(crate) id: Option<RecordId>,
}

/// `memory forget`.
#[derive(Args, Debug)]
pub(crate) struct Forget {
    /// A message or record; may be given several times
    #[arg(long = "id", value_name = "UUID")]
    pub(crate) ids: Vec<MessageId>,
    /// Everything of the owner
    #[arg(long)]
    pub(crate) all: bool,
    /// Does not ask before everything is forgotten
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `memory reindex`.
#[derive(Args, Debug)]
pub(crate) struct Reindex {
    /// The index, as `memory stats` names it [default: all that follow the database; with --embedder its own]
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Option<String>,
}

/// `memory retire`.
#[derive(Args, Debug)]
pub(crate) struct Retire {
    /// The index, as the receipt of a forget names it
    #[arg(long, value_name = "NAME")]
    pub(crate) index: String,
}

/// `memory move`.
#[derive(Args, Debug)]
pub(crate) struct Move {
    /// The database to copy from, which stays as it is
    #[arg(long, value_name = "URL")]
    pub(crate) from: DatabaseUrl,
    /// The database to copy to
    #[arg(long, value_name = "URL")]
    pub(crate) to: DatabaseUrl,
    /// Copies every owner [default: the one that --tenant and --subject name]
    #[arg(long)]
    pub(crate) all_owners: bool,
    /// Leaves records behind: for a database that holds conversations alone
    #[arg(long)]
    pub(crate) conversations: bool,
    /// Removes from the target, for good, what the source does not hold: what was forgotten there since, and what was
    /// said in the target alone
    #[arg(long)]
    pub(crate) mirror: bool,
    /// How progress is shown on stderr
    #[arg(long, value_enum, default_value_t = Style::Auto)]
    pub(crate) progress: Style,
}

/// `memory chat`.
#[derive(Args, Debug)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// `memory eval`.
#[derive(Args, Debug)]
pub(crate) struct Eval {
    /// The set
    #[arg(value_enum)]
    pub(crate) set: crate::eval::SetKind,
    /// Its file, JSON, or its folder; - reads from stdin. None for the sample
    pub(crate) path: Option<String>,
    /// Vectors of its texts, a safetensors file
    #[arg(long, value_name = "FILE")]
    pub(crate) vectors: Option<std::path::PathBuf>,
    /// Shows each question whose evidence is not found first, and what is
    #[arg(long)]
    pub(crate) misses: bool,
    /// What is searched with [default: all that there is]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) legs: Vec<crate::eval::Leg>,
}
