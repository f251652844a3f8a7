//! Search by meaning through the embedders inside the program.

use std::process::Stdio;

use memory::Settings;
use serde_json::Value;

use crate::support::{Answer, Bed, answer, said};

const QUESTION: &str = "am I lactose intolerant";

/// Talk of which one message answers the question without a word of it.
fn talk() -> String {
    let texts = [
        "Milk and cheese upset my stomach",
        "The train to Berlin leaves at nine",
        "Please book two seats for the opera",
        "My bicycle has a flat tyre again",
    ];
    texts.iter().enumerate().map(|(minute, text)| said("talk", minute, "user", text)).collect()
}

/// Runs a command; with an empty name nobody says who embeds.
fn run(bed: &Bed, embedder: &str, args: &[&str]) -> Answer {
    let mut command = bed.command();
    match embedder {
        "" => command.env_remove("MEMORY_EMBEDDER"),
        embedder => command.env("MEMORY_EMBEDDER", embedder),
    };
    answer(command.arg("--json").args(args), b"")
}

fn found(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let text = |hit: &Value| hit["text"].as_str().unwrap().to_owned();
    answer.json()["hits"].as_array().unwrap().iter().map(text).collect()
}

/// Returns how many hits by meaning a search has.
fn by_meaning(bed: &Bed, embedder: &str) -> Value {
    let search = run(bed, embedder, &["search", "milk", "--explain"]);
    assert_eq!(search.code, 0, "{}", search.stderr);
    search.json()["receipt"]["vector_candidates"].clone()
}

/// Returns the indexes of meaning that follow the database, with the notes that they lack, as truth tells without any work on them.
fn indexes(bed: &Bed) -> Vec<(String, u64)> {
    let read = async {
        let stores = Settings::new(bed.database().to_str().unwrap()).without_embedder().connect().await?;
        let truth = stores.chat()?.upkeep();
        let mut found = Vec::new();
        for index in truth.indexes().await?.into_iter().filter(|index| index.name.is_of_meaning()) {
            found.push((index.name.as_str().to_owned(), truth.backlog(&index.name).await?.pending));
        }
        stores.close().await?;
        Ok::<_, memory::Error>(found)
    };
    tokio::runtime::Runtime::new().unwrap().block_on(read).unwrap()
}

