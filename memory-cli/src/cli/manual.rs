//! What completions and manual pages take.

use std::path::PathBuf;

use clap::Args;

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
    pub(crate) folder: PathBuf,
}
