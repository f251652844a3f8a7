//! The commands that let others in: the server, and its tokens.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use memory_server::{Profile, Rights};

/// `memory serve`.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Where it listens
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:7777",
        env = "MEMORY_LISTEN",
        hide_env_values = true
    )]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) file: TokensAt,
    /// A name that it is reached by besides those of this machine; may be given several times
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', env = "MEMORY_HOSTS", hide_env_values = true)]
    pub(crate) hosts: Vec<String>,
    /// A proxy stands before it, which encrypts: needed to listen elsewhere than on this machine without a certificate
    #[arg(long, env = "MEMORY_BEHIND_PROXY", hide_env_values = true)]
    pub(crate) behind_proxy: bool,
    /// The certificate that it encrypts by, with those that vouch for it behind it: a file of PEM, read again when it was renewed
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "MEMORY_TLS_CERTIFICATE", hide_env_values = true)]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The key of the certificate: a file of PEM
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "MEMORY_TLS_KEY", hide_env_values = true)]
    pub(crate) tls_key: Option<PathBuf>,
    /// Where figures are told, at /metrics [default: nowhere]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) agents: AgentOptions,
}

/// Where tokens are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct TokensAt {
    /// The file of tokens [default: tokens.json in your data folder]
    #[arg(long = "tokens", value_name = "FILE", env = "MEMORY_TOKENS", hide_env_values = true)]
    pub(crate) path: Option<PathBuf>,
}

/// `memory token`.
#[derive(Args, Debug)]
pub(crate) struct Token {
    #[command(subcommand)]
    pub(crate) change: TokenChange,
}

/// What is done with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenChange {
    /// Makes a token for --tenant and --subject, or for every subject of the tenant with --subject '*', and shows it once
    New {
        /// What it allows: read, write, forget, with commas between
        #[arg(long, value_name = "RIGHTS", default_value = "read,write")]
        rights: Rights,
        /// How long it is valid: 12h, 30d, 52w [default: for ever]
        #[arg(long, value_name = "TIME", value_parser = crate::duration::parse)]
        expires: Option<std::time::Duration>,
        #[command(flatten)]
        file: TokensAt,
    },
    /// Lists the tokens, without their secrets
    List {
        #[command(flatten)]
        file: TokensAt,
    },
    /// Revokes tokens by their ids; a server that runs refuses them within seconds
    Revoke {
        /// The ids, as the list shows them
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        file: TokensAt,
    },
}

/// `memory mcp`.
#[derive(Args, Debug)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) agents: AgentOptions,
    #[command(subcommand)]
    pub(crate) what: Option<McpAction>,
}

/// What is done about MCP besides speaking it.
#[derive(Debug, Subcommand)]
pub(crate) enum McpAction {
    /// Prints what a client is configured with
    Config {
        /// The client
        #[arg(value_enum)]
        client: Client,
    },
    /// Reads the file of the reference memory server (memory.jsonl) into the graph that --tools graph shows
    Import {
        /// The file
        file: PathBuf,
    },
}

/// What agents are offered. Of `memory mcp` its own commands take it too, behind their names.
#[derive(Args, Clone, Debug)]
pub(crate) struct AgentOptions {
    /// Which tools: core, chatgpt, graph (those of the reference memory server) or files (those of Claude's memory tool)
    #[arg(long = "tools", global = true, value_name = "PROFILE", default_value = "core")]
    pub(crate) profile: Profile,
    /// The most tokens of a result [default: 1500; 20000 for graph]
    #[arg(long, global = true, value_name = "TOKENS")]
    pub(crate) max_tokens: Option<u64>,
    /// Lets agents forget a whole conversation or everything, not only what they name by ids
    #[arg(long, global = true)]
    pub(crate) allow_forget: bool,
    /// A file of JSON with descriptions in place of those of tools: {"add_memory": "…"}
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) descriptions: Option<PathBuf>,
}

/// A client of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude's desktop program: claude_desktop_config.json
    ClaudeDesktop,
    /// Claude Code: .mcp.json of a project
    ClaudeCode,
    /// Codex: ~/.codex/config.toml
    Codex,
    /// Cursor: ~/.cursor/mcp.json
    Cursor,
    /// Gemini CLI: ~/.gemini/settings.json
    Gemini,
    /// VS Code: .vscode/mcp.json
    Vscode,
    /// Windsurf: ~/.codeium/windsurf/mcp_config.json
    Windsurf,
}

/// `memory hook`.
#[derive(Args, Debug)]
pub(crate) struct Hook {
    /// Whose hooks
    #[arg(value_enum)]
    pub(crate) agent: HookedAgent,
    /// The most tokens recalled before a prompt, by an estimate that is never too low; values outside 200 to 100,000 are clamped
    #[arg(long, value_name = "TOKENS", default_value_t = 1_800)]
    pub(crate) budget: u64,
}

/// An agent that runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookedAgent {
    /// Claude Code
    ClaudeCode,
}

impl AgentOptions {
    /// Returns the name of the profile, unless it is the default.
    pub(crate) fn named(&self) -> Option<String> {
        (self.profile != Profile::Core).then(|| self.profile.name().to_owned())
    }
}
