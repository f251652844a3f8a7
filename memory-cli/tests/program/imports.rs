//! What `memory import` says of files that it cannot take: which one, where in it, why, what to do, and how much there was.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::{Bed, answer, said};

/// A conversation of ChatGPT with one question.
fn conversation(title: &str) -> Value {
    let message = json!({"author": {"role": "user"}, "create_time": 1, "content": {"content_type": "text", "parts": ["How long?"]}});
    json!({
        "title": title, "conversation_id": format!("id-{title}"), "current_node": "a",
        "mapping": {"a": {"parent": null, "children": [], "message": message}}
    })
}

/// Returns the number behind a name in the table at the end of an import.
fn counted(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().skip(1).find(|line| line.trim_start().starts_with(name))?;
    line.trim_start().strip_prefix(name)?.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_conversation_that_cannot_be_taken_is_told_by_file_line_number_and_title() {
    let bed = Bed::new();
    let list = json!([conversation("Bread"), {"title": "Soup"}, conversation("Tea")]).to_string();
    let file = bed.file("conversations.json", &list);
    let answer = bed.run(&["import", &file]);
    assert_eq!(answer.code, 3, "{}", answer.stderr);
    let why = format!("line 1 of {file}: element 2: Soup is not a conversation of ChatGPT: it has no mapping");
    assert!(answer.stderr.lines().any(|line| line == why), "{}", answer.stderr);
    let rejection = &bed.run(&["--json", "import", &file]).json()["rejections"][0];
    assert_eq!((&rejection["line"], &rejection["element"]), (&json!(1), &json!(2)));
    let first = json!([{"title": "Soup"}, conversation("Rice")]).to_string();
    let answer = bed.run(&["import", &bed.file("first.json", first)]);
    assert!(answer.stderr.contains("element 1: Soup is not a conversation of ChatGPT"), "{}", answer.stderr);
    assert!(answer.stdout.starts_with("1 added, 0 already there, 1 rejected; 1 session,"), "{}", answer.stdout);
}

#[test]
fn a_file_of_another_kind_is_named_with_its_kind_and_what_to_do() {
    let bed = Bed::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let line = said("s", 1, "user", "hello");
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0xff, b'\n', 0x80].repeat(500)].concat();
    for (name, content, why) in [
        ("a.pdf", [b"%PDF-1.7\n".as_slice(), &[0xff, b'\n'].repeat(500)].concat(), "a PDF: give chat JSON"),
        ("a.png", png, "not JSON: a binary file: give chat JSON"),
        (
            "chat.html",
            b"\xef\xbb\xbf\n<!DOCTYPE html><html>".to_vec(),
            "a page of the web: give the JSON of the export",
        ),
        ("utf16.json", [vec![0xff, 0xfe], utf16(&line)].concat(), "text in UTF-16: save it as UTF-8"),
        ("bare16.json", utf16(&line), "text in UTF-16: save it as UTF-8"),
        ("cut.zip", b"PK\x03\x04\x14\0".to_vec(), "a ZIP archive that is broken or cut: download it again"),
    ] {
        let answer = bed.run(&["import", &bed.file(name, content)]);
        let told = answer.stderr.lines().last().unwrap();
        assert_eq!((answer.code, answer.stderr.lines().count()), (2, 1), "{name}: {}", answer.stderr);
        assert!(told.contains(&format!("{name}: {why}")) && !told.contains("line 1"), "{told}");
        assert!(answer.stdout.starts_with("0 added, 0 already there, 1 rejected; 0 sessions,"), "{}", answer.stdout);
    }
}

