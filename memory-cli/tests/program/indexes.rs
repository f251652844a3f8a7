//! `memory reindex` and `memory retire`.

use serde_json::{Value, json};

use crate::support::{Bed, change, conversations};

/// The index of words.
fn words(bed: &Bed) -> Value {
    bed.json(&["stats"])["indexes"][0].clone()
}

fn finds(bed: &Bed) -> bool {
    !bed.json(&["search", "tomatoes"])["hits"].as_array().unwrap().is_empty()
}

#[test]
fn everything_is_put_into_the_indexes_again() {
    let bed = Bed::new();
    bed.import(&conversations());
    let name = words(&bed)["index"].as_str().unwrap().to_owned();
    for args in [&["reindex"][..], &["reindex", "--index", &name]] {
        let answer = json!({ "reindexed": [name], "pending": 0, "not_open": [], "failed": false });
        assert_eq!(bed.json(args), answer);
        assert_eq!(words(&bed)["pending"], 0);
        assert!(finds(&bed));
    }
    let unknown = bed.run(&["reindex", "--index", "text/other"]);
    assert!(unknown.refused(2).contains(&name), "{}", unknown.stderr);
}

#[test]
fn a_retired_index_is_empty_and_is_filled_again_by_whoever_opens_it() {
    let bed = Bed::new();
    bed.import(&conversations());
    let name = words(&bed)["index"].as_str().unwrap().to_owned();
    assert_eq!(bed.json(&["retire", "--index", &name]), json!({ "retired": name, "emptied": true }));
    assert!(bed.run(&["retire", "--index", "text/other"]).refused(2).contains("text/other"));
    // The next command opens it, and fills it when it has answered.
    assert_eq!(words(&bed)["pending"], 2);
    assert_eq!(words(&bed)["pending"], 0);
    assert!(finds(&bed));
    // What is forgotten later is not there, however often it was filled.
    bed.json(&["forget", "--session", "garden", "--yes"]);
    bed.json(&["reindex"]);
    let hits = bed.json(&["search", "tomatoes"])["hits"].clone();
    assert!(hits.as_array().unwrap().iter().all(|hit| hit["session"] != "garden"), "{hits}");
}

#[test]
fn an_index_damaged_inside_its_file_is_cleared_and_filled_again() {
    let bed = Bed::new();
    bed.import(&conversations());
    let name = words(&bed)["index"].as_str().unwrap().to_owned();
    assert!(change(&bed.database(), "DELETE FROM text_tail") > 0);
    assert!(!finds(&bed));
    bed.json(&["reindex"]);
    assert!(!finds(&bed), "what the file believes to hold is not written again");
    let answer = json!({ "reindexed": [name], "pending": 0, "not_open": [], "failed": false });
    assert_eq!(bed.json(&["reindex", "--clear"]), answer);
    assert!(finds(&bed));
    let refused = bed.run(&["reindex", "--clear", "--embedder", "none"]);
    assert!(refused.refused(2).contains("--clear"), "{}", refused.stderr);
}
