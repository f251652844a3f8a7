//! Importing each format: all of it, in order, and nothing twice.

use serde_json::{Value, json};

use crate::support::{Bed, conversations, said};

/// Imports a file twice, and returns what the first import answered.
fn twice(bed: &Bed, name: &str, content: &str, options: &[&str]) -> Value {
    let file = bed.file(name, content);
    let first = bed.json(&[&["import", &file], options].concat());
    let second = bed.json(&[&["import", &file], options].concat());
    assert_eq!(second["added"], 0, "{name}");
    assert_eq!(second["already"], first["added"], "{name}");
    first
}

fn texts(bed: &Bed, session: &str) -> Vec<String> {
    let export = bed.run(&["export", "--session", session]).stdout;
    let rows = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts = rows.filter_map(|line| line["row"]["message"]["blocks"][0]["text"].as_str().map(str::to_owned));
    texts.collect()
}

#[test]
fn chat_json_is_imported_once_with_and_without_times() {
    let bed = Bed::new();
    let answer = twice(&bed, "a.jsonl", &conversations(), &[]);
    assert_eq!((&answer["added"], &answer["sessions"], &answer["rejected"]), (&json!(7), &json!(2), &json!(0)));
    let timeless =
        "{\"role\":\"user\",\"content\":\"no time, one\"}\n{\"role\":\"user\",\"content\":\"no time, two\"}\n";
    assert_eq!(twice(&bed, "b.jsonl", timeless, &["--session", "timeless"])["added"], 2);
    assert_eq!(texts(&bed, "timeless"), ["no time, one", "no time, two"]);
    let longer = format!("{timeless}{{\"role\":\"user\",\"content\":\"three\"}}\n");
    let file = bed.file("b.jsonl", longer);
    let grown = bed.json(&["import", &file, "--session", "timeless"]);
    assert_eq!((&grown["added"], &grown["already"]), (&json!(1), &json!(2)));
    let lines =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"a\"}]}\n".repeat(3);
    let answer = twice(&bed, "c.jsonl", &lines, &[]);
    assert_eq!((&answer["added"], &answer["sessions"]), (&json!(6), &json!(3)));
    assert_eq!(texts(&bed, "c/2"), ["q", "a"]);
}

#[test]
fn a_chatgpt_export_is_imported_once() {
    let bed = Bed::new();
    let node = |parent: Option<&str>, role: &str, text: &str, at: u32| {
        json!({
            "parent": parent, "children": [],
            "message": {"author": {"role": role}, "create_time": at, "content": {"content_type": "text", "parts": [text]}}
        })
    };
    let conversation = |id: &str| {
        json!({
            "title": "Bread", "create_time": 1_700_000_000, "conversation_id": id, "current_node": "b",
            "mapping": {"a": node(None, "user", "How long does dough rest?", 1), "b": node(Some("a"), "assistant", "An hour.", 2)}
        })
    };
    let file = json!([conversation("c-1"), conversation("c-2")]).to_string();
    let answer = twice(&bed, "conversations.json", &file, &[]);
    assert_eq!((&answer["added"], &answer["sessions"]), (&json!(4), &json!(2)));
    assert_eq!(texts(&bed, "c-2"), ["How long does dough rest?", "An hour."]);
}

/// A conversation of Claude with a title, a thought, a call and its result.
fn claude() -> Value {
    let said = |id: &str, sender: &str, content: Value| json!({"uuid": id, "sender": sender, "content": content, "created_at": "2026-02-14T10:04:22Z"});
    let answer = json!([
        {"type": "thinking", "thinking": "pondering hydration"},
        {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {"q": "autolyse"}},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sixty minutes"},
        {"type": "text", "text": "An hour."}
    ]);
    let question = said(
        "018f0000-0000-7000-8000-000000000001",
        "human",
        json!([{"type": "text", "text": "How long does it rest?"}]),
    );
    json!([{
        "uuid": "c-1", "name": "Sourdough for beginners", "created_at": "2026-02-14T10:04:00Z",
        "chat_messages": [question, said("018f0000-0000-7000-8000-000000000002", "assistant", answer)]
    }])
}

