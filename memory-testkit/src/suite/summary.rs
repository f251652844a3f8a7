//! The last line of a run: which server was tested, and how it did.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use libtest_mimic::Conclusion;
use memory_core::store::Health;

use super::report::Report;

/// What a run has met.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) report: Report,
    pub(super) suite: &'static str,
    servers: Mutex<BTreeSet<String>>,
    used: Mutex<Vec<String>>,
    gaps: AtomicU64,
    official_only: AtomicU64,
}

impl Summary {
    pub(super) fn new(suite: &'static str) -> Self {
        Self {
            report: Report::default(),
            suite,
            servers: Mutex::default(),
            used: Mutex::default(),
            gaps: AtomicU64::new(0),
            official_only: AtomicU64::new(0),
        }
    }

    /// Notes the server of a scenario.
    pub(super) fn note(&self, health: Option<Health>) {
        let Some(Health { server, version, durability, .. }) = health else { return };
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let name = [server, version].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        if !name.is_empty() {
            servers.insert(format!("{name} ({durability:?})"));
        }
    }

    pub(super) fn count_gap(&self) {
        self.gaps.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn count_official_only(&self) {
        self.official_only.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes note of where the servers came from.
    pub(super) fn used(&self, origins: Vec<String>) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = origins;
    }

    /// Writes the line to the standard output.
    pub(super) fn tell(&self, conclusion: &Conclusion) {
        let line = self.line(conclusion);
        // A closed output is no reason to fail the tests.
        let _ = writeln!(std::io::stdout().lock(), "{line}\n");
    }

    /// Returns the line.
    pub(super) fn line(&self, conclusion: &Conclusion) -> String {
        let count = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        let (gaps, official_only) = (count(&self.gaps), count(&self.official_only));
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let servers = servers.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
        let met = match (servers.is_empty(), used.is_empty()) {
            (true, true) => "on no server".to_owned(),
            (true, false) => format!("on [{used}]"),
            (false, true) => format!("on {servers}"),
            (false, false) => format!("on {servers} [{used}]"),
        };
        format!(
            "{} {met}: {} passed, {} failed, {} ignored, {official_only} official-only, {gaps} known gaps",
            self.suite,
            conclusion.num_passed.saturating_sub(gaps),
            conclusion.num_failed,
            conclusion.num_ignored.saturating_sub(official_only),
        )
    }
}

/// Writes why nothing could be run to the standard error.
pub(super) fn complain(what: &str) -> ExitCode {
    // There is no other place to complain to.
    let _ = writeln!(std::io::stderr().lock(), "{what}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use memory_core::store::Durability;

    use super::*;

    #[test]
    fn names_each_server_once_and_counts_gaps_apart() {
        let summary = Summary::new("redis");
        let health = Health::new("redis", "7.4.1", Durability::Committed);
        summary.note(Some(health.clone()));
        summary.note(Some(health));
        summary.note(None);
        summary.count_gap();
        summary.count_official_only();
        let conclusion =
            Conclusion { num_filtered_out: 0, num_passed: 3, num_failed: 1, num_ignored: 2, num_measured: 0 };
        let rest = "2 passed, 1 failed, 1 ignored, 1 official-only, 1 known gaps";
        assert_eq!(summary.line(&conclusion), format!("redis on redis 7.4.1 (Committed): {rest}"));
        summary.used(vec!["redis 7.4.1, url".to_owned()]);
        assert_eq!(summary.line(&conclusion), format!("redis on redis 7.4.1 (Committed) [redis 7.4.1, url]: {rest}"));
    }
}
