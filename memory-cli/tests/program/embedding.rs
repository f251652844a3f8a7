//! Search by meaning through the model inside the program, where it is built in.

#[cfg(not(feature = "local"))]
#[test]
fn a_build_without_the_model_says_how_to_get_it() {
    let bed = crate::support::Bed::new();
    bed.json(&["remember", "one"]);
    let answer = bed.run(&["--embedder", "local", "search", "x"]);
    assert!(answer.refused(2).contains("--features local"), "{}", answer.stderr);
}

#[cfg(feature = "local")]
mod local {
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

    fn run(bed: &Bed, embedder: &str, args: &[&str]) -> Answer {
        answer(bed.command().env("MEMORY_EMBEDDER", embedder).arg("--json").args(args), b"")
    }

    fn found(answer: &Answer) -> Vec<String> {
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let text = |hit: &Value| hit["text"].as_str().unwrap().to_owned();
        answer.json()["hits"].as_array().unwrap().iter().map(text).collect()
    }

    #[test]
    fn a_question_finds_what_answers_it_without_a_word_in_common() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "local", &["import", &file]).code, 0);
        assert_eq!(found(&run(&bed, "none", &["search", QUESTION])), [""; 0]);
        let search = run(&bed, "local", &["search", QUESTION, "--explain"]);
        assert_eq!(found(&search)[0], "Milk and cheese upset my stomach");
        assert_eq!(search.json()["receipt"]["vector_candidates"], 4);
        let context = run(&bed, "local", &["context", QUESTION, "--session", "another"]);
        assert!(context.stdout.contains("Milk and cheese"), "{}", context.stdout);
    }

    #[test]
    fn a_database_made_without_it_says_that_it_is_behind_and_is_then_embedded() {
        let bed = Bed::new();
        let file = bed.file("talk.jsonl", talk());
        assert_eq!(run(&bed, "none", &["import", &file]).code, 0);
        let first = run(&bed, "local", &["search", QUESTION]);
        assert_eq!(found(&first), [""; 0]);
        assert!(first.stderr.contains("1 notes are not indexed yet"), "{}", first.stderr);
        assert_eq!(first.json()["pending"], 1);
        let second = run(&bed, "local", &["search", QUESTION]);
        assert_eq!(found(&second)[0], "Milk and cheese upset my stomach");
        assert_eq!(second.stderr, "");
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
}