/// Begins a change of the embedder, and kills it when an index lacks some notes, and `most` at the most.
fn change_and_kill(bed: &Bed, to: &str, most: u64) {
    let mut command = bed.command();
    command.args(["reindex", "--embedder", to]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !indexes(bed).iter().any(|(_, lacking)| (1..=most).contains(lacking)) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Asserts that a question finds what answers it, alone and in a context, though no word of the one is in the other.
fn finds_what_answers_without_a_word_in_common(embedder: &str) {
    let bed = Bed::new();
    let file = bed.file("talk.jsonl", talk());
    assert_eq!(run(&bed, embedder, &["import", &file]).code, 0);
    assert_eq!(found(&run(&bed, "none", &["search", QUESTION])), [""; 0]);
    let search = run(&bed, embedder, &["search", QUESTION, "--explain"]);
    assert_eq!(found(&search)[0], "Milk and cheese upset my stomach");
    assert_eq!(search.json()["receipt"]["vector_candidates"], 4);
    let context = run(&bed, embedder, &["context", QUESTION, "--session", "another"]);
    assert!(context.stdout.contains("Milk and cheese"), "{}", context.stdout);
}

#[cfg(not(feature = "local"))]
#[test]
fn a_build_without_the_transformer_says_how_to_get_it() {
    let bed = Bed::new();
    bed.json(&["remember", "one"]);
    let answer = bed.run(&["--embedder", "local", "search", "x"]);
    assert!(answer.refused(2).contains("--features local"), "{}", answer.stderr);
}

#[cfg(not(feature = "http-models"))]
#[test]
fn a_build_without_models_over_http_says_how_to_get_them() {
    let bed = Bed::new();
    bed.json(&["remember", "one"]);
    let answer = bed.run(&["--embedder", "ollama", "search", "x"]);
    assert!(answer.refused(2).contains("--features http-models"), "{}", answer.stderr);
    let answer = bed.run(&["chat", "--model", "m", "--base-url", "http://127.0.0.1:1"]);
    assert!(answer.refused(2).contains("--features http-models"), "{}", answer.stderr);
}

#[cfg(feature = "static")]
mod table {
    use super::*;

    #[test]
    fn what_is_nearly_the_same_is_told_again_if_so_asked() {
        let bed = Bed::new();
        let remember = |text: &str| run(&bed, "", &["remember", text, "--novelty", "0.18"]).json();
        let first = remember("The key is under the mat.");
        let again = remember("the key is still under the mat");
        assert_eq!((&again["id"], &again["outcome"]), (&first["id"], &"reinforced".into()));
        assert!(again["novelty"].as_f64().unwrap() < 0.18, "{again}");
        assert_eq!(remember("The key is under the 2 mats")["outcome"], "stored");
        assert_eq!(remember("Charlie has a boat")["outcome"], "stored");
    }

    /// Many messages: a session that is indexed at once, and five longer ones.
    fn long_talk() -> String {
        (0..6_000).map(|n| said(&format!("s{}", if n < 200 { 0 } else { 1 + n % 5 }), n, "user", &text(n))).collect()
    }

    fn text(n: usize) -> String {
        format!("message word{n} of a conversation about boats, bread and weather")
    }

    #[test]
    fn a_question_finds_what_answers_it_without_a_word_in_common_by_default() {
        finds_what_answers_without_a_word_in_common("");
    }

    #[test]
    fn a_database_made_without_vectors_is_searched_by_words_and_gets_its_vectors() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "none", &["import", &file]).code, 0);
        let first = run(&bed, "", &["search", "opera"]);
        assert_eq!(found(&first)[0], "Please book two seats for the opera");
        assert!(first.stderr.contains("1 note is not indexed yet"), "{}", first.stderr);
        assert_eq!(first.json()["pending"], 1);
        let second = run(&bed, "", &["search", QUESTION]);
        assert_eq!(found(&second)[0], "Milk and cheese upset my stomach");
        assert_eq!((second.complaints().as_str(), &second.json()["pending"]), ("", &0.into()));
    }

    #[test]
    fn vectors_that_a_kill_kept_from_being_made_are_made_by_later_commands() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", long_talk());
        assert_eq!(run(&bed, "none", &["import", &file]).code, 0);
        change_and_kill(&bed, "static", 5);
        let [(_, lacking)] = &indexes(&bed)[..] else { panic!("{:?}", indexes(&bed)) };
        assert!((1..6).contains(lacking), "what was done is not done again: {lacking}");
        assert_eq!(found(&run(&bed, "none", &["search", "word77", "-k", "1"])), [text(77)]);
        assert_eq!(run(&bed, "", &["search", "word77"]).code, 0);
        assert!(matches!(indexes(&bed)[..], [(_, 0)]));
        assert_eq!(run(&bed, "", &["search", "boats", "--explain"]).json()["pending"], 0);
    }

    #[test]
    fn a_file_that_is_only_read_is_searched_by_its_words() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "none", &["import", &file]).code, 0);
        let url = format!("sqlite:{}?mode=ro", bed.database().display());
        let mut command = bed.bare();
        command.env_remove("MEMORY_EMBEDDER").args(["--db", &url, "--tenant", "acme", "--subject", "ada"]);
        let search = answer(command.args(["--json", "search", "opera"]), b"");
        assert_eq!(found(&search)[0], "Please book two seats for the opera");
    }

    #[test]
    fn who_wants_no_vectors_any_more_has_them_dropped_in_one_command() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "", &["import", &file]).code, 0);
        let [(index, 0)] = &indexes(&bed)[..] else { panic!("{:?}", indexes(&bed)) };
        let changed = run(&bed, "", &["reindex", "--embedder", "none"]).json();
        assert_eq!(changed, serde_json::json!({ "index": null, "pending": 0, "retired": [index] }));
        let forgotten = run(&bed, "none", &["forget", "--session", "talk"]);
        assert_eq!((forgotten.code, &forgotten.json()["complete"]), (0, &true.into()), "no index of meaning is left");
    }

    #[test]
    fn an_embedder_in_the_environment_changes_nothing_when_indexes_are_filled_again() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "", &["import", &file]).code, 0);
        let without = run(&bed, "none", &["reindex"]);
        let [(index, _)] = &indexes(&bed)[..] else { panic!("{:?}", indexes(&bed)) };
        assert_eq!((without.code, &without.json()["not_open"]), (3, &serde_json::json!([index])));
        let with = run(&bed, "", &["reindex"]);
        assert_eq!((with.code, &with.json()["not_open"]), (0, &serde_json::json!([])), "{}", with.stderr);
        let both = run(&bed, "", &["reindex", "--embedder", "static", "--index", "text/english"]);
        assert!(both.refused(2).contains("give one of them"), "{}", both.stderr);
    }
}

