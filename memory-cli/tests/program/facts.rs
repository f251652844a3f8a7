//! Facts that are found in what people say.

use serde_json::json;

use crate::support::Bed;

fn talk() -> Bed {
    let bed = Bed::new();
    let line = |role: &str, text: &str| json!({ "role": role, "content": text }).to_string();
    let said = [
        line("user", "Hello! My name is Ada Marlowe, and I need a hand."),
        line("assistant", "Hello Ada. I live in a computer."),
        line("user", "I live in Lisbon. Do I live in Rome?"),
        line("user", "I moved to Porto."),
    ];
    let talk = bed.file("talk.jsonl", said.join("\n"));
    assert_eq!(bed.json(&["import", &talk])["added"], 4);
    bed
}

#[test]
fn s1_19_facts_are_found_by_whom_the_settings_name_as_long_as_they_do() {
    let bed = talk();
    let file = bed.file("memory.yaml", "memory: { extractor: { model: rules } }");
    let with = |args: &[&str]| bed.json(&[&["--config", &file][..], args].concat());
    assert_eq!(with(&["facts"])["on"], true);
    with(&["facts", "on"]);
    assert_eq!(with(&["facts"]), json!({ "on": true, "pending": 0 }));
    assert_eq!(with(&["records"])["total"], 2);
    let off = bed.run(&["--config", &file, "facts", "off"]);
    assert!(off.refused(2).contains("extractor"), "{}", off.stderr);
    assert_eq!(bed.json(&["facts", "off"]), json!({ "on": false, "pending": 0 }));
}

#[test]
fn s2_14f_facts_are_found_by_rules_where_that_is_switched_on() {
    let bed = talk();
    assert_eq!(bed.json(&["facts"]), json!({ "on": false, "pending": 0 }));
    let tried = bed.json(&["facts", "try"]);
    assert_eq!(tried["facts"].as_array().map(Vec::len), Some(3));
    assert_eq!(bed.json(&["records"])["total"], 0);

    assert_eq!(bed.json(&["facts", "on"]), json!({ "on": true, "pending": 0 }));
    let texts = |list: &serde_json::Value| {
        list["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let mut known = texts(&bed.json(&["records"]));
    known.sort();
    assert_eq!(known, ["user: I moved to Porto", "user: My name is Ada Marlowe"]);
    assert_eq!(bed.json(&["records", "--tag", "Lisbon", "--all"])["records"][0]["current"], false);

    // What is said from now on is read by whichever command stores it.
    let more = bed.file("more.jsonl", json!({ "role": "user", "content": "I've moved to Braga." }).to_string());
    bed.json(&["import", &more, "--session", "later"]);
    assert!(texts(&bed.json(&["records"])).contains(&"user: I've moved to Braga".to_owned()));

    assert_eq!(bed.json(&["facts", "off"]), json!({ "on": false, "pending": 0 }));
    assert_eq!(bed.json(&["records"])["total"], 2);
    let last = bed.file("last.jsonl", json!({ "role": "user", "content": "I've moved to Faro." }).to_string());
    bed.json(&["import", &last, "--session", "last"]);
    assert_eq!(bed.json(&["records"])["total"], 2);
}
