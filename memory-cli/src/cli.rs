//! The command line.

mod chat;
mod import;
mod lists;
mod manual;
#[cfg(test)]
mod pages;
mod reader;
mod recall;
#[cfg(feature = "server")]
mod server;
mod settings;

use std::fmt;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use memory::store::secrets::without_secrets;
use memory::{MessageId, RecordId};

use crate::config::SESSION;
use crate::embedding::Embedding;
use crate::look::Colour;
use crate::progress::Style;

pub(crate) use chat::{Answering, Chat};
pub(crate) use import::{Format, Import};
pub(crate) use lists::{
    Facts, FactsChange, Fork, Order, Queue, QueueChange, RecordChange, Records, Sessions, Set, Show, Stats,
};
pub(crate) use manual::{Completions, Man};
pub(crate) use recall::{Bounds, Context, Dialect, Search};
#[cfg(feature = "server")]
pub(crate) use server::{AgentOptions, Client, Hook, HookedAgent, Mcp, McpAction, Serve, Token, TokenChange, TokensAt};
pub(crate) use settings::{Config, ConfigAction};

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

/// Returns the command line. The commands that take a conversation where none is named say which.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let Some(session) = command.get_arguments().find(|arg| arg.get_id() == "session") else { return command };
    let session = session.clone().help(format!("The conversation [default: {SESSION}]"));
    let says_so = |command: clap::Command| command.arg(session.clone());
    let command =
        ["import", "context", "chat"].into_iter().fold(command, |command, name| command.mut_subcommand(name, says_so));
    command.mut_subcommand("facts", |facts| facts.mut_subcommand("try", says_so))
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
    /// A file of settings: where each part is and how the memory is to be, in YAML; `memory config check` looks at it
    #[arg(long, global = true, value_name = "FILE", env = "MEMORY_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// The tenant whose memory this is
    #[arg(long, global = true, value_name = "NAME", env = "MEMORY_TENANT", hide_env_values = true)]
    pub(crate) tenant: Option<String>,
    /// The person or agent within the tenant whose memory this is
    #[arg(long, global = true, value_name = "NAME", env = "MEMORY_SUBJECT", hide_env_values = true)]
    pub(crate) subject: Option<String>,
    /// The conversation
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Who embeds, for search by meaning beside search by words: static, local, none, ollama, ollama:MODEL or openai:MODEL; behind the
    /// latter @URL says where another server is [default: static, if it is built in]
    #[arg(long, global = true, value_name = "WHO", env = "MEMORY_EMBEDDER", hide_env_values = true)]
    pub(crate) embedder: Option<Embedding>,
    /// Writes JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When there is colour; it says nothing that the words do not say
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Colour,
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
    /// Lists the conversations, the newest first
    Sessions(Sessions),
    /// Shows a conversation, a part of it, a message or a record
    Show(Show),
    /// Begins a conversation that shares the past of another one, up to a message
    Fork(Fork),
    /// Lists the records, the newest first, or changes one
    Records(Records),
    /// Tells whether facts are found in what people say, of all owners; begins or ends that, or tries it
    Facts(Facts),
    /// Shows the database, what it holds of you, and how far its indexes are; or how much a running program does
    Stats(Stats),
    /// Puts everything that is stored into the indexes again, of all owners; with --embedder changes who embeds
    Reindex(Reindex),
    /// Empties an index that is not used any more, and forgets it
    Retire(Retire),
    /// Shows what waits in the journal of SESSION_BUFFER_PATH and what was refused, sends it again, or saves a damaged journal
    Queue(Queue),
    /// Writes everything of the owner as JSON lines, which `import` reads
    Export,
    /// Copies the database into a new file while others use it; of a server, an export of the owner
    Backup(Backup),
    /// Lists the owners that the database holds, with counts and nothing else of them
    Owners,
    /// Copies an owner, or all of them, into another database, with checksums; safe to run again
    Move(Move),
    /// Measures how well recall finds the evidence of questions, on sets that the field knows
    Eval(Eval),
    /// Takes a conversation line by line; a model answers, or the context of each line is shown
    Chat(Chat),
    /// Lets people and agents in, over HTTP and MCP, whoever has a token
    #[cfg(feature = "server")]
    Serve(Serve),
    /// Speaks MCP on stdin and stdout, for one owner: what desktop clients start
    #[cfg(feature = "server")]
    Mcp(Mcp),
    /// Answers the hooks of an agent: recall before each prompt, the conversation stored after it
    #[cfg(feature = "server")]
    Hook(Hook),
    /// Makes, lists and revokes tokens of the server
    #[cfg(feature = "server")]
    Token(Token),
    /// Looks at a file of settings, or writes the schema of such files
    Config(Config),
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
            Self::Context(_) | Self::Search(_) | Self::Forget(_) | Self::Fork(_) | Self::Stats(_) | Self::Export => {
                false
            }
            Self::Sessions(_) | Self::Show(_) | Self::Records(_) | Self::Backup(_) | Self::Owners => false,
            Self::Reindex(_) | Self::Retire(_) | Self::Queue(_) | Self::Facts(_) => false,
            Self::Config(_) | Self::Completions(_) | Self::Man(_) => false,
            #[cfg(feature = "server")]
            Self::Serve(_) | Self::Mcp(_) | Self::Hook(_) => true,
            #[cfg(feature = "server")]
            Self::Token(_) => false,
        }
    }

    /// Returns whether it has a way of its own of being stopped.
    pub(crate) fn stops_itself(&self) -> bool {
        match self {
            Self::Import(_) | Self::Chat(_) => true,
            #[cfg(feature = "server")]
            Self::Serve(_) | Self::Mcp(Mcp { what: None, .. }) | Self::Hook(_) => true,
            _ => false,
        }
    }

    /// Returns whether an agent waits for it: it closes what it opened within a time of its own, and its code is 0.
    pub(crate) fn is_hook(&self) -> bool {
        #[cfg(feature = "server")]
        return matches!(self, Self::Hook(_));
        #[cfg(not(feature = "server"))]
        return false;
    }

    /// Returns whether it counts tokens exactly. Of a hook its event tells.
    pub(crate) fn counts(&self) -> bool {
        matches!(self, Self::Demo | Self::Context(_)) || self.stops_itself() && !self.is_hook()
    }

    /// Returns what is true when the person stops it before it has answered.
    pub(crate) fn when_stopped(&self) -> &'static str {
        match self {
            Self::Remember(_) | Self::Forget(_) | Self::Fork(_) | Self::Records(Records { change: Some(_), .. }) => {
                "stopped; it may have been done already: the same command again is safe, and tells"
            }
            Self::Move(_) => "stopped; what was copied stays, and the same command goes on",
            Self::Reindex(_) | Self::Retire(_) | Self::Facts(_) => {
                "stopped; what was begun stays noted, and the same command goes on"
            }
            Self::Backup(_) => "stopped; no backup was made",
            Self::Demo | Self::Import(_) | Self::Chat(_) => "stopped; what was stored stays",
            Self::Context(_) | Self::Search(_) | Self::Sessions(_) | Self::Show(_) | Self::Records(_) => "stopped",
            Self::Queue(_) => "stopped; what waits stays in the journal",
            Self::Stats(_) | Self::Export | Self::Owners | Self::Eval(_) => "stopped",
            Self::Config(_) | Self::Completions(_) | Self::Man(_) => "stopped",
            #[cfg(feature = "server")]
            Self::Mcp(Mcp { what: Some(McpAction::Import { .. }), .. }) => {
                "stopped; what was stored stays, and the same command goes on"
            }
            #[cfg(feature = "server")]
            Self::Serve(_) | Self::Mcp(_) | Self::Hook(_) | Self::Token(_) => "stopped",
        }
    }
}

/// `memory remember`.
#[derive(Args, Debug)]
pub(crate) struct Remember {
    /// What is to be remembered; - for what stands in stdin
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
    /// Adds it to the record that it repeats, if it is less new than this. By the table inside the program, facts that differ in one
    /// word are 0.07 new and more: take 0.05 [default: only the same words repeat]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "id")]
    pub(crate) novelty: Option<f32>,
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
    /// Empties the index first, whatever state it is in: mends what is damaged. Until it is full again, searches find less
    #[arg(long)]
    pub(crate) clear: bool,
}

/// `memory retire`.
#[derive(Args, Debug)]
pub(crate) struct Retire {
    /// The index, as the receipt of a forget names it
    #[arg(long, value_name = "NAME")]
    pub(crate) index: String,
}

/// `memory backup`.
#[derive(Args, Debug)]
pub(crate) struct Backup {
    /// The file to be made; one that is there is not overwritten
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
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
    pub(crate) vectors: Option<PathBuf>,
    /// Shows each question whose evidence is not found first, and what is
    #[arg(long)]
    pub(crate) misses: bool,
    /// What is searched with [default: all that there is]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) legs: Vec<crate::eval::Leg>,
}
