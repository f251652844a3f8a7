//! Records as a list, edited and retired.

use serde_json::{Value, json};

use crate::support::Bed;

fn texts(list: &Value) -> Vec<&str> {
    list["records"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect()
}

fn id(receipt: &Value) -> String {
    receipt["id"].as_str().unwrap().to_owned()
}

fn filled() -> (Bed, [String; 3]) {
    let bed = Bed::new();
    let cat = id(&bed.json(&["remember", "Ada has a cat", "--tag", "pets", "--importance", "0.8"]));
    let tea = id(&bed.json(&["remember", "Ada likes tea", "--kind", "preference", "--agent", "cook"]));
    let dog = id(&bed.json(&["remember", "Ada has a dog", "--tag", "pets", "--tag", "walks"]));
    (bed, [cat, tea, dog])
}

#[test]
fn records_are_listed_newest_first_and_narrowed() {
    let (bed, _) = filled();
    assert_eq!(texts(&bed.json(&["records"])), ["Ada has a dog", "Ada likes tea", "Ada has a cat"]);
    assert_eq!(texts(&bed.json(&["records", "--kind", "preference"])), ["Ada likes tea"]);
    assert_eq!(texts(&bed.json(&["records", "--tag", "pets"])), ["Ada has a dog", "Ada has a cat"]);
    assert_eq!(texts(&bed.json(&["records", "--tag", "pets", "--tag", "walks"])), ["Ada has a dog"]);
    assert_eq!(texts(&bed.json(&["records", "--filter", "agent = cook"])), ["Ada likes tea"]);
    assert_eq!(texts(&bed.json(&["records", "--as-of", "yesterday"])), Vec::<&str>::new());
    let one = bed.json(&["records", "-n", "1"]);
    assert_eq!((texts(&one), &one["total"]), (vec!["Ada has a dog"], &json!(3)));
    let words = bed.run(&["records"]).stdout;
    assert!(words.contains("Ada has a cat\n  20") && words.contains(", fact [pets], importance 0.8\n"), "{words}");
    assert!(words.ends_with("3 records\n"), "{words}");
}

#[test]
fn an_edited_record_keeps_what_it_was_told_with_and_its_history() {
    let (bed, [cat, ..]) = filled();
    let edited = bed.json(&["records", "edit", &cat, "Ada has two cats"]);
    assert_eq!((&edited["outcome"], &edited["supersedes"]), (&json!("stored"), &json!(cat)));
    assert_eq!(texts(&bed.json(&["records"])), ["Ada has two cats", "Ada has a dog", "Ada likes tea"]);
    let new = bed.json(&["show", edited["id"].as_str().unwrap()]);
    assert_eq!((&new["tags"], &new["current"]), (&json!(["pets"]), &json!(true)));
    assert!(new["importance"].as_f64().is_some_and(|importance| (importance - 0.8).abs() < 0.001));
    let old = bed.json(&["show", &cat]);
    assert_eq!((&old["current"], &old["superseded_by"]), (&json!(false), &edited["id"]));
    assert_eq!(bed.json(&["records", "--all"])["total"], 4);
    // A repeat changes nothing; another text in the place of an old record is refused.
    assert_eq!(bed.json(&["records", "edit", &cat, "Ada has two cats"])["outcome"], "reinforced");
    assert!(bed.run(&["records", "edit", &cat, "Ada has no cat"]).refused(2).contains("superseded already"));
    let tea = bed.json(&["records", "--kind", "preference"])["records"][0].clone();
    let coffee = bed.json(&["records", "edit", tea["id"].as_str().unwrap(), "Ada likes coffee"]);
    assert_eq!(bed.json(&["show", coffee["id"].as_str().unwrap()])["agent"], "cook");
}

#[test]
fn what_is_known_of_a_record_is_changed_and_its_text_stays() {
    let (bed, [cat, ..]) = filled();
    let set = ["records", "set", &cat, "--tag", "home", "--untag", "pets", "--importance", "0.3", "--pinned", "true"];
    let changed = bed.json(&set);
    assert_eq!((&changed["tags"], &changed["pinned"]), (&json!(["home"]), &json!(true)));
    assert_eq!((&changed["text"], &bed.json(&set)["version"]), (&json!("Ada has a cat"), &changed["version"]));
    assert_eq!(texts(&bed.json(&["records", "--tag", "home"])), ["Ada has a cat"]);
    assert_eq!(bed.json(&["records", "set", &cat, "--pinned", "false"])["pinned"], json!(false));
    assert_eq!(bed.json(&["records", "set", &cat, "--hold", "true"])["hold"], json!(true));
    assert_eq!(bed.json(&["records"])["records"][2]["hold"], json!(true));
    assert!(bed.run(&["show", &cat]).stdout.contains(", on hold\n"));
    assert_eq!(bed.json(&["records", "set", &cat, "--hold", "false"])["hold"], json!(false));
    assert!(bed.run(&["records", "set", &cat]).refused(2).contains("--tag"));
    assert!(bed.run(&["records", "set", &cat, "--importance", "7"]).refused(2).contains("importance"));
}

#[test]
fn a_retired_record_is_current_no_more_and_stays_in_the_history() {
    let (bed, [cat, ..]) = filled();
    assert_eq!(bed.json(&["records", "retire", &cat])["outcome"], "retired");
    assert_eq!(texts(&bed.json(&["records"])), ["Ada has a dog", "Ada likes tea"]);
    assert_eq!(bed.json(&["search", "cat"])["hits"], json!([]));
    assert_eq!(bed.json(&["records", "--all"])["total"], 3);
    assert!(bed.run(&["records", "--all"]).stdout.contains(", retired 20"));
    assert_eq!(bed.json(&["records", "retire", &cat])["outcome"], "already");
    // What is true again is told again, as a record of its own.
    let again = bed.json(&["remember", "Ada has a cat"]);
    assert!(again["outcome"] == "stored" && again["id"] != json!(cat), "{again}");
    assert!(bed.run(&["records", "edit", &cat, "x"]).refused(2).contains("retired already"));
}

#[test]
fn records_that_are_not_there_are_told() {
    let (bed, [cat, ..]) = filled();
    let unknown = "0196b7a5-36b8-7b39-b8b8-6a3fbb3a4e5c";
    assert!(bed.run(&["records", "edit", unknown, "x"]).refused(2).contains("there is no record 0196b7a5-"));
    assert!(bed.run(&["records", "retire", unknown]).refused(2).contains("there is no record 0196b7a5-"));
    assert!(bed.run(&["records", "retire", "7"]).refused(2).contains("not the id of a record"));
    let part = bed.run(&["records", "retire", &cat, unknown]);
    assert_eq!(part.code, 3);
    assert!(part.stderr.contains("warning: there is no record") && part.stdout.starts_with("retired: "));
    assert!(bed.run(&["records", "--all", "--as-of", "yesterday"]).refused(2).contains("cannot be used with"));
}