#[cfg(all(feature = "local", feature = "static"))]
mod transformer {
    use super::*;

    #[test]
    fn a_question_finds_what_answers_it_without_a_word_in_common() {
        finds_what_answers_without_a_word_in_common("local");
    }

    #[test]
    fn a_database_made_without_it_says_that_it_is_behind_and_is_then_embedded() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "none", &["import", &file]).code, 0);
        let first = run(&bed, "local", &["search", QUESTION]);
        assert_eq!(found(&first), [""; 0]);
        assert!(first.stderr.contains("1 note is not indexed yet"), "{}", first.stderr);
        assert_eq!(first.json()["pending"], 1);
        let second = run(&bed, "local", &["search", QUESTION]);
        assert_eq!(found(&second)[0], "Milk and cheese upset my stomach");
        assert_eq!(second.complaints(), "");
    }

    #[test]
    fn what_is_forgotten_without_it_is_not_found_with_it() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "local", &["import", &file]).code, 0);
        let forgotten = run(&bed, "none", &["forget", "--session", "talk"]);
        let (code, receipt) = (forgotten.code, forgotten.json());
        assert_eq!((code, &receipt["complete"]), (3, &false.into()), "{receipt}");
        let unasked = receipt["unasked"][0]["index"].as_str().unwrap();
        assert!(unasked.starts_with("vector/"), "{unasked}");
        assert_eq!(found(&run(&bed, "local", &["search", QUESTION])), [""; 0]);
        assert_eq!(run(&bed, "local", &["search", QUESTION]).json()["pending"], 0);
    }

    #[test]
    fn the_old_embedder_answers_until_the_index_of_the_new_one_is_full() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "static", &["import", &file]).code, 0);
        let [(old, 0)] = &indexes(&bed)[..] else { panic!("{:?}", indexes(&bed)) };
        change_and_kill(&bed, "local", 1);
        let before = run(&bed, "", &["search", QUESTION, "--explain"]);
        assert_eq!(found(&before)[0], "Milk and cheese upset my stomach");
        assert_eq!(
            before.json()["receipt"]["vector_candidates"],
            4,
            "the full index answers, though that of the other is empty"
        );
        let changed = run(&bed, "", &["reindex", "--embedder", "local"]).json();
        assert_eq!((&changed["pending"], &changed["retired"]), (&0.into(), &serde_json::json!([old])));
        let left = indexes(&bed);
        assert!(left.len() == 1 && left[0].0 != *old && left[0].1 == 0, "{left:?}");
        assert_eq!(by_meaning(&bed, ""), 4, "who says nothing has the embedder of the database");
    }
}
