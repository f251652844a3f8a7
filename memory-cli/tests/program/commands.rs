//! Every command as it is meant to be used, in words and as JSON.

use serde_json::{Value, json};

use crate::support::{Bed, answer, conversations, said};

fn filled() -> Bed {
    let bed = Bed::new();
    bed.import(&conversations());
    bed
}

fn texts(found: &Value) -> Vec<&str> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

/// Returns the names of a JSON object's members.
fn members(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn options_stand_before_or_after_the_command_or_in_the_environment() {
    let bed = filled();
    let database = bed.database();
    let owner = ["--tenant", "acme", "--subject", "ada"];
    let after = answer(bed.bare().args(["sessions", "--json", "--db"]).arg(&database).args(owner), b"");
    let mut command = bed.bare();
    command.env("MEMORY_URL", &database).env("MEMORY_TENANT", "acme").env("MEMORY_SUBJECT", "ada");
    let environment = answer(command.args(["sessions", "--json"]), b"");
    assert_eq!(bed.json(&["sessions"]), after.json());
    assert_eq!(after.json(), environment.json());
    command.args(["--subject", "ben"]);
    assert_eq!(answer(&mut command, b"").json()["sessions"], json!([]));
}

#[test]
fn a_variable_that_is_set_to_nothing_says_nothing() {
    let bed = Bed::new();
    let mut command = bed.bare();
    command.env("MEMORY_CONFIG", "").env("MEMORY_EMBEDDER", "");
    command.args(["--tenant", "acme", "--subject", "ada", "--json", "stats"]);
    let stats = answer(&mut command, b"");
    assert_eq!(stats.code, 0, "{}", stats.stderr);
    assert!(stats.json()["file"].as_str().unwrap().ends_with("memory.sqlite"));
    let nobody = answer(bed.bare().env("MEMORY_TENANT", " ").env("MEMORY_SUBJECT", "ada").arg("sessions"), b"");
    assert!(nobody.refused(2).contains("say whose memory this is"));
    #[cfg(feature = "server")]
    {
        let tokens = answer(bed.bare().env("MEMORY_TOKENS", "").args(["--json", "token", "list"]), b"");
        assert_eq!(tokens.json()["tokens"], json!([]));
        let mut serve = bed.bare();
        serve.env("MEMORY_LISTEN", "").env("MEMORY_BEHIND_PROXY", "");
        serve.args(["serve", "--tokens", &bed.file("tokens", "[]")]);
        assert!(answer(&mut serve, b"").refused(2).contains("the file of tokens"), "it has no other fault");
    }
}

#[test]
fn a_database_whose_variable_is_set_to_nothing_is_not_taken_for_the_one_in_the_data_folder() {
    let bed = Bed::new();
    let told = |url: &str, args: &[&str]| {
        let mut command = bed.bare();
        command.env("MEMORY_URL", url).args(["--tenant", "acme", "--subject", "ada"]).args(args);
        answer(&mut command, b"")
    };
    for url in ["", " "] {
        assert!(told(url, &["remember", "likes tea"]).refused(2).contains("MEMORY_URL is set to nothing"));
    }
    assert!(!bed.path("memory").exists());
    assert_eq!(told("", &["--db", "here.sqlite", "remember", "likes tea"]).code, 0);
}

#[test]
fn the_default_database_lies_in_the_data_folder_and_stats_shows_it() {
    let bed = Bed::new();
    let owner = ["--tenant", "acme", "--subject", "ada"];
    let stats = answer(bed.bare().args(["stats", "--json"]).args(owner), b"").json();
    let file = std::path::Path::new(stats["file"].as_str().unwrap());
    assert!(file.starts_with(bed.path("")) && file.is_file() && file.ends_with("memory/memory.sqlite"), "{file:?}");
}

#[test]
fn sessions_are_listed_with_their_sizes() {
    let bed = filled();
    let list = bed.json(&["sessions"]);
    let garden = list["sessions"].as_array().unwrap().iter().find(|one| one["session"] == "garden").unwrap();
    assert_eq!((&garden["messages"], &garden["window_messages"]), (&json!(5), &json!(5)));
    assert_eq!(garden["last_at"], "2025-03-02T10:04:00Z");
    assert_eq!(members(garden), ["last_at", "messages", "session", "title", "window_messages", "window_tokens"]);
    let words = bed.run(&["sessions"]).stdout;
    assert!(words.contains("  2025-03-02 10:04, 5 messages, garden\n") && words.ends_with("2 sessions\n"), "{words}");
}

#[test]
fn search_finds_messages_and_records_and_explains_itself() {
    let bed = filled();
    bed.json(&["remember", "Charlie keeps parcels at the neighbour's", "--kind", "preference", "--tag", "post"]);
    let found = bed.json(&["search", "the parcel", "-k", "5"]);
    assert_eq!(texts(&found).len(), 3);
    assert_eq!((&found["degraded"], &found["pending"]), (&json!([]), &json!(0)));
    let (units, id) = (found["hits"].as_array().unwrap(), &found["hits"][0]["id"]);
    assert!(units.iter().any(|hit| hit["unit"] == "record" && hit["tags"] == json!(["post"])));
    assert!(units.iter().any(|hit| hit["unit"] == "message" && hit["seq"] == 1 && hit["role"] == "user"));
    assert!(id.as_str().unwrap().len() == 36 && found.get("receipt").is_none());
    assert!(bed.json(&["search", "the parcel", "--explain"])["receipt"]["terms"].is_array());
    let words = bed.run(&["search", "e-4471-b", "--explain"]).stdout;
    assert!(words.contains("2025-03-01 00:10  user  chat_history #1") && words.contains("(place 1)"), "{words}");
    assert_eq!(bed.run(&["search", "zebra"]).stdout, "nothing found\n");
}

#[test]
fn hits_are_shown_whatever_width_the_screen_is_said_to_have() {
    let bed = filled();
    for columns in ["0", "1", "20", "100000", "18446744073709551615", "wide"] {
        let shown = answer(bed.command().env("COLUMNS", columns).args(["search", "parcel"]), b"");
        assert!(shown.code == 0 && shown.stdout.contains("E-4471-B"), "{columns}: {}", shown.stderr);
    }
}

#[test]
fn search_is_narrowed_by_filter_kind_session_and_time() {
    let bed = filled();
    bed.json(&["remember", "tomatoes like sun", "--session", "garden"]);
    let found = |args: &[&str]| {
        let found = bed.json(&[&["search", "tomatoes parcel"], args].concat());
        let hits = found["hits"].as_array().unwrap().clone();
        assert!(!hits.is_empty(), "{args:?}");
        hits
    };
    // The system message of the file is no answer.
    assert_eq!(found(&[]).len(), 7);
    assert!(found(&["--session", "garden"]).iter().all(|hit| hit["session"] == "garden"));
    assert!(found(&["--kind", "record"]).iter().all(|hit| hit["unit"] == "record"));
    assert!(found(&["--kind", "message"]).iter().all(|hit| hit["unit"] == "message"));
    assert_eq!(found(&["--filter", "role = user"]).len(), 2);
    let late = found(&["--filter", "role = user and at >= 2025-03-02"]);
    assert_eq!((late.len(), &late[0]["session"]), (1, &json!("garden")));
    assert!(found(&["--as-of", "2025-03-01T12:00:00Z"]).iter().all(|hit| hit["session"] == "chat_history"));
    assert_eq!(found(&["-k", "1"]).len(), 1);
}

#[test]
fn a_context_is_chat_json_with_a_receipt_and_keeps_its_budget() {
    let bed = filled();
    let context = bed.json(&["context", "Where is my parcel?", "--budget", "400"]);
    let messages = context["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap(), &json!({"role": "user", "content": "Where is my parcel?"}));
    assert!(messages.iter().any(|message| message["content"].as_str().unwrap().contains("E-4471-B")));
    let tokens = &context["receipt"]["tokens"];
    assert_eq!(tokens["limit"], 400);
    assert!(tokens["total"].as_u64().unwrap() <= 400);
    assert_eq!(members(&context), ["messages", "pending", "receipt"]);
    assert_eq!(bed.json(&["context"])["receipt"]["tokens"]["limit"], 3_000);
    let unknown = bed.run(&["context", "--session", "gardn"]);
    let note = "note: there is no session gardn; did you mean garden?\n";
    assert_eq!((unknown.code, unknown.complaints().as_str()), (0, note));
    let gpt = bed.json(&["context", "--model", "gpt-4o"]);
    assert_eq!(gpt["receipt"]["tokens"]["limit"], 96_000);
    let unknown = bed.run(&["context", "--model", "of-my-own", "--json"]);
    assert!(unknown.stderr.contains("of-my-own") && unknown.json()["receipt"]["tokens"]["limit"] == 3_000);
    assert_eq!(bed.json(&["context", "--budget", "400", "--reserve", "100"])["receipt"]["tokens"]["reserved"], 100);
}

#[test]
fn a_context_in_words_says_what_went_in_and_why() {
    let bed = filled();
    let words = bed.run(&["--session", "garden", "context", "Is there a parcel?", "--budget", "300"]).stdout;
    for part in [
        "[system] You help",
        "[tool] rain",
        "[user, query] Is there a parcel?",
        "recalled]",
        "-- receipt",
        "window    5 of 5",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let bare = bed.json(&["--session", "garden", "context", "Is there a parcel?", "--recall", "0"]);
    assert_eq!(bare["receipt"]["tokens"]["recalled"], 0);
}

#[test]
fn a_fact_told_twice_is_one_record_and_a_short_life_is_kept() {
    let bed = Bed::new();
    let first = bed.json(&["remember", "The key is under the mat.", "--importance", "0.9"]);
    assert_eq!((&first["outcome"], &first["version"]), (&json!("stored"), &json!(1)));
    assert_eq!(first["durability"], "committed");
    let again = bed.json(&["remember", "the key is under the mat"]);
    assert_eq!((&again["outcome"], &again["id"]), (&json!("reinforced"), &first["id"]));
    let id = "018f0000-0000-7000-8000-0000000000aa";
    assert_eq!(bed.json(&["remember", "The lamp is on.", "--id", id, "--ttl", "1h"])["id"], id);
    assert!(bed.run(&["remember", "The lamp is off.", "--id", id]).refused(2).contains("taken by other content"));
    assert!(bed.run(&["remember", "The lamp is on.", "--id", id]).stdout.starts_with("known already: 018f0000"));
}

#[test]
fn stats_tell_file_indexes_and_what_the_owner_has() {
    let bed = filled();
    bed.json(&["remember", "one"]);
    let stats = bed.json(&["stats"]);
    assert_eq!(members(&stats), ["bytes", "file", "indexes", "owner", "schema", "stores", "url"]);
    let owner = &stats["owner"];
    assert_eq!(members(owner), ["messages", "records", "sessions", "subject", "tenant", "window_tokens"]);
    assert_eq!((&owner["sessions"], &owner["messages"], &owner["records"]), (&json!(2), &json!(7), &json!(1)));
    assert_eq!(stats["stores"][0]["durability"], "committed");
    assert_eq!((&stats["indexes"][0]["pending"], &stats["indexes"][0]["dead"]), (&json!(0), &json!(0)));
    assert!(stats["schema"].as_u64().unwrap() > 0);
    let words = bed.run(&["stats"]).stdout;
    assert!(words.contains("2 sessions, 7 messages, 1 record") && words.contains("memory.sqlite"), "{words}");
    let without = answer(bed.bare().arg("--db").arg(bed.database()).args(["stats", "--json"]), b"").json();
    assert_eq!((&without["owner"], &without["file"]), (&Value::Null, &stats["file"]));
}

#[test]
fn a_chat_keeps_its_lines_and_shows_their_contexts() {
    let bed = Bed::new();
    let lines = "My name is Charlie.\n/assistant Hello Charlie.\n/remember Charlie has a boat\n\n/nonsense\n/assistant\n\
                 What is my name?\n/context the boat\n/search boat\n/quit\nnot read\n";
    let answer = bed.run_with(&["chat", "--json", "--budget", "500"], lines.as_bytes());
    assert_eq!(answer.code, 3, "two lines were refused: {}", answer.stderr);
    let events: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["stored", "context", "stored", "remembered", "stored", "context", "context", "found"]);
    let context = events[5]["messages"].to_string();
    assert!(context.contains("My name is Charlie.") && context.matches("What is my name?").count() == 1, "{context}");
    assert!(events[7]["hits"][0]["text"].as_str().unwrap().contains("boat"));
    assert_eq!(answer.complaints(), "error: /nonsense is no command: try /help\nerror: there is nothing to store\n");
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["messages"], 3);
}

#[test]
fn a_line_of_a_chat_that_cannot_be_taken_ends_nothing() {
    let bed = Bed::new();
    let long = "word ".repeat(40_000);
    let lines = [b"\xff\xfe\n".as_slice(), long.as_bytes(), b"\nMy name is Charlie.\n"].concat();
    let answer = bed.run_with(&["chat", "--json", "--budget", "100000"], &lines);
    assert_eq!((answer.code, answer.complaints().as_str()), (3, "error: the line is not UTF-8\n"));
    let context: Value = serde_json::from_str(answer.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(context["messages"][0]["content"].as_str().unwrap().trim(), long.trim(), "a long line has its context");
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["messages"], 2);
}

#[test]
fn s3_2_a_chat_forgets_one_message_or_all_of_itself() {
    let bed = Bed::new();
    bed.import(&said("chat_history", 1, "user", "The code is 1234."));
    let id = bed.json(&["search", "code"])["hits"][0]["id"].as_str().unwrap().to_owned();
    let lines = format!("/forget {id}\n/search code\nThe new code is secret.\n/purge\n/search code\nagain\n");
    let answer = bed.run_with(&["chat"], lines.as_bytes());
    assert_eq!((answer.code, answer.complaints().as_str()), (0, ""));
    assert!(answer.stdout.starts_with("1 item forgotten\nnothing found\n"), "{}", answer.stdout);
    assert!(answer.stdout.contains("[user, query] The new code is secret.\n-- receipt\n"), "{}", answer.stdout);
    assert!(answer.stdout.matches("1 item forgotten\nnothing found\n").count() == 2, "{}", answer.stdout);
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["messages"], 1);
}

