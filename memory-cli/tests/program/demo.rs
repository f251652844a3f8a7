//! The demo shows the main job in one command, twice alike, and what it proposes works.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Bed, answer};

#[test]
fn the_demo_loads_the_sample_asks_it_and_shows_contexts_within_their_budgets() {
    let bed = Bed::new();
    let demo = answer(bed.bare().args(["demo", "--json"]), b"");
    assert_eq!((demo.code, demo.complaints().as_str()), (0, ""));
    let value = demo.json();
    assert_eq!((&value["already"], &value["tenant"], &value["subject"]), (&json!(0), &json!("demo"), &json!("ines")));
    assert!(value["added"].as_u64().unwrap() > 200);
    let file = Path::new(value["file"].as_str().unwrap());
    assert!(file.starts_with(bed.path("")) && file.ends_with("memory/demo.sqlite") && file.is_file());
    let questions = value["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 7);
    let answered = questions[..6].iter().filter(|question| question["answered_at"].is_number()).count();
    assert!(answered >= 5, "{answered} of 6 questions find their answer among three hits");
    for context in value["contexts"].as_array().unwrap() {
        let (budget, tokens) = (&context["budget"], &context["receipt"]["tokens"]);
        assert!(tokens["total"].as_u64().unwrap() <= budget.as_u64().unwrap());
        assert!(tokens["recalled"].as_u64().unwrap() > 0 && tokens["history"].as_u64().unwrap() > 0);
        assert_eq!(context["messages"].as_array().unwrap().last().unwrap()["content"], context["query"]);
    }
    let again = answer(bed.bare().args(["demo", "--json"]), b"").json();
    assert_eq!((&again["added"], &again["already"]), (&json!(0), &value["added"]));
    assert_eq!(again["questions"], value["questions"]);
}

#[cfg(feature = "static")]
#[test]
fn the_demo_answers_a_question_by_meaning_alone() {
    let bed = Bed::new();
    let demo = answer(bed.bare().env_remove("MEMORY_EMBEDDER").args(["demo", "--json"]), b"");
    assert_eq!((demo.code, demo.complaints().as_str()), (0, ""));
    let question = demo.json()["questions"][6].clone();
    let place = question["answered_at"].as_u64().unwrap() as usize;
    let signals = &question["hits"][place - 1]["signals"];
    assert_eq!(signals["text_rank"], Value::Null, "{signals}");
    assert!(signals["vector_rank"].is_number(), "{signals}");
}

#[test]
fn the_demo_in_words_says_where_the_file_is_and_what_to_try_next() {
    let bed = Bed::new();
    let mut command = bed.bare();
    // The demo is nobody's data: what the environment says of database and owner does not concern it.
    command.env("MEMORY_URL", "postgres://nowhere").env("MEMORY_TENANT", "acme").env("MEMORY_SUBJECT", "ada");
    let demo = answer(command.arg("demo"), b"");
    assert_eq!((demo.code, demo.complaints().as_str()), (0, ""));
    for part in ["<- holds the answer", "-- receipt", "left out  ", "Try next:", "memory/demo.sqlite"] {
        assert!(demo.stdout.contains(part), "{part}: {}", demo.stdout);
    }
}

#[cfg(unix)]
#[test]
fn the_commands_that_the_demo_proposes_work_when_they_are_pasted() {
    let bed = Bed::new();
    let database = bed.path("a folder's demo.sqlite");
    let value = answer(bed.bare().args(["demo", "--json", "--db"]).arg(&database), b"").json();
    let next = value["next"].as_array().unwrap();
    assert_eq!(next.len(), 3);
    for command in next {
        let done = answer(
            Command::new("sh").arg("-c").arg(command.as_str().unwrap()).env_clear().env("MEMORY_EMBEDDER", "none"),
            b"",
        );
        assert_eq!((done.code, done.complaints().as_str()), (0, ""), "{command}");
        assert!(
            done.stdout.lines().count() > 3 && !done.stdout.contains("nothing found"),
            "{command}: {}",
            done.stdout
        );
    }
}

#[test]
fn the_demo_proposes_nothing_over_a_database_that_is_gone_when_it_ends() {
    let bed = Bed::new();
    let demo = answer(bed.bare().args(["demo", "--db", "memory:"]), b"");
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert!(demo.stdout.ends_with("Nothing of it was kept: the database was in this process.\n"), "{}", demo.stdout);
    let demo = answer(bed.bare().args(["demo", "--json", "--db", "memory:"]), b"");
    assert_eq!(demo.json()["next"], json!([]));
}
