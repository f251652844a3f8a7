//! Recall on sets, measured by the program: small ones of our own text in the layouts of the field.

use serde_json::{Value, json};

use crate::support::{Bed, answer};

fn locomo() -> String {
    let turn = |id: &str, speaker: &str, text: &str| json!({ "dia_id": id, "speaker": speaker, "text": text });
    let first = json!([
        turn("D1:1", "Ada", "I planted a rose called Aurora by the gate."),
        turn("D1:2", "Bob", "Lovely. My bicycle has a flat tyre again."),
    ]);
    let second = json!([
        turn("D2:1", "Ada", "The choir sings in Leeds on Friday."),
        turn("D2:2", "Bob", "I bought a blue kayak yesterday."),
    ]);
    let asked = |question: &str, category: u8, evidence: &str| json!({ "question": question, "category": category, "evidence": [evidence], "answer": "" });
    let qa = json!([
        asked("What did Bob buy?", 4, "D2:2"),
        asked("Which rose did Ada plant?", 4, "D1:01; nothing"),
        asked("Where does the choir sing?", 2, "D:2:1"),
        asked("What colour is the kayak of Ada?", 5, "D2:2"),
        asked("Evidence that is nowhere", 1, "D9:9"),
    ]);
    let conversation = json!({
        "speaker_a": "Ada", "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": first,
        "session_2_date_time": "2:10 pm on 9 June, 2023", "session_2": second,
    });
    json!([{ "sample_id": "conv-1", "conversation": conversation, "qa": qa }]).to_string()
}

