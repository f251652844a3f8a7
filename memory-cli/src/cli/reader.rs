//! Whether a command goes on where nobody reads its output any more.

use super::{Command, Facts, Queue, Records};

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
            Self::Token(_) => true,
            _ => false,
        }
    }
}