#[test]
fn a_claude_export_is_imported_once_and_found_by_its_title() {
    let bed = Bed::new();
    let answer = twice(&bed, "conversations.json", &claude().to_string(), &[]);
    assert_eq!((&answer["added"], &answer["sessions"]), (&json!(2), &json!(1)));
    assert_eq!(texts(&bed, "c-1"), ["How long does it rest?", "An hour."]);
    let hits = bed.json(&["search", "sourdough"]);
    assert_eq!(hits["hits"][0]["text"], "How long does it rest?");
    assert_eq!(hits["hits"][0]["trust"], "untrusted");
    assert_eq!(bed.json(&["search", "autolyse hydration lookup"])["hits"], json!([]));
}

#[test]
fn what_stands_aside_is_shown_if_it_is_asked_for_exported_and_forgotten() {
    let bed = Bed::new();
    let file = bed.file("conversations.json", claude().to_string());
    bed.json(&["import", &file]);
    let context = |options: &[&str]| bed.run(&[&["context", "--session", "c-1"], options].concat()).stdout;
    let plain = context(&[]);
    assert!(plain.contains("An hour.") && !plain.contains("autolyse") && !plain.contains("hydration"), "{plain}");
    let whole = context(&["--asides"]);
    assert!(whole.contains("autolyse") && whole.contains("sixty minutes"), "{whole}");
    let export = bed.run(&["export"]).stdout;
    assert!(export.contains("pondering hydration") && export.contains("sixty minutes"), "{export}");
    let other = Bed::new();
    other.import(&export);
    assert!(other.run(&["export"]).stdout.contains("pondering hydration"));
    bed.json(&["forget", "--id", "018f0000-0000-7000-8000-000000000002"]);
    let left = bed.run(&["export"]).stdout;
    assert!(left.contains("How long") && !left.contains("hydration") && !left.contains("sixty"), "{left}");
}

#[test]
fn a_conversation_that_was_renamed_since_is_no_conflict() {
    let bed = Bed::new();
    bed.json(&["import", &bed.file("old.json", claude().to_string())]);
    let mut renamed = claude();
    renamed[0]["name"] = json!("Bread");
    renamed[0]["chat_messages"][1]["content"] = json!([{"type": "text", "text": "An hour."}]);
    let again = bed.json(&["import", &bed.file("new.json", renamed.to_string())]);
    assert_eq!((&again["already"], &again["added"], &again["rejected"]), (&json!(2), &json!(0), &json!(0)));
}

#[test]
fn a_folder_as_it_was_downloaded_is_imported_once_and_its_other_files_are_told() {
    let bed = Bed::new();
    let folder = bed.path("export");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("conversations.json"), claude().to_string()).unwrap();
    std::fs::write(folder.join("users.json"), "[{\"uuid\": \"u\", \"full_name\": \"Ada\"}]").unwrap();
    std::fs::write(folder.join("broken.json"), "[{\"role\": \"us").unwrap();
    let (folder, chat) = (folder.to_str().unwrap(), bed.file("chat.jsonl", conversations()));
    let answer = bed.run(&["import", folder, &chat, "--json"]);
    assert_eq!(answer.code, 3, "{}", answer.stderr);
    let value = answer.json();
    assert_eq!((&value["added"], &value["files"], &value["no_conversation"]), (&json!(9), &json!(4), &json!(1)));
    assert_eq!(value["no_conversation_in"], json!(["users.json"]));
    assert_eq!((&value["rejections"][0]["file"], &value["rejections"][0]["line"]), (&json!("broken.json"), &json!(1)));
    let again = bed.run(&["import", folder, &chat]);
    assert!(again.stdout.starts_with("0 added, 9 already there, 1 rejected"), "{}", again.stdout);
    for (line, part) in again.stdout.lines().skip(2).zip(["taken", "already there", "left out", "rejected", "files"]) {
        assert!(line.starts_with(part) && line.len() <= 80, "{}", again.stdout);
    }
}