/// Returns the scores of a row of a table.
fn scores(answer: &Value, unit: &str, group: &str) -> Value {
    let tables = answer["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["unit"] == unit).unwrap();
    let row = table["rows"].as_array().unwrap().iter().find(|row| row["group"] == group).unwrap();
    row["scores"].clone()
}

#[test]
fn questions_are_counted_by_category_and_two_runs_print_the_same() {
    let bed = Bed::new();
    let file = bed.file("locomo.json", locomo());
    let run = |args: &[&str]| answer(bed.bare().args(["eval", "locomo", &file]).args(args), b"");
    let first = run(&["--json"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout, run(&["--json"]).stdout);
    assert_eq!(run(&[]).stdout, run(&[]).stdout);
    let found = first.json();
    assert_eq!(found["tables"][0]["legs"], "text");
    let headline = scores(&found, "turns", "categories 1-4");
    assert_eq!(headline["questions"], 3, "evidence that names no turn leaves its question out");
    assert_eq!(headline["recall_at_5"], 100.0);
    assert_eq!(headline["mrr"], 100.0);
    assert_eq!(scores(&found, "turns", "all five categories")["questions"], 4);
    assert_eq!(scores(&found, "turns", "1 multi-hop")["questions"], 0);
    assert_eq!(scores(&found, "sessions", "2 temporal")["hit_at_5"], 100.0);
    assert!(!bed.database().exists(), "nothing is written unless a database is named");
}

#[test]
fn a_database_that_is_named_gives_the_same_figures_and_keeps_nothing() {
    let bed = Bed::new();
    let file = bed.file("locomo.json", locomo());
    let here = answer(bed.bare().args(["--json", "eval", "locomo", &file]), b"");
    let there = answer(bed.bare().arg("--db").arg(bed.database()).args(["--json", "eval", "locomo", &file]), b"");
    assert_eq!(there.code, 0, "{}", there.stderr);
    assert_eq!(here.stdout, there.stdout);
    let stats = answer(
        bed.bare()
            .arg("--db")
            .arg(bed.database())
            .args(["--json", "--tenant", "memory-eval", "--subject", "conv-1"])
            .arg("stats"),
        b"",
    );
    assert_eq!(stats.json()["owner"]["messages"], 0, "{}", stats.stdout);
}

#[test]
fn indexes_that_an_earlier_run_has_used_give_the_same_figures() {
    let bed = Bed::new();
    let file = bed.file("locomo.json", locomo());
    let run = || answer(bed.bare().env("MEMORY_TEXT_URL", "sqlite:index.sqlite").args(["eval", "locomo", &file]), b"");
    let first = run();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout, run().stdout);
}

#[test]
fn sessions_and_turns_of_longmemeval_are_found_and_questions_without_answer_left_out() {
    let bed = Bed::new();
    let turn = |role: &str, content: &str, has_answer: bool| json!({ "role": role, "content": content, "has_answer": has_answer });
    let asked = |id: &str, question: &str, session: &str| {
        json!({
            "question_id": id, "question_type": "single-session-user", "question": question, "answer": "",
            "question_date": "2023/05/30 (Tue) 10:00", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "answer_session_ids": [session], "haystack_session_ids": [session],
            "haystack_sessions": [[
                turn("user", &format!("I keep the spare key of {session} under the pot."), true),
                turn("assistant", "Noted.", false),
            ]],
        })
    };
    let set = json!([
        asked("q1", "Where is the spare key of answer_one?", "answer_one_1"),
        asked("q2", "Where is the spare key of answer_two?", "answer_two_1"),
        asked("q3_abs", "Where is the spare key of nobody?", "answer_three_1"),
    ]);
    let file = bed.file("set.json", set.to_string());
    let found = answer(bed.bare().args(["--json", "eval", "longmemeval", &file]), b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    let all = scores(&found.json(), "sessions", "all questions");
    assert_eq!((all["questions"].clone(), all["hit_at_5"].clone()), (json!(2), json!(100.0)));
    assert!(found.json()["notes"][0].as_str().unwrap().contains("not LongMemEval_S"));
}

#[test]
fn the_sample_is_in_the_program_and_most_answers_are_found() {
    let found = answer(Bed::new().bare().args(["--json", "eval", "sample"]), b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    let turns = scores(&found.json(), "turns", "all questions");
    assert_eq!(turns["questions"], 24);
    assert!(turns["hit_at_20"].as_f64().unwrap() > 80.0, "{turns}");
}

#[cfg(feature = "static")]
#[test]
fn what_is_asked_in_other_words_is_found_by_meaning_and_hardly_by_words() {
    let chats = concat!(env!("CARGO_MANIFEST_DIR"), "/chats/other-words");
    let found = answer(Bed::new().bare().args(["--json", "--embedder", "static", "eval", "chat", chats]), b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    let tables = found.json()["tables"].as_array().unwrap().clone();
    let of_forty = |(unit, legs): (&str, &str)| {
        let table = tables.iter().find(|table| table["unit"] == unit && table["legs"] == legs).unwrap();
        let all = &table["rows"][0]["scores"];
        assert_eq!(all["questions"], 40);
        (all["hit_at_5"].as_f64().unwrap() * 0.4).round()
    };
    let [words, meaning] = [("turns", "text"), ("turns", "vector")].map(of_forty);
    assert!(words <= 12.0 && meaning >= 28.0, "{words}, {meaning}");
    // What a search finds among five, a context of a new conversation recalls.
    let [found, recalled] = [("turns", "text + vector"), ("recalled", "text + vector")].map(of_forty);
    assert_eq!(recalled, found);
}

#[test]
fn questions_of_longmemeval_are_asked_when_the_set_says() {
    let bed = Bed::new();
    let said = |id: &str, date: &str| {
        json!({
            "question_id": id, "question_type": "temporal-reasoning", "question": "Which concert was it two weeks ago?",
            "answer": "", "question_date": "2023/05/30 (Tue) 10:00", "haystack_dates": [date],
            "answer_session_ids": [id], "haystack_session_ids": [id],
            "haystack_sessions": [[{ "role": "user", "content": "I went to a concert.", "has_answer": true }]],
        })
    };
    let set = json!([
        said("s_1", "2023/05/16 (Tue) 09:00"),
        said("t_abs", "2023/05/26 (Fri) 09:00"),
        said("u_abs", "2023/05/02 (Tue) 09:00")
    ]);
    let file = bed.file("set.json", set.to_string());
    let found = answer(bed.bare().args(["--json", "eval", "longmemeval", &file]), b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert_eq!(scores(&found.json(), "turns", "all questions")["mrr"], 100.0);
}

#[test]
fn wrong_calls_say_what_is_missing() {
    let bed = Bed::new();
    let file = bed.file("locomo.json", locomo());
    let run = |args: &[&str]| answer(bed.bare().args(["eval", "locomo"]).args(args), b"");
    assert!(run(&[]).refused(2).contains("give its file"));
    assert!(answer(bed.bare().args(["eval", "sample", &file]), b"").refused(2).contains("give no file"));
    assert!(run(&["nowhere.json"]).refused(2).contains("nowhere.json"));
    assert!(run(&[&file, "--legs", "vector"]).refused(2).contains("--vectors"));
    let other = bed.file("other.json", "[]");
    assert!(run(&[&other]).refused(2).contains("no conversation"));
}
