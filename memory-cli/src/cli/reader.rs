//! Whether a command goes on where nobody reads its output any more.

use super::{Command, Facts, Queue, Records};
#[cfg(feature = "server")]
use super::{Mcp, McpAction, Token, TokenChange};

impl Command {
    /// Returns whether it changes something, so that it goes on to its end however little of its output is read. The others only tell,
    /// and end where nobody listens.
    pub(crate) fn outlasts_its_reader(&self) -> bool {
        match self {
            Self::Import(_) | Self::Remember(_) | Self::Forget(_) | Self::Fork(_) | Self::Move(_) | Self::Backup(_) => {
                true
            }
            Self::Chat(_) | Self::Reindex(_) | Self::Retire(_) => true,
            Self::Records(Records { change, .. }) => change.is_some(),
            Self::Facts(Facts { change }) => change.is_some(),
            Self::Queue(Queue { change }) => change.is_some(),
            #[cfg(feature = "server")]
            Self::Mcp(Mcp { what, .. }) => matches!(what, Some(McpAction::Import { .. })),
            // A new token that nobody reads is of no use.
            #[cfg(feature = "server")]
            Self::Token(Token { change }) => matches!(change, TokenChange::Revoke { .. }),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::Cli;

    #[test]
    fn what_changes_something_outlasts_its_reader_but_for_a_new_token() {
        let outlasts =
            |line: &str| Cli::try_parse_from(line.split(' ')).map(|cli| cli.command.outlasts_its_reader()).unwrap();
        for line in ["memory import x", "memory chat", "memory facts on", "memory queue retry"] {
            assert!(outlasts(line), "{line}");
        }
        for line in ["memory search x", "memory records", "memory facts", "memory queue"] {
            assert!(!outlasts(line), "{line}");
        }
        #[cfg(feature = "server")]
        {
            assert!(outlasts("memory mcp import x") && outlasts("memory token revoke x"));
            for line in ["memory mcp config cursor", "memory token new", "memory token list", "memory serve"] {
                assert!(!outlasts(line), "{line}");
            }
        }
    }
}