#[test]
fn locomo_is_imported_once() {
    let bed = Bed::new();
    let turn = |speaker: &str, id: &str, text: &str| json!({"speaker": speaker, "dia_id": id, "text": text});
    let conversation = json!({
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn("Ana", "D1:1", "I bought a boat."), turn("Ben", "D1:2", "Does it float?")]
    });
    let file = json!([{"qa": [], "conversation": conversation, "sample_id": "conv-1"}]).to_string();
    assert_eq!(twice(&bed, "locomo.json", &file, &[])["added"], 2);
    let hit = &bed.json(&["search", "boat", "--filter", "meta.dia_id = \"D1:1\""])["hits"][0];
    assert_eq!((&hit["session"], &hit["speaker"]), (&json!("conv-1/session_1"), &json!("Ana")));
}

#[test]
fn longmemeval_is_imported_once_and_a_second_date_is_noted() {
    let bed = Bed::new();
    let question = |date: &str| {
        json!({
            "question_id": date, "haystack_dates": [date], "haystack_session_ids": ["s"],
            "haystack_sessions": [[{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Noted."}]]
        })
    };
    let file = json!([question("2023/05/20 (Sat) 02:21"), question("2023/05/21 (Sun) 02:21")]).to_string();
    let answer = twice(&bed, "longmemeval.json", &file, &[]);
    assert_eq!((&answer["added"], answer["notes"].as_array().unwrap().len()), (&json!(2), 1));
    assert_eq!(bed.json(&["search", "tea"])["hits"][0]["at"], "2023-05-20T02:21:00Z");
}

#[test]
fn bad_lines_are_told_and_the_good_ones_are_kept() {
    let bed = Bed::new();
    let id = "\"id\":\"018f0000-0000-7000-8000-000000000001\"";
    let lines = [
        "{\"role\":\"user\",\"content\":\"one\"}".to_owned(),
        "{\"role\":\"user\",\"cont".to_owned(),
        format!("{{{id},\"role\":\"user\",\"content\":\"two\"}}"),
        format!("{{{id},\"role\":\"user\",\"content\":\"not two\"}}"),
        format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(5 << 20)),
        format!("{{\"role\":\"user\",\"content\":\"a\",\"session\":\"{}\"}}", "s".repeat(300)),
        format!("{{\"role\":\"user\",\"content\":\"a\",\"metadata\":{{\"a\":{}1{}}}}}", "[".repeat(60), "]".repeat(60)),
        "{\"role\":\"user\",\"content\":\"three\"}".to_owned(),
    ];
    let answer = bed.run_with(&["import", "-", "--json"], lines.join("\n").as_bytes());
    assert_eq!(answer.code, 3, "{}", answer.stderr);
    let value = answer.json();
    assert_eq!((&value["added"], &value["rejected"]), (&json!(3), &json!(5)));
    let rejected: Vec<u64> =
        value["rejections"].as_array().unwrap().iter().map(|r| r["line"].as_u64().unwrap()).collect();
    assert_eq!(rejected, [2, 4, 5, 6, 7]);
    assert_eq!(texts(&bed, "chat_history"), ["one", "two", "three"]);
    assert!(answer.stderr.contains("line 4: the id 018f0000-0000-7000-8000-000000000001 is taken by other content"));
    assert!(!answer.stderr.contains("not two") && !answer.stderr.contains("xxx"));
}

#[test]
fn files_that_hold_no_conversation_are_wrong_input() {
    let bed = Bed::new();
    for (text, part) in [
        ("{}\n{}\n", "--format"),
        ("[7, 8]", "--format"),
        (&"[".repeat(1 << 20), "not JSON"),
        ("\u{0}\u{1}", "not JSON"),
    ] {
        let answer = bed.run_with(&["import", "-"], text.as_bytes());
        assert_eq!(answer.code, 2, "{}", answer.stderr);
        assert!(answer.stderr.lines().last().unwrap().starts_with("error: nothing could be imported: line 1: "));
        assert!(answer.stderr.contains(part), "{}", answer.stderr);
    }
    assert_eq!(bed.json(&["sessions"])["sessions"], json!([]));
    let wrong = bed.run_with(&["import", "-", "--format", "locomo"], conversations().as_bytes());
    assert_eq!(wrong.code, 2);
}

#[test]
fn files_that_must_be_unpacked_or_converted_first_are_told_by_what_they_are() {
    let bed = Bed::new();
    for (head, part) in [
        (b"PK\x03\x04\x14\x00".as_slice(), "a ZIP archive that is broken or cut"),
        (b"\x1f\x8b\x08\x00", "compressed by gzip"),
        (b"\xfd7zXZ\x00", "compressed by xz"),
        (b"\xff\xfe{\x00", "text in UTF-16"),
        (b"SQLite format 3\0", "an SQLite database"),
    ] {
        let file = bed.file("input", [head, &[b'\n', 0xff].repeat(500)].concat());
        let answer = bed.run(&["import", &file]);
        assert_eq!((answer.code, answer.stderr.lines().count()), (2, 1), "{}", answer.stderr);
        assert!(answer.stderr.contains(part), "{}", answer.stderr);
    }
}

#[test]
fn a_cut_array_keeps_what_came_before_the_cut() {
    let bed = Bed::new();
    let answer =
        bed.run_with(&["import", "-", "--json"], b"[{\"role\":\"user\",\"content\":\"kept\"},\n{\"role\":\"us");
    assert_eq!((answer.code, &answer.json()["rejections"][0]["line"]), (3, &json!(2)));
    assert_eq!(texts(&bed, "chat_history"), ["kept"]);
}

#[test]
fn interleaved_sessions_keep_their_order_over_many_batches() {
    let bed = Bed::new();
    let line = |n: usize| said(&format!("s{}", n % 7), n, "user", &format!("message {n}"));
    let answer = bed.import(&(0..1_000).map(line).collect::<String>());
    assert_eq!((&answer["added"], &answer["sessions"]), (&json!(1_000), &json!(7)));
    let expected: Vec<String> = (0..1_000).filter(|n| n % 7 == 3).map(|n| format!("message {n}")).collect();
    assert_eq!(texts(&bed, "s3"), expected);
}

#[test]
fn progress_lines_count_what_is_durable() {
    let bed = Bed::new();
    let lines: String = (0..600).map(|n| said("s", n, "user", "hello")).collect();
    let answer = bed.run_with(&["import", "-", "--progress", "lines"], lines.as_bytes());
    let counts: Vec<u64> =
        answer.stderr.lines().filter_map(|line| line.strip_prefix("committed ")?.parse().ok()).collect();
    assert!(counts.len() >= 3 && counts.is_sorted() && counts.last() == Some(&600), "{}", answer.stderr);
    assert!(
        answer.stderr.ends_with("indexing\n") && answer.stdout.starts_with("600 added, 0 already there, 0 rejected")
    );
    assert_eq!(bed.run_with(&["import", "-"], lines.as_bytes()).stderr, "");
}

#[test]
fn a_time_that_cannot_be_read_is_told_with_its_line_and_not_guessed() {
    let bed = Bed::new();
    let said =
        |at: &str| format!("{{\"role\":\"user\",\"content\":\"said at {}\",\"at\":{at}}}\n", at.replace('"', ""));
    let times = ["\"yesterday\"", "1714557603000", "\"2024-05-01T10:00:03Z\"", "null"];
    let file = bed.file("times.jsonl", times.map(said).concat());
    let import = bed.run(&["--json", "import", &file]);
    assert_eq!(import.code, 3, "{}", import.stderr);
    let report = import.json();
    assert_eq!((&report["added"], &report["rejected"]), (&json!(3), &json!(1)));
    assert_eq!(report["rejections"][0]["line"], 1);
    assert!(report["rejections"][0]["why"].as_str().unwrap().contains("at is no time"), "{report}");
}

#[test]
fn an_import_of_nothing_is_an_error() {
    let bed = Bed::new();
    let file = bed.file("empty.jsonl", "");
    for answer in [bed.run(&["import", &file]), bed.run_with(&["import", "-"], b"")] {
        assert_eq!(answer.code, 2);
        assert!(answer.stderr.contains("there is no message in it"), "{}", answer.stderr);
    }
}
