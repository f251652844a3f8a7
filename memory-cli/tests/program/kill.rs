//! kill -9 at any point of an import or of its indexing loses nothing that was acknowledged.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use memory_testkit::rounds;
use serde_json::Value;

use crate::support::{Bed, said};

/// Points of a run of the tests; `MEMORY_TEST_ROUNDS` names another number, at least 3, `scripts/soak.sh program-kills` sets it.
const POINTS: usize = 30;
const MESSAGES: usize = 2_000;
const SESSIONS: usize = 5;

/// A file of messages, each with a word of its own.
fn conversation() -> String {
    (0..MESSAGES).map(|n| said(&format!("s{}", n % SESSIONS), n, "user", &text(n))).collect()
}

fn text(n: usize) -> String {
    format!("message word{n} of a conversation about boats, bread and weather")
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

/// Where the program is killed: after so many acknowledgements and so many microseconds more.
struct Point {
    after_lines: u64,
    micros: u64,
}

/// Starts the import, kills it at `point`, and returns the number it acknowledged last and whether it had ended by then.
fn import_and_kill(bed: &Bed, file: &str, point: &Point) -> (usize, bool) {
    let mut command = bed.command();
    command.args(["import", file, "--progress", "lines"]);
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    for _ in 0..point.after_lines {
        lines.read_line(&mut told).unwrap();
    }
    sleep(Duration::from_micros(point.micros));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    // What was written before the kill is still in the pipe.
    lines.read_to_string(&mut told).unwrap();
    let counts = told.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let acknowledged = counts.filter_map(|line| line.trim_end().strip_prefix("committed ")?.parse().ok()).max();
    (acknowledged.unwrap_or(0), status.code() == Some(0))
}

/// Asserts that the first `acknowledged` messages of the file are there, and that each session holds a prefix of its
/// messages, in order, each once.
fn check(bed: &Bed, acknowledged: usize) {
    let export = bed.run(&["export"]);
    assert_eq!(export.code, 0, "{}", export.stderr);
    let mut sessions: HashMap<String, Vec<String>> = HashMap::new();
    for line in export.stdout.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let row = &value["row"];
        let Some(session) = row["session"].as_str().filter(|_| row["covers"].is_null()) else { continue };
        let rows = sessions.entry(session.to_owned()).or_default();
        rows.push(row["message"]["blocks"][0]["text"].as_str().unwrap().to_owned());
        assert_eq!(row["seq"], rows.len() as u64);
    }
    for session in 0..SESSIONS {
        let there = sessions.remove(&format!("s{session}")).unwrap_or_default();
        let expected = (session..MESSAGES).step_by(SESSIONS);
        let sure = expected.clone().filter(|n| *n < acknowledged).count();
        assert!(there.len() >= sure, "s{session}: {} of {sure} acknowledged messages are there", there.len());
        let prefix: Vec<String> = expected.map(text).take(there.len()).collect();
        assert_eq!(there, prefix);
    }
}

/// Asserts that the same import completes what was begun, adds nothing twice, and that all of it is found.
fn complete(bed: &Bed, file: &str, dice: &mut Dice) {
    let answer = bed.json(&["import", file]);
    let count = |name: &str| answer[name].as_u64().unwrap();
    assert_eq!(count("added") + count("already"), MESSAGES as u64);
    assert_eq!(count("rejected"), 0);
    check(bed, MESSAGES);
    assert_eq!(bed.json(&["stats"])["indexes"][0]["pending"], 0);
    for _ in 0..3 {
        let n = dice.below(MESSAGES as u64) as usize;
        let found = bed.json(&["search", &format!("word{n}"), "-k", "2"]);
        assert_eq!(found["hits"][0]["text"], text(n));
    }
}

#[test]
fn every_acknowledged_message_survives_a_kill_and_the_same_import_completes() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversation());
    let (mut dice, mut killed, mut indexing) = (Dice(0x9e37_79b9_7f4a_7c15), 0, 0);
    let (batches, points) = ((MESSAGES / 256) as u64 + 1, rounds(POINTS).max(3));
    for point in 0..points {
        // Every third point lies in the indexing, which begins after the last batch.
        let after_lines = if point % 3 == 2 { batches + 1 } else { dice.below(batches) };
        let micros = dice.below(if point % 3 == 2 { 150_000 } else { 8_000 });
        let owner = format!("owner-{point}");
        let bed = bed.of(&owner);
        let (acknowledged, ended) = import_and_kill(&bed, &file, &Point { after_lines, micros });
        killed += usize::from(!ended);
        indexing += usize::from(!ended && acknowledged == MESSAGES);
        check(&bed, acknowledged);
        complete(&bed, &file, &mut dice);
    }
    assert!(killed * 3 >= points * 2, "{killed} of {points} imports were killed before their end");
    assert!(indexing > 0, "no kill fell into the indexing");
}

#[test]
fn a_folder_whose_import_was_killed_is_completed_by_the_same_import() {
    let bed = Bed::new();
    std::fs::create_dir(bed.path("export")).unwrap();
    for session in 0..SESSIONS {
        let messages = (session..MESSAGES).step_by(SESSIONS);
        let lines: String = messages.map(|n| said(&format!("s{session}"), n, "user", &text(n))).collect();
        bed.file(&format!("export/{session}.jsonl"), lines);
    }
    let folder = bed.path("export").to_str().unwrap().to_owned();
    let (mut dice, mut killed) = (Dice(0x2545_f491_4f6c_dd1d), 0);
    for point in 0..rounds(POINTS).max(3) / 3 {
        let bed = bed.of(&format!("owner-{point}"));
        let point = Point { after_lines: dice.below(1 + MESSAGES as u64 / 256), micros: dice.below(8_000) };
        let (_, ended) = import_and_kill(&bed, &folder, &point);
        killed += u64::from(!ended);
        // Each conversation is there up to some message, in order.
        check(&bed, 0);
        complete(&bed, &folder, &mut dice);
    }
    assert!(killed > 0, "no import was killed before its end");
}
