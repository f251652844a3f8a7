//! The table of scenarios that only the official server can pass.

/// A scenario that a stand-in or a reduced server cannot pass.
#[derive(Clone, Copy, Debug)]
pub struct OfficialOnly {
    /// The suite, as `redis`.
    pub suite: &'static str,
    /// The scenario, as `chat::keeps_every_name`.
    pub scenario: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// The table. Where the server is not the official one, these scenarios are reported as ignored and counted separately.
pub const OFFICIAL_ONLY: &[OfficialOnly] = &[];

/// Returns why `scenario` of `suite` needs the official server, if it does.
pub(super) fn reason(table: &[OfficialOnly], suite: &str, scenario: &str) -> Option<&'static str> {
    table.iter().find(|only| only.suite == suite && only.scenario == scenario).map(|only| only.reason)
}