#[test]
fn stored_text_is_shown_without_its_control_characters_and_kept_in_json() {
    let bed = Bed::new();
    bed.import(&said("chat_history", 1, "user", "a \u{1b}[31m red \u{7}word"));
    assert!(!bed.run(&["search", "red"]).stdout.contains('\u{1b}'));
    assert_eq!(texts(&bed.json(&["search", "red"])), ["a \u{1b}[31m red \u{7}word"]);
}

#[test]
fn what_is_piped_is_remembered() {
    let bed = Bed::new();
    let piped = bed.run_with(&["remember", "-"], b" Ada likes green tea.\n");
    assert_eq!((piped.code, piped.complaints().as_str()), (0, ""));
    assert_eq!(bed.json(&["records"])["records"][0]["text"], "Ada likes green tea.");
    assert_eq!(bed.run_with(&["remember", "-"], b" \n").code, 2);
}

#[test]
fn only_commands_that_take_a_conversation_where_none_is_named_tell_which() {
    let bed = Bed::new();
    let tells = |command: &[&str]| {
        let help = bed.run(&[command, &["--help"]].concat()).stdout;
        assert!(help.contains("--session <NAME>"), "{command:?}: {help}");
        help.contains("chat_history")
    };
    for command in [&["import"][..], &["context"], &["chat"], &["facts", "try"]] {
        assert!(tells(command), "{command:?}");
    }
    for command in [&["search"][..], &["export"], &["forget"], &["remember"], &["records"], &["facts", "on"]] {
        assert!(!tells(command), "{command:?}");
    }
    bed.json(&["remember", "Ada has a cat"]);
    for args in [&["--session", "a", "context", "x"][..], &["context", "x", "--session", "a"]] {
        assert_eq!(bed.run(args).stderr, "note: there is no session a\n", "{args:?}");
    }
}
