//! Forgetting is for good, and takes exactly what was named.

use serde_json::{Value, json};

use crate::support::{Bed, conversations};

fn filled() -> (Bed, String, String) {
    let bed = Bed::new();
    bed.import(&conversations());
    let record = bed.json(&["remember", "Charlie ordered a parcel of seeds"]);
    let found = bed.json(&["search", "E-4471-B", "-k", "1"]);
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    (bed, id(&found["hits"][0]["id"]), id(&record["id"]))
}

fn hits(bed: &Bed, query: &str) -> usize {
    bed.json(&["search", query])["hits"].as_array().unwrap().len()
}

#[test]
fn an_id_is_forgotten_whether_it_is_a_message_or_a_record() {
    let (bed, message, record) = filled();
    assert_eq!(hits(&bed, "parcel"), 3);
    let receipt = bed.json(&["forget", "--id", &message, "--id", &record]);
    assert_eq!((&receipt["removed"], &receipt["complete"], &receipt["epoch"]), (&json!(2), &json!(true), &Value::Null));
    assert_eq!(hits(&bed, "parcel"), 1);
    assert_eq!(bed.json(&["forget", "--id", &message])["removed"], 0);
    let again = bed.import(&conversations());
    assert_eq!((&again["added"], &again["already"], &again["forgotten"]), (&json!(0), &json!(6), &json!(1)));
    assert_eq!(hits(&bed, "parcel"), 1);
}

#[test]
fn a_session_is_forgotten_by_its_name_and_no_other() {
    let (bed, ..) = filled();
    let receipt = bed.json(&["forget", "--session", "garden"]);
    assert_eq!((&receipt["removed"], &receipt["complete"]), (&json!(5), &json!(true)));
    let sessions = bed.json(&["sessions"]);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_eq!((hits(&bed, "tomatoes"), hits(&bed, "parcel")), (0, 3));
    assert_eq!(bed.run(&["forget", "--session", "gard"]).stdout, "0 items forgotten\n");
}

#[test]
fn everything_of_one_owner_is_forgotten_and_nothing_of_another() {
    let (bed, ..) = filled();
    let bed = bed.of("ben");
    bed.import(&conversations());
    let bed = bed.of("ada");
    let receipt = bed.json(&["forget", "--all", "--yes"]);
    assert_eq!((&receipt["complete"], &receipt["removed"]), (&json!(true), &json!(8)));
    assert!(receipt["epoch"].as_u64().unwrap() > 0);
    assert_eq!((hits(&bed, "parcel tomatoes"), bed.json(&["stats"])["owner"]["records"].as_u64()), (0, Some(0)));
    let bed = bed.of("ben");
    assert_eq!(bed.json(&["stats"])["owner"]["messages"], 7);
    assert_eq!(hits(&bed, "parcel"), 2);
}
