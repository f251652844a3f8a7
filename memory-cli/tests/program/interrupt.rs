//! Ctrl-C stops an import between two batches, and the same command goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Bed, said};

#[test]
fn an_import_that_is_stopped_says_what_is_stored_and_the_same_command_goes_on() {
    let bed = Bed::new();
    let lines: String = (0..300).map(|n| said("s", n, "user", &format!("message {n}"))).collect();
    let mut import = bed.command();
    import.args(["--json", "import", "-", "--progress", "lines"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    input.write_all(lines.as_bytes()).unwrap();
    let mut line = String::new();
    // The rest of a batch does not wait for ever for more of a pipe.
    while line != "committed 300\n" {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the import ended by itself");
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&value["added"], &value["interrupted"]), (&json!(300), &json!(true)));
    line.clear();
    told.read_to_string(&mut line).unwrap();
    assert!(line.contains("the same command goes on from there"), "{line}");
    let again = bed.import(&lines);
    assert_eq!((&again["added"], &again["already"], &again["interrupted"]), (&json!(0), &json!(300), &json!(false)));
}
