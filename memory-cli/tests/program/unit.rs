//! The unit of systemd that a release brings: what it says is what the program takes.

use std::time::Duration;

use crate::running::Running;
use crate::support::Bed;

const UNIT: &str = include_str!("../../../containers/release/memory.service");

/// Where the unit keeps what lasts.
const FOLDER: &str = "/var/lib/memory";

/// Returns the values of a setting of the service, in their order.
fn values(name: &str) -> Vec<&'static str> {
    let service = UNIT.split("[Service]").nth(1).unwrap().split("\n[").next().unwrap();
    service
        .lines()
        .filter_map(|line| line.split_once('=').filter(|(key, _)| *key == name))
        .map(|(_, value)| value)
        .collect()
}

#[test]
fn the_unit_of_a_release_starts_a_server_over_its_folder_and_gives_it_the_time_to_stop() {
    let bed = Bed::new();
    let start = values("ExecStart");
    let [start] = start.as_slice() else { panic!("{start:?}") };
    let (program, arguments) = start.split_once(' ').unwrap();
    assert_eq!(program, "/usr/local/bin/memory");
    let mut command = bed.bare();
    let folder = bed.database().parent().unwrap().to_str().unwrap().to_owned();
    let variables = values("Environment").into_iter().flat_map(str::split_whitespace);
    for (name, value) in variables.map(|variable| variable.split_once('=').unwrap()) {
        // What is outside of its folder cannot be written: all else is protected.
        assert!(value.contains(FOLDER), "{name}={value}");
        command.env(name, value.replace(FOLDER, &folder));
    }
    command.env("MEMORY_LISTEN", "127.0.0.1:0").args(arguments.split_whitespace());
    // As its comment says that tokens are made.
    let file = bed.path("tokens.json");
    let made = format!("sudo -u memory memory token new --tokens {FOLDER}/tokens.json --tenant acme --subject ada");
    assert!(UNIT.contains(&made), "{made}");
    let token = bed.json(&["token", "new", "--tokens", file.to_str().unwrap()])["token"].as_str().unwrap().to_owned();
    assert!(!bed.database().exists());
    let running = Running::of(command);
    assert_eq!(running.get("/v1/sessions", &token).0, 200);
    assert!(bed.database().exists(), "the database is not in its folder");
    let (code, log) = running.stop();
    assert_eq!(code, Some(0), "{log}");
    bed.is_one_file();
    // Requests under way have the drain, and what is open is closed behind them.
    let patience = values("TimeoutStopSec");
    let [patience] = patience.as_slice() else { panic!("{patience:?}") };
    let least = memory_server::Config::default().drain + Duration::from_secs(5);
    assert!(Duration::from_secs(patience.parse().unwrap()) >= least, "{patience}");
}

#[test]
fn every_line_of_the_unit_is_a_setting_of_a_section() {
    let lines = UNIT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (sections, settings): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('['));
    assert_eq!(sections, ["[Unit]", "[Service]", "[Install]"]);
    let is_word = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    assert!(settings.iter().all(|line| line.split_once('=').is_some_and(|(key, _)| is_word(key))), "{settings:?}");
}
