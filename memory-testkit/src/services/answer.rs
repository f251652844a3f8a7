//! What a server reports about itself: its version, and whether it is the official one.

use memory_core::store::Health;

/// Whether a server is the official one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The official server.
    Official,
    /// The official server without some of its modules.
    Reduced,
    /// Another program that speaks its protocol.
    StandIn,
}

/// The answer of a server to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The version, as the server reports it.
    pub version: String,
    /// Whether it is the official server.
    pub kind: Kind,
}

impl Answer {
    /// Returns the answer of a server that lacks modules.
    pub fn reduced(version: impl Into<String>) -> Self {
        Self { version: version.into(), kind: Kind::Reduced }
    }
}

impl From<String> for Answer {
    /// Takes the version that a server reports. A stand-in says there that it is one.
    fn from(version: String) -> Self {
        let folded = version.to_lowercase();
        let kind = match folded.contains("standin") || folded.contains("stand-in") {
            true => Kind::StandIn,
            false => Kind::Official,
        };
        Self { version, kind }
    }
}

impl From<Health> for Answer {
    fn from(health: Health) -> Self {
        Self::from(health.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_known_by_its_version() {
        assert_eq!(Answer::from("8.0.2".to_owned()).kind, Kind::Official);
        assert_eq!(Answer::from("1.20.0-standin".to_owned()).kind, Kind::StandIn);
        assert_eq!(Answer::from("qdrant Stand-In 1".to_owned()).kind, Kind::StandIn);
    }
}
