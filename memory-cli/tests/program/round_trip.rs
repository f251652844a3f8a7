//! What is exported and imported again is the same (s0_19), whoever it is imported for.

use serde_json::{Value, json};

use crate::support::{Bed, conversations, said};

/// Returns the lines of an export but for the first, which names owner and time.
fn export(bed: &Bed) -> Vec<String> {
    let answer = bed.run(&["export"]);
    assert_eq!((answer.code, answer.complaints().as_str()), (0, ""));
    let header: Value = serde_json::from_str(answer.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(header["memory_export"], 1);
    answer.stdout.lines().skip(1).map(str::to_owned).collect()
}

/// A database with calls, a forgotten message, a summarised window and records with versions and accesses.
fn full() -> Bed {
    let bed = Bed::new();
    bed.import(&conversations());
    let lines: String = (0..40).map(|n| format!("Item {n}: {}\n", "a few words more ".repeat(15))).collect();
    let chat = bed.run_with(&["chat", "--session", "long", "--budget", "1000"], lines.as_bytes());
    assert_eq!((chat.code, chat.complaints().as_str()), (0, ""));
    bed.json(&[
        "remember",
        "The cat is called Ole.",
        "--tag",
        "pet",
        "--tag",
        "name",
        "--importance",
        "0.25",
        "--ttl",
        "4w",
        "--agent",
        "gardener",
        "--run",
        "monday",
    ]);
    bed.json(&["remember", "the cat is called Ole", "--tag", "again", "--agent", "gardener", "--run", "friday"]);
    bed.json(&["search", "cat Ole"]);
    let id = bed.json(&["search", "E-4471-B", "-k", "1"])["hits"][0]["id"].as_str().unwrap().to_owned();
    bed.json(&["forget", "--id", &id]);
    bed
}

#[test]
fn s0_19_s4_17f_an_export_imported_elsewhere_exports_the_same() {
    let bed = full();
    let lines = export(&bed);
    assert!(lines.iter().any(|line| line.contains("\"covers\"")), "a summary is among the rows");
    assert!(lines.iter().any(|line| line.contains("\"message\":null")), "a forgotten message is among the rows");
    assert!(
        lines.iter().any(|line| line.contains("\"access_count\":") && !line.contains("\"access_count\":0")),
        "an access is among the records"
    );
    let record = lines.iter().find(|line| line.contains("\"gardener\"")).unwrap();
    assert!(record.contains("\"monday\"") && record.contains("\"friday\""), "both tellings are exported: {record}");
    assert!(lines.iter().any(|line| line.contains("\"counter\":")), "who counted is among the rows");
    let file = bed.file("export.jsonl", bed.run(&["export"]).stdout);
    let other = Bed::new();
    let answer = other.json(&["import", &file]);
    assert_eq!((&answer["rejected"], &answer["already"]), (&json!(0), &json!(0)));
    assert_eq!(export(&other), lines);
    let again = other.json(&["import", &file]);
    assert_eq!((&again["added"], &again["rejected"]), (&json!(0), &json!(0)));
    assert_eq!(export(&other), lines);
    let sought = |bed: &Bed| bed.json(&["search", "tomatoes rain cat"])["hits"].clone();
    assert_eq!(sought(&other), sought(&bed));
}

#[test]
fn the_owner_in_an_export_is_never_the_owner_of_an_import() {
    let bed = full();
    let text = bed.run(&["export"]).stdout;
    assert!(text.starts_with("{\"memory_export\":1,\"tenant\":\"acme\",\"subject\":\"ada\""), "{}", &text[..80]);
    let bed = bed.of("ben");
    let before = bed.json(&["sessions"]);
    assert_eq!(before["sessions"], json!([]));
    bed.import(&text.replacen("\"subject\":\"ada\"", "\"subject\":\"eve\"", 1));
    assert_eq!(bed.json(&["sessions"])["sessions"].as_array().unwrap().len(), 3);
    let bed = bed.of("eve");
    assert_eq!(bed.json(&["sessions"])["sessions"], json!([]));
}

#[test]
fn a_cut_export_keeps_what_it_has_and_says_so() {
    let bed = full();
    let text = bed.run(&["export"]).stdout;
    let rows = text.lines().count();
    let cut: String = text.lines().take(4).map(|line| format!("{line}\n")).collect();
    let other = Bed::new();
    let answer = other.run_with(&["import", "-", "--json"], cut.as_bytes());
    assert_eq!((answer.code, &answer.json()["added"]), (3, &json!(3)));
    assert!(answer.stderr.contains("the export ends too soon"));
    let whole = other.run_with(&["import", "-", "--json"], text.as_bytes());
    assert_eq!((whole.code, &whole.json()["already"]), (0, &json!(3)));
    assert!(rows > 40);
    assert_eq!(export(&other), export(&bed));
}

#[test]
fn a_row_that_contradicts_what_is_stored_is_told_and_the_others_are_kept() {
    let bed = Bed::new();
    bed.import(&conversations());
    let text = bed.run(&["export"]).stdout;
    let other = Bed::new();
    other.import(&said("garden", 1, "user", "Something else stands here."));
    let answer = other.run_with(&["import", "-", "--json"], text.as_bytes());
    let value = answer.json();
    assert_eq!(answer.code, 3);
    assert_eq!((&value["added"], &value["rejected"]), (&json!(2 + 4), &json!(1)));
}
