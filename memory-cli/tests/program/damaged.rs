//! A message and a record whose bytes have changed on the disk.

use crate::support::{Bed, change};

const MESSAGE: &str = "0190b0a0-0000-7000-8000-000000000003";
const RECORD: &str = "0190b0a0-0000-7000-8000-00000000000b";
const NOTHING: &str = "0190b0a0-0000-7000-8000-0000000000ff";

#[test]
fn what_is_damaged_is_named_and_forgotten_by_its_id_and_the_rest_is_there() {
    let bed = Bed::new();
    let line = |number: usize| {
        let id = format!("0190b0a0-0000-7000-8000-{number:012}");
        format!(r#"{{"role":"user","session":"a","id":"{id}","content":"zebra {number} about boilers"}}"#)
    };
    bed.import(&(1..=5).map(|number| line(number) + "\n").collect::<String>());
    bed.json(&["remember", "Boilers are warm", "--id", RECORD]);
    bed.json(&["remember", "Boilers are loud"]);
    let message = "UPDATE message SET body = CAST(substr(body, 1, length(body) - 1) || x'00' AS BLOB) WHERE seq = 3";
    let record = "UPDATE record SET body = CAST(substr(body, 1, length(body) - 1) || x'00' AS BLOB) WHERE item = 1";
    assert_eq!((change(&bed.database(), message), change(&bed.database(), record)), (1, 1));

    let found = bed.run(&["search", "boilers", "--json"]);
    assert_eq!((found.code, found.json()["hits"].as_array().unwrap().len()), (3, 5), "{}", found.stderr);
    let degraded = found.json()["degraded"].to_string();
    assert!(degraded.contains(MESSAGE) && degraded.contains(RECORD), "{degraded}");
    assert!(bed.run(&["show", "a"]).refused(1).contains(MESSAGE));
    let forgotten = bed.run(&["forget", "--id", MESSAGE, "--id", RECORD, "--id", NOTHING]);
    // In part, because one of them has nothing.
    assert_eq!(forgotten.code, 3, "{}", forgotten.stderr);
    assert!(forgotten.stderr.contains(NOTHING) && !forgotten.stderr.contains(MESSAGE), "{}", forgotten.stderr);
    assert_eq!(bed.json(&["search", "boilers"])["hits"].as_array().unwrap().len(), 5);
    assert_eq!((bed.run(&["show", "a"]).code, bed.run(&["export"]).code), (0, 0));
}
