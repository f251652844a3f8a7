//! What a server says of itself.

use memory_core::store::Health;

/// How much of the official server a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of it.
    Official,
    /// The server itself, without some of its modules.
    Reduced,
    /// Another program that speaks its protocol.
    StandIn,
}

/// The answer of a server to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The version, as the server reports it.
    pub version: String,
    /// How much of the official server it is.
    pub kind: Kind,
}

impl Answer {
    /// Returns the answer of a server that lacks modules.
    pub fn reduced(version: impl Into<String>) -> Self {
        Self { version: version.into(), kind: Kind::Reduced }
    }
}

impl From<String> for Answer {
    /// Takes a version; a stand-in announces itself in it.
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
