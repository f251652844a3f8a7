//! `memory import`, and the formats that it reads.

use clap::{Args, ValueEnum};

use crate::progress::Style;

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
