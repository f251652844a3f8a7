//! Branches of conversations: begun, shown, asked, and taken along by exports and moves.

use serde_json::{Value, json};

use crate::support::{Bed, answer, conversations};

/// Returns where each message that is shown stands.
fn places(shown: &Value) -> Vec<(&str, u64)> {
    let rows = shown["shown"].as_array().unwrap().iter();
    rows.map(|row| (row["session"].as_str().unwrap(), row["seq"].as_u64().unwrap())).collect()
}

/// A branch of the conversation about the garden, which leaves it at the question, with an answer of its own.
fn branched() -> Bed {
    let bed = Bed::new();
    bed.import(&conversations());
    let forked = bed.json(&["fork", "garden", "what if", "--at", "2"]);
    assert_eq!(forked, json!({ "session": "what if", "from": "garden", "at": "#2" }));
    let chat = bed.run_with(&["chat", "--session", "what if"], b"/assistant Yes, two cans each.\n");
    assert_eq!((chat.code, chat.complaints().as_str()), (0, ""));
    bed
}

const PLACES: [(&str, u64); 3] = [("garden", 1), ("garden", 2), ("what if", 2)];

#[test]
fn a_branch_shows_what_it_inherited_and_its_own_messages() {
    let bed = branched();
    assert_eq!(places(&bed.json(&["show", "what if"])), PLACES);
    assert_eq!(places(&bed.json(&["show", "what if", "-n", "2"])), PLACES[1..]);
    assert_eq!(places(&bed.json(&["show", "what if", "--around", "2", "-n", "5"])), PLACES);
    let words = bed.run(&["show", "what if"]).stdout;
    assert!(words.contains("garden #2") && words.contains("\n#2") && !words.contains("it will rain"), "{words}");
    assert!(words.starts_with("Shall I water the tomatoes tomorrow?\n"), "{words}");
    let context = bed.json(&["context", "How often?", "--session", "what if", "--recall", "0"]);
    let said: Vec<&str> =
        context["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_str()).collect();
    let all =
        ["You help with the garden.", "Shall I water the tomatoes tomorrow?", "Yes, two cans each.", "How often?"];
    assert_eq!(said, all);
    assert_eq!(context["receipt"]["history"]["inherited"], 2);
}

#[test]
fn a_search_of_a_branch_looks_at_the_past_that_it_shares() {
    let bed = branched();
    for words in ["tomatoes", ""] {
        let found = bed.json(&["search", words, "--session", "what if"]);
        let hits = found["hits"].as_array().unwrap().iter();
        let hits: Vec<(&str, u64)> =
            hits.map(|hit| (hit["session"].as_str().unwrap(), hit["seq"].as_u64().unwrap())).collect();
        assert!(hits.contains(&PLACES[1]), "{words}: {hits:?}");
        // What was said there after the branch left is not of its past.
        assert!(hits.iter().all(|hit| PLACES.contains(hit)), "{words}: {hits:?}");
    }
}

#[test]
fn a_branch_without_messages_of_its_own_is_forgotten_as_any_conversation() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.json(&["fork", "garden", "what if", "--at", "2"]);
    let forgotten = bed.run(&["forget", "--session", "what if"]);
    assert_eq!((forgotten.code, forgotten.complaints().as_str()), (0, ""), "{}", forgotten.stdout);
    assert_eq!(forgotten.stdout, "what if is forgotten: it had no messages of its own\n");
    let again = bed.run(&["forget", "--session", "what if"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("there is no session what if"), "{}", again.stderr);
    assert_eq!(bed.run(&["show", "garden"]).code, 0);
}

#[test]
fn a_branch_is_begun_once_and_wrong_calls_say_what_is_wrong() {
    let bed = branched();
    let again = bed.run(&["fork", "garden", "what if", "--at", "2"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "what if shares the past of garden up to #2\n"));
    for (args, why) in [
        (["fork", "garden", "what if", "--at", "3"], "there is a session what if already"),
        (["fork", "gardn", "new", "--at", "3"], "did you mean garden?"),
        (["fork", "garden", "new", "--at", "99"], "there is no such message to branch at"),
        (["fork", "garden", "new", "--at", "x"], "neither the number nor the id"),
        (["fork", "garden", "garden", "--at", "1"], "give it another name"),
    ] {
        let refused = bed.run(&args);
        assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    assert_eq!(bed.run(&["show", "what if", "--around", "1"]).code, 2);
    bed.json(&["forget", "--session", "garden"]);
    let words = bed.run(&["show", "what if"]).stdout;
    assert!(words.contains("the past that it shared with garden is gone"), "{words}");
    assert_eq!(bed.run(&["context", "How often?", "--session", "what if"]).code, 3);
}

#[test]
fn an_export_of_a_branch_alone_says_that_its_past_is_not_in_it() {
    let bed = branched();
    let whole = bed.run(&["export"]);
    assert_eq!((whole.code, whole.complaints().as_str()), (0, ""));
    let alone = bed.run(&["export", "--session", "what if"]);
    assert_eq!(alone.code, 0);
    assert!(alone.stderr.contains("the past that it shares with garden is not in this export"), "{}", alone.stderr);
    let past = bed.run(&["export", "--session", "garden"]);
    assert_eq!((past.code, past.complaints().as_str()), (0, ""));
    // Both together are whole again, and the row that begins the branch is no instruction.
    let other = Bed::new();
    let imported = other.run_with(&["import", "-"], alone.stdout.as_bytes());
    assert!(imported.stderr.contains("with 0 instructions"), "{}", imported.stderr);
    assert_eq!(other.run_with(&["import", "-"], past.stdout.as_bytes()).code, 0);
    assert_eq!(other.json(&["show", "what if"]), bed.json(&["show", "what if"]));
}

#[test]
fn exports_and_moves_take_branches_along() {
    let bed = branched();
    let file = bed.file("export.jsonl", bed.run(&["export"]).stdout);
    let imported = Bed::new();
    assert_eq!(imported.json(&["import", &file])["rejected"], 0);
    let moved = Bed::new();
    let mut command = bed.bare();
    command.args(["--tenant", "acme", "--subject", "ada", "move", "--from"]).arg(bed.database());
    assert_eq!(answer(command.arg("--to").arg(moved.database()), b"").code, 0);
    for other in [&imported, &moved] {
        assert_eq!(other.json(&["show", "what if"]), bed.json(&["show", "what if"]));
        let lines = |bed: &Bed| bed.run(&["export"]).stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(other), lines(&bed));
    }
}
