//! Looks up the servers that a test needs before it runs.

use std::sync::OnceLock;

use super::presence::Presence;
#[cfg(feature = "containers")]
use crate::services::{Missing, Servers};
use crate::trial::Verdict;

/// What a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The servers that all tests share.
    Server,
    /// Images to start servers of its own from.
    #[cfg(feature = "containers")]
    Images,
}

/// What a suite was told of its server, and the servers that it looks up.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) presence: Presence,
    #[cfg(feature = "containers")]
    pub(super) servers: Servers,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            presence: Presence::Found,
            #[cfg(feature = "containers")]
            servers: Servers::default(),
        }
    }
}

impl Stage {
    /// Looks up what a test needs; returns the verdict on the test if it is not there. Fills `url` if there is one.
    pub(super) async fn lacks(&self, need: Need, url: &OnceLock<String>) -> Option<Verdict> {
        if let Some(verdict) = absence(&self.presence) {
            return Some(verdict);
        }
        self.look_up(need, url).await
    }

    #[cfg(not(feature = "containers"))]
    async fn look_up(&self, need: Need, _: &OnceLock<String>) -> Option<Verdict> {
        match need {
            Need::Server => None,
        }
    }

    #[cfg(feature = "containers")]
    async fn look_up(&self, need: Need, url: &OnceLock<String>) -> Option<Verdict> {
        let found = match need {
            Need::Server => self.servers.share().await,
            Need::Images => self.servers.images().await,
        };
        match found {
            Ok(()) => {
                if let Some(first) = self.servers.first_url() {
                    url.get_or_init(|| first);
                }
                None
            }
            Err(missing @ Missing::Absent(_)) => Some(Verdict::Ignored(missing.to_string())),
            Err(missing @ Missing::Broken(_)) => Some(Verdict::Failed(missing.to_string())),
        }
    }

    /// Returns whether no stand-in and no reduced server was found.
    #[cfg(feature = "containers")]
    pub(super) fn official(&self) -> bool {
        self.servers.official()
    }

    /// Returns whether no stand-in and no reduced server was found.
    #[cfg(not(feature = "containers"))]
    #[expect(clippy::unused_self, reason = "the same call with servers")]
    pub(super) fn official(&self) -> bool {
        true
    }

    /// Removes what was started, and returns where the servers came from.
    #[cfg(feature = "containers")]
    pub(super) async fn close(&self) -> Vec<String> {
        let mut told = self.servers.told();
        if let Err(missing) = self.servers.close().await {
            told.push(format!("not removed: {missing}"));
        }
        told
    }

    /// Removes what was started, and returns where the servers came from.
    #[cfg(not(feature = "containers"))]
    pub(super) async fn close(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Returns the verdict on every test of a server that is said not to be there.
fn absence(presence: &Presence) -> Option<Verdict> {
    match presence {
        Presence::Found => None,
        Presence::Absent { reason, required: true } => Some(Verdict::Failed(format!("no server: {reason}"))),
        Presence::Absent { reason, required: false } => Some(Verdict::Ignored(format!("no server: {reason}"))),
    }
}