#[test]
fn a_text_that_is_no_chat_is_refused_in_one_line_that_says_what_is_taken() {
    let bed = Bed::new();
    let taken = "give chat JSON, or an export of ChatGPT or Claude as it was downloaded";
    for (name, text) in
        [("notes.txt", "Bread, tea.\n".repeat(200)), ("chat.csv", "id,text\n1,hello\n2,bye\n".to_owned())]
    {
        let file = bed.file(name, text);
        let answer = bed.run(&["import", &file]);
        assert_eq!((answer.code, answer.stdout.lines().count()), (2, 1), "{}", answer.stdout);
        let told = format!("error: nothing could be imported: line 1 of {file}: not JSON, nor are the ");
        assert!(
            answer.stderr.starts_with(&told) && answer.stderr.ends_with(&format!(" lines behind it: {taken}\n")),
            "{}",
            answer.stderr
        );
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
    let unknown = bed.run(&["import", &bed.file("a.json", "{\"a\":1}")]);
    let formats = "name it with --format openai, chatgpt, claude, locomo, longmemeval or export\n";
    assert_eq!((unknown.code, unknown.stderr.lines().count()), (2, 1), "{}", unknown.stderr);
    assert!(unknown.stderr.ends_with(formats), "{}", unknown.stderr);
}

#[test]
fn the_table_at_the_end_is_whole_in_a_pipe_and_wraps_at_words_on_a_screen() {
    let bed = Bed::new();
    let mut talk = conversation("Everything that was said of sourdough bread in a long winter");
    let audio = json!({"content_type": "audio_asset_pointer", "asset_pointer": "sediment://a"});
    talk["mapping"]["a"]["message"]["content"] =
        json!({"content_type": "multimodal_text", "parts": ["How long?", audio]});
    let file = bed.file("conversations.json", json!([talk]).to_string());
    let whole = bed.run(&["import", &file]).stdout;
    assert!(whole.contains("1  of a file its place or transcript is kept\n"), "{whole}");
    assert!(whole.contains("    Everything that was said of sourdough bread in a long winter        1\n"), "{whole}");
    for width in [80, 40] {
        let answer = answer(bed.command().env("COLUMNS", width.to_string()).args(["import", &file]), b"");
        let words: Vec<&str> = answer.stdout.split_whitespace().collect();
        assert!(words.join(" ").contains("1 of a file its place or transcript is kept"), "{}", answer.stdout);
        assert!(answer.stdout.lines().all(|line| line.width() <= width), "{}", answer.stdout);
        assert_eq!(counted(&answer.stdout, "already there"), Some(1), "{}", answer.stdout);
    }
}

#[test]
fn a_file_that_is_cut_says_so_and_what_came_before_is_kept() {
    let bed = Bed::new();
    let list = json!([conversation("Bread"), conversation("Soup")]).to_string();
    let file = bed.file("cut.json", &list[..list.len() - 20]);
    let answer = bed.run(&["import", &file]);
    assert_eq!(answer.code, 3, "{}", answer.stderr);
    let why = "element 2: not JSON from here on: it ends too soon: its end is missing, so download or copy it again";
    assert!(answer.stderr.contains(&format!("line 1 of {file}: {why}")), "{}", answer.stderr);
    assert!(answer.stdout.starts_with("1 added"), "{}", answer.stdout);
}

#[test]
fn a_file_without_a_message_is_named_with_the_reason() {
    let bed = Bed::new();
    std::fs::create_dir(bed.path("folder")).unwrap();
    let pictures = bed.path("pictures");
    std::fs::create_dir(&pictures).unwrap();
    std::fs::write(pictures.join("a.png"), "x").unwrap();
    // The end of a directory without entries: an archive of nothing.
    let archive = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let paths = [
        (bed.file("empty.json", ""), "empty.json is empty"),
        (bed.file("blank.json", "\u{feff} \n"), "blank.json holds nothing but blanks or an empty list"),
        (bed.file("list.json", "[]"), "list.json holds nothing but blanks or an empty list"),
        (bed.file("none.zip", archive), "none.zip holds nothing"),
        (bed.path("folder").to_str().unwrap().to_owned(), "folder holds no file"),
        (pictures.to_str().unwrap().to_owned(), "none of the 1 files in "),
    ];
    for (path, why) in paths {
        let answer = bed.run(&["import", &path]);
        let told = answer.stderr.lines().last().unwrap();
        assert_eq!(answer.code, 2, "{told}");
        assert!(told.starts_with("error: nothing could be imported: there is no message in it: "), "{told}");
        assert!(told.contains(why) && told.contains("give chat JSON"), "{told}");
    }
    assert!(bed.run(&["import", "nowhere.json"]).refused(2).contains("nowhere.json cannot be read: it is not there"));
    assert!(bed.run(&["import", "https://chat.example/x"]).refused(2).contains("it is a URL: download it"));
}

#[test]
fn a_file_with_a_byte_order_mark_is_taken_whole() {
    let bed = Bed::new();
    let line = said("s", 1, "user", "hello");
    for (name, text) in [("a.jsonl", line), ("b.json", format!("[{}]", said("s", 2, "user", "bye").trim()))] {
        let answer = bed.json(&["import", &bed.file(name, format!("\u{feff}{text}"))]);
        assert_eq!((&answer["added"], &answer["rejected"]), (&json!(1), &json!(0)));
    }
}

#[test]
fn the_table_at_the_end_adds_up_for_several_files_however_often_they_are_imported() {
    let bed = Bed::new();
    let folder = bed.path("export");
    std::fs::create_dir(&folder).unwrap();
    let list = json!([conversation("Bread"), {"title": "Soup"}, conversation("Tea")]).to_string();
    for (name, text) in
        [("conversations.json", &*list), ("empty.json", ""), ("users.json", "[{\"uuid\":\"u\"}]"), ("a.png", "x")]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let more = bed.file("more.jsonl", said("s", 1, "user", "hello"));
    for (taken, there) in [(3, 0), (0, 3)] {
        let answer = bed.run(&["import", folder.to_str().unwrap(), &more]);
        assert_eq!(answer.code, 3, "{}", answer.stderr);
        let expected = format!("{taken} added, {there} already there, 1 rejected; 3 sessions,");
        assert!(answer.stdout.starts_with(&expected), "{}", answer.stdout);
        for (name, count) in
            [("taken", taken), ("already there", there), ("rejected", 1), ("files", 5), ("without conversations", 3)]
        {
            assert_eq!(counted(&answer.stdout, name), Some(count), "{name}: {}", answer.stdout);
        }
        assert!(answer.stderr.contains("line 1 of conversations.json: element 2: Soup is not"), "{}", answer.stderr);
    }
}

#[test]
fn an_archive_in_a_folder_is_not_told_to_hold_nothing() {
    let bed = Bed::new();
    let folder = bed.path("downloads");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("chatgpt.zip"), b"PK\x03\x04").unwrap();
    std::fs::write(folder.join("chat.jsonl"), said("s", 1, "user", "hello")).unwrap();
    let answer = bed.run(&["import", folder.to_str().unwrap()]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(
        answer.stderr.contains("chatgpt.zip is not looked into: import the archive by its name"),
        "{}",
        answer.stderr
    );
}

#[test]
fn the_table_says_truly_where_what_was_rejected_is_told() {
    let bed = Bed::new();
    let folder = bed.path("downloads");
    std::fs::create_dir(&folder).unwrap();
    let broken = |name: &str| std::fs::write(folder.join(name), "[{\"role\":\"us").unwrap();
    let import = || bed.run(&["import", folder.to_str().unwrap()]);
    broken("a.json");
    let one = import();
    assert_eq!((one.code, one.stderr.lines().count()), (2, 1), "{}", one.stderr);
    assert!(
        one.stderr.starts_with("error: ") && one.stdout.contains("1  told by the error at the end\n"),
        "{}",
        one.stdout
    );
    broken("b.json");
    let two = import();
    assert_eq!((two.code, two.stderr.lines().count()), (2, 3), "{}", two.stderr);
    assert!(two.stdout.contains("2  told above, one by one\n"), "{}", two.stdout);
    std::fs::write(folder.join("b.json"), said("s", 1, "user", "hello")).unwrap();
    let kept = import();
    assert_eq!((kept.code, kept.stderr.lines().count()), (3, 1), "{}", kept.stderr);
    assert!(kept.stdout.contains("1  told above, one by one\n"), "{}", kept.stdout);
}

#[test]
fn a_conversation_without_a_name_takes_the_session_that_is_given() {
    let bed = Bed::new();
    let line = json!({"messages": [{"role": "user", "content": "hello"}]});
    let file = bed.file("talk.json", serde_json::to_string_pretty(&line).unwrap());
    for (added, already) in [(1, 0), (0, 1)] {
        let answer = bed.json(&["import", &file, "--session", "mine"]);
        assert_eq!((&answer["added"], &answer["already"]), (&json!(added), &json!(already)));
    }
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["session"], "mine");
    bed.json(&["import", &file]);
    assert_eq!(bed.json(&["show", "talk/1"])["messages"], 1);
}

#[test]
fn no_model_is_sent_what_its_server_would_refuse() {
    let bed = Bed::new();
    let line = json!({
        "role": "user", "content": "hi", "id": "msg_001", "timestamp": 1_790_000_000, "created_at": "2026-09-21T14:13:20Z",
        "session": "o", "model": "gpt-4o", "parentId": null,
    });
    let empty = json!({"role": "assistant", "content": "", "session": "o", "id": "msg_2", "model": "gpt-4o"});
    let answer = bed.json(&["import", &bed.file("a.jsonl", format!("{line}\n{empty}\n"))]);
    assert_eq!((&answer["added"], &answer["left_out"]), (&json!(1), &json!({"empty": 1})));
    let sent = bed.json(&["context", "x", "--session", "o", "--as", "openai"])["messages"].clone();
    assert_eq!(sent[0], json!({"role": "user", "content": "hi"}));
}
