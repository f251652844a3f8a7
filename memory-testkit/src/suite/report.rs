//! The report of a run as a file: which server was tested, and how each scenario ended.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::trial::Verdict;

/// How a scenario ended.
#[derive(Debug, Serialize)]
struct Ended {
    name: String,
    /// `passed`, `failed`, `ignored`, or `gap` for a promise that is declared as not kept.
    ended: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// How the scenarios of a run ended.
#[derive(Debug, Default)]
pub(super) struct Report(Mutex<Vec<Ended>>);

/// What a report says.
#[derive(Debug, Serialize)]
struct Told<'a> {
    suite: &'a str,
    /// The last line of the run.
    summary: &'a str,
    scenarios: &'a [Ended],
}

impl Report {
    /// Notes how a scenario ended. `gap` is the reason for which its promise is not kept, if that is declared.
    pub(super) fn note(&self, name: &str, verdict: &Verdict, gap: Option<&str>) {
        let (ended, why) = match (verdict, gap) {
            (Verdict::Passed, Some(reason)) => ("gap", Some(reason.to_owned())),
            (Verdict::Passed, None) => ("passed", None),
            (Verdict::Failed(why), _) => ("failed", Some(why.clone())),
            (Verdict::Ignored(why), _) => ("ignored", Some(why.clone())),
        };
        let ended = Ended { name: name.to_owned(), ended, why };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
    }

    /// Writes `SUITE.json` into the folder, which is made if there is none. The scenarios stand in the order of their names.
    ///
    /// # Errors
    /// The failure of writing it.
    pub(super) fn write(&self, folder: &Path, suite: &str, summary: &str) -> std::io::Result<()> {
        let mut scenarios = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scenarios.sort_by(|one, other| one.name.cmp(&other.name));
        std::fs::create_dir_all(folder)?;
        let told = serde_json::to_vec_pretty(&Told { suite, summary, scenarios: &scenarios })?;
        std::fs::write(folder.join(format!("{suite}.json")), told)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn o1_a_report_tells_how_each_scenario_ended_and_why() {
        let report = Report::default();
        report.note("chat::b", &Verdict::Failed("no".to_owned()), None);
        report.note("chat::a", &Verdict::Passed, None);
        report.note("chat::d", &Verdict::Ignored("no server".to_owned()), None);
        report.note("chat::c", &Verdict::Passed, Some("names are cut"));
        let folder = std::env::temp_dir().join(format!("reports-{}", uuid::Uuid::now_v7()));
        report.write(&folder, "mine", "mine: 1 passed").unwrap();
        let told: Value = serde_json::from_slice(&std::fs::read(folder.join("mine.json")).unwrap()).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        let expected = json!({
            "suite": "mine",
            "summary": "mine: 1 passed",
            "scenarios": [
                { "name": "chat::a", "ended": "passed" },
                { "name": "chat::b", "ended": "failed", "why": "no" },
                { "name": "chat::c", "ended": "gap", "why": "names are cut" },
                { "name": "chat::d", "ended": "ignored", "why": "no server" },
            ],
        });
        assert_eq!(told, expected);
    }
}
