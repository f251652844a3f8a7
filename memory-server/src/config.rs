//! What a server may be told: which names it is reached by, and its bounds.

use std::time::Duration;

use crate::mcp::Agents;

/// What a server may be told. Everything has a default.
///
/// ```
/// use memory_server::Config;
///
/// let config = Config { at_once: 64, ..Config::default() }.with_host("memory.example.org");
/// assert_eq!(config.hosts, ["memory.example.org"]);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The names by which it is reached besides those of this machine (`localhost`, `127.0.0.1`, `[::1]`), without a port: what
    /// the headers `Host` and `Origin` may name.
    pub hosts: Vec<String>,
    /// The most bytes of a body. Larger ones are refused unread, and such whose values would take 48 MiB of memory more than this.
    /// Default 8 MiB.
    pub body_bytes: usize,
    /// The most bytes of an import. Default 256 MiB.
    pub import_bytes: usize,
    /// The most bytes of the list of an answer: messages, records, hits. It ends behind the one that crosses this, and tells where to
    /// go on. The budget of a context may be a token for four of them, and 3,000 in any case. Default 16 MiB.
    pub answer_bytes: usize,
    /// The most requests at once; more are told to come again. Default 256; above 16,777,216 it is that.
    pub at_once: usize,
    /// The most requests at once with one token. Default 32; above 16,777,216 it is that.
    pub at_once_per_token: usize,
    /// How long a request may take. A write that takes longer goes on, and its repeat finds it. Default 30 seconds.
    pub deadline: Duration,
    /// How long an export or an import may take, and how long a client may take for a long answer. Default 10 minutes.
    pub transfer_deadline: Duration,
    /// How long a client may take for the headers of a request. Default 9 seconds; above a year it is that.
    pub header_timeout: Duration,
    /// How long requests under way have when the server stops. Default 10 seconds.
    pub drain: Duration,
    /// What agents are offered at `/mcp`.
    pub agents: Agents,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            body_bytes: 8 << 20,
            import_bytes: 256 << 20,
            answer_bytes: 16 << 20,
            at_once: 256,
            at_once_per_token: 32,
            deadline: Duration::from_secs(30),
            transfer_deadline: Duration::from_secs(600),
            header_timeout: Duration::from_secs(9),
            drain: Duration::from_secs(10),
            agents: Agents::default(),
        }
    }
}

impl Config {
    /// Adds a name by which it is reached.
    #[must_use]
    pub fn with_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sends_headers_byte_by_byte_is_gone_in_ten_seconds_and_a_drain_takes_no_longer() {
        let Config { header_timeout, drain, .. } = Config::default();
        assert!(header_timeout < Duration::from_secs(10) && drain == Duration::from_secs(10));
    }
}
