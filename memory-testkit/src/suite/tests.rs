use std::collections::BTreeSet;

use memory_core::store::{Durability, Health};

use super::*;
use crate::{Bed, Failure, Scene, Subject};

#[derive(Clone)]
struct Plain;

impl Subject for Plain {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        Box::pin(async { Ok(Health::new("plain", "1", Durability::Volatile)) })
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

async fn kept(_: Bed<Plain>) -> Scene {
    Ok(())
}

async fn broken(_: Bed<Plain>) -> Scene {
    Err(Failure::new("no"))
}

mod tables {
    use super::*;
    scenarios!(PLAIN: Plain = [kept, broken]);
}

fn suite() -> Suite {
    Suite::new("plain").plan("group", tables::PLAIN, &opener(|_| async { Ok(Plain) }))
}

/// Plays a suite and returns how many scenarios passed, failed and were ignored, and the summary.
fn played(suite: Suite) -> (u64, u64, u64, String) {
    let log = std::env::temp_dir().join(format!("suite-{}.log", uuid::Uuid::now_v7()));
    let path = log.to_string_lossy().into_owned();
    let arguments = Arguments { logfile: Some(path), ..Arguments::default() };
    let (conclusion, summary) = suite.conclude(&arguments).unwrap();
    std::fs::remove_file(log).unwrap();
    let Conclusion { num_passed, num_failed, num_ignored, .. } = conclusion;
    (num_passed, num_failed, num_ignored, summary.line(&conclusion))
}

#[test]
fn plays_every_scenario_and_names_the_server() {
    let line = "plain on plain 1 (Volatile): 1 passed, 1 failed, 0 ignored, 0 official-only, 0 known gaps";
    assert_eq!(played(suite()), (1, 1, 0, line.to_owned()));
}

#[test]
fn a_declared_gap_passes_as_long_as_it_is_one() {
    let (passed, failed, _, line) = played(suite().gap("group::broken", "not yet"));
    assert_eq!((passed, failed), (2, 0));
    assert!(line.ends_with("1 passed, 0 failed, 0 ignored, 0 official-only, 1 known gaps"), "{line}");
    assert_eq!(played(suite().gap("group::kept", "not yet")).1, 2);
}

#[test]
fn a_gap_that_is_no_scenario_fails() {
    assert_eq!(played(suite().gap("group::unknown", "a slip")).1, 2);
}

#[test]
fn a_line_of_the_official_table_that_is_no_scenario_fails() {
    const TABLE: &[OfficialOnly] = &[OfficialOnly { suite: "plain", scenario: "group::unknown", reason: "a slip" }];
    assert_eq!(played(Suite { official_only: TABLE, ..suite() }).1, 2);
    const OTHER: &[OfficialOnly] = &[OfficialOnly { suite: "other", scenario: "group::unknown", reason: "theirs" }];
    assert_eq!(played(Suite { official_only: OTHER, ..suite() }).1, 1);
}

#[cfg(feature = "containers")]
#[test]
fn what_only_the_official_server_can_do_is_ignored_on_a_stand_in_and_counted_apart() {
    use crate::environment::Wishes;
    use crate::services::{Servers, Service, probe};

    const TABLE: &[OfficialOnly] = &[OfficialOnly { suite: "plain", scenario: "group::broken", reason: "no index" }];
    let on = |version: &'static str| {
        let wishes = Wishes { url: Some("redis://there".to_owned()), ..Wishes::default() };
        let ask = probe(move |_| async move { Ok(version.to_owned()) });
        let mut suite = Suite { official_only: TABLE, ..suite() };
        suite.stage.servers = Servers::default().with_wishes(Service::redis(), ask, wishes);
        played(suite.test("own::url", |servers| async move { crate::equal(servers.url("redis")?, "redis://there") }))
    };
    let (passed, failed, ignored, line) = on("1-standin");
    assert_eq!((passed, failed, ignored), (2, 0, 1));
    let counts = "[redis 1-standin, url, stand-in]: 2 passed, 0 failed, 0 ignored, 1 official-only, 0 known gaps";
    assert!(line.ends_with(counts), "{line}");
    assert_eq!(on("1.0").1, 1);
}

#[test]
fn without_its_server_a_suite_is_ignored_or_fails() {
    let absent = |required| Presence::Absent { reason: "nobody listens".to_owned(), required };
    let (passed, failed, ignored, line) = played(suite().present(absent(false)));
    assert_eq!((passed, failed, ignored), (0, 0, 2));
    assert!(line.starts_with("plain on no server:"), "{line}");
    assert_eq!(played(suite().present(absent(true))).1, 2);
}

#[test]
fn no_two_scenarios_of_a_group_share_a_name() {
    fn check<S>(table: &[Scenario<S>]) {
        let names: BTreeSet<_> = table.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), table.len());
        assert!(!names.is_empty());
    }
    check(&chat::table());
    check(&records::table());
    check(&text::table());
    check(&vectors::table());
    check(&cache::table());
    check(&blackboard::table());
    check(&journal::table());
    check(&forgetting::table());
    check(&isolation::table());
    check(&memory::table());
}
