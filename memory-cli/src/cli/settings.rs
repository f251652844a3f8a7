//! What `memory config` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `memory config`.
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

/// What is done with settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Tells all that is wrong in a file, with line and remedy, and opens nothing
    Check {
        /// The file [default: that of --config]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Writes the JSON schema of a file, for editors
    Schema,
}
