//! The profile `files`: the commands and words of Claude's memory tool.

use std::sync::Arc;
use std::time::Duration;

use memory::window::CounterKind;
use memory::{Remember, Scope};
use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

fn config() -> Config {
    Config { agents: Agents { profile: Profile::Files, ..Agents::default() }, ..Config::default() }
}

async fn bed() -> Bed {
    Bed::with(config()).await
}

fn told(answer: Result<String, String>) -> String {
    answer.unwrap_or_else(|why| format!("refused: {why}"))
}

#[tokio::test]
async fn a_file_is_created_viewed_changed_renamed_and_deleted_in_the_words_of_the_reference() {
    let bed = bed().await;
    let path = "/memories/notes/a.md";
    let run = async |arguments: Value| told(bed.tool("memory", &arguments).await);
    let snippet = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    let head = |path: &str| {
        format!("Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:")
    };
    let steps = [
        (json!({ "command": "view", "path": "/memories" }), format!("{}\n0B\t/memories", head("/memories"))),
        (json!({ "command": "create", "path": path, "file_text": "one\ntwo\nthree\nfour\n" }), format!("File created successfully at: {path}")),
        (json!({ "command": "create", "path": path, "file_text": "x" }), format!("refused: File {path} already exists")),
        (
            json!({ "command": "view", "path": path }),
            format!("Here's the content of {path} with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\t"),
        ),
        (
            json!({ "command": "view", "path": path, "view_range": [2, 3] }),
            format!("Here's the content of {path} with line numbers:\n     2\ttwo\n     3\tthree"),
        ),
        (
            json!({ "command": "str_replace", "path": path, "old_str": "three", "new_str": "3" }),
            format!("{snippet}\n     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\t"),
        ),
        (
            json!({ "command": "str_replace", "path": path, "old_str": "nine", "new_str": "9" }),
            format!("refused: No replacement was performed, old_str `nine` did not appear verbatim in {path}."),
        ),
        (
            json!({ "command": "str_replace", "path": path, "old_str": "o", "new_str": "0" }),
            "refused: No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2, 4. Please ensure it is unique"
                .to_owned(),
        ),
        (json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "zero\n" }), format!("The file {path} has been edited.")),
        (
            json!({ "command": "insert", "path": path, "insert_line": 9, "insert_text": "x" }),
            "refused: Invalid `insert_line` parameter: 9. It should be within the range [0, 5].".to_owned(),
        ),
        (
            json!({ "command": "view", "path": "/memories" }),
            format!("{}\n20B\t/memories\n20B\t/memories/notes/\n20B\t/memories/notes/a.md", head("/memories")),
        ),
        (json!({ "command": "insert", "path": "/memories/notes", "insert_line": 0, "insert_text": "x" }), "refused: The path /memories/notes is not a file.".to_owned()),
        (
            json!({ "command": "rename", "old_path": "/memories/notes", "new_path": "/memories/old" }),
            "Successfully renamed /memories/notes to /memories/old".to_owned(),
        ),
        (json!({ "command": "view", "path": path }), format!("refused: The path {path} does not exist. Please provide a valid path.")),
        (
            json!({ "command": "rename", "old_path": "/memories/none", "new_path": "/memories/x" }),
            "refused: The path /memories/none does not exist".to_owned(),
        ),
        (json!({ "command": "delete", "path": "/memories" }), "refused: Cannot delete the /memories directory itself".to_owned()),
        (json!({ "command": "delete", "path": "/memories/old" }), "Successfully deleted /memories/old".to_owned()),
        (json!({ "command": "delete", "path": "/memories/old" }), "refused: The path /memories/old does not exist".to_owned()),
        (json!({ "command": "create", "path": path, "file_text": "" }), format!("File created successfully at: {path}")),
        (json!({ "command": "view", "path": path }), format!("Here's the content of {path} with line numbers:\n     1\t")),
    ];
    for (arguments, promised) in steps {
        assert_eq!(run(arguments.clone()).await, promised, "{arguments}");
    }
}

#[tokio::test]
async fn a_folder_is_listed_two_levels_deep_with_the_sizes_of_all_that_is_in_it() {
    let bed = bed().await;
    for (path, text) in
        [("a.md", "1"), ("a/.b/x", "22"), ("a/c/d/e", "333"), ("a/c/f", "4444"), (".g/h", "5"), ("z", "")]
    {
        bed.tool("memory", &create(&format!("/memories/{path}"), text)).await.unwrap();
    }
    for (path, promised) in [
        (
            "/memories",
            vec!["11B\t/memories", "1B\t/memories/a.md", "9B\t/memories/a/", "7B\t/memories/a/c/", "0B\t/memories/z"],
        ),
        ("/memories/a", vec!["9B\t/memories/a", "7B\t/memories/a/c/", "3B\t/memories/a/c/d/", "4B\t/memories/a/c/f"]),
    ] {
        let told = bed.tool("memory", &view(path)).await.unwrap();
        assert_eq!(told.lines().skip(1).collect::<Vec<_>>(), promised);
        for same in [format!("{path}/"), format!("{path}/./")] {
            assert_eq!(bed.tool("memory", &view(&same)).await.unwrap(), told, "{same}");
        }
    }
}

#[tokio::test]
async fn a_folder_of_more_files_than_are_read_at_once_is_listed_renamed_and_deleted_whole() {
    let bed = bed().await;
    for number in 0..40 {
        bed.tool("memory", &create(&format!("/memories/a/{number:02}"), &format!("{number:02}"))).await.unwrap();
    }
    assert!(bed.tool("memory", &create("/memories/a", "a file")).await.unwrap_err().contains("already exists"));
    for folder in ["/memories/a", "/memories/b"] {
        let told = bed.tool("memory", &view(folder)).await.unwrap();
        let names: Vec<_> = told.lines().skip(2).map(|line| line.rsplit_once('/').unwrap().1.to_owned()).collect();
        assert_eq!(names, (0..40).map(|number| format!("{number:02}")).collect::<Vec<_>>());
        assert!(told.contains(&format!("80B\t{folder}\n")), "{told}");
        assert!(bed.tool("memory", &view(&format!("{folder}/39"))).await.unwrap().ends_with("39"));
        if folder == "/memories/a" {
            let rename = json!({ "command": "rename", "old_path": folder, "new_path": "/memories/b" });
            bed.tool("memory", &rename).await.unwrap();
            assert!(bed.tool("memory", &rename).await.unwrap_err().contains("already exists"));
        }
    }
    bed.tool("memory", &json!({ "command": "delete", "path": "/memories/b" })).await.unwrap();
    assert_eq!(bed.tool("memory", &view("/memories")).await.unwrap().lines().count(), 2);
}

#[tokio::test]
async fn a_file_that_a_record_took_the_place_of_is_none_and_is_made_anew() {
    let (bed, path) = (bed().await, "/memories/a/x");
    bed.tool("memory", &create(path, "old")).await.unwrap();
    let id = bed.ok(Call::get("/v1/records?kind=file")).await["records"][0]["id"].as_str().unwrap().to_owned();
    // Neither HTTP nor MCP does that.
    let newer = Remember::new("file", format!("{path}\nnewer")).with_metadata("path", path);
    let ada = bed.memory.of(&Scope::new("acme", "ada").unwrap());
    ada.supersede(id.parse().unwrap(), newer).await.unwrap();
    assert_eq!(bed.tool("memory", &view("/memories")).await.unwrap().lines().count(), 2);
    for arguments in [view(path), insert(path, 1), json!({ "command": "delete", "path": path })] {
        let refused = bed.tool("memory", &arguments).await.unwrap_err();
        assert!(refused.contains("does not exist"), "{arguments}: {refused}");
    }
    bed.tool("memory", &create(path, "zanzibar")).await.unwrap();
    assert!(bed.tool("memory", &view(path)).await.unwrap().ends_with("zanzibar"));
    assert_eq!(bed.tool("memory", &view("/memories/a")).await.unwrap().lines().count(), 3);
    bed.memory.upkeep_once().await.unwrap();
    let found = bed.ok(Call::post("/v1/search", &json!({ "query": "zanzibar" }))).await["hits"].to_string();
    assert!(found.contains("zanzibar"), "{found}");
}

#[tokio::test]
async fn paths_lead_nowhere_but_under_the_root_and_owners_have_files_of_their_own() {
    let bed = bed().await;
    for path in ["/etc/passwd", "/memories/../etc", "/memories2/a", "memories/a", ""] {
        for command in ["view", "delete"] {
            assert!(bed.tool("memory", &json!({ "command": command, "path": path })).await.is_err(), "{path}");
        }
    }
    let create = |text: &str| json!({ "command": "create", "path": "/memories/a", "file_text": text });
    bed.tool("memory", &create("Ada's")).await.unwrap();
    bed.tool_by(&bed.bob, "memory", &create("Bob's")).await.unwrap();
    let view = json!({ "command": "view", "path": "/memories/a" });
    assert!(bed.tool("memory", &view).await.unwrap().contains("Ada's"));
    assert!(
        bed.tool("memory", &json!({ "command": "create", "path": "/memories/a/b", "file_text": "x" })).await.is_err()
    );
    for wrong in [
        json!({}),
        json!({ "command": "format" }),
        json!({ "command": "view" }),
        json!({ "command": "view", "path": 3 }),
    ] {
        assert!(bed.tool("memory", &wrong).await.unwrap_err().contains("arguments"), "{wrong}");
    }
}

/// Returns a bed over a file, which threads really use at once.
async fn shared(folder: &tempfile::TempDir) -> Bed {
    let file = folder.path().join("memory.sqlite");
    let memory = memory::open(file.to_str().unwrap()).await.unwrap().build().await.unwrap();
    Bed::over(memory, config())
}

fn insert(path: &str, number: usize) -> Value {
    json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": format!("line {number}") })
}

/// Carries out the calls at once, each in a task of its own.
async fn at_once(bed: &Arc<Bed>, calls: Vec<Value>) -> Vec<Result<String, String>> {
    let call = |call: Value| {
        let bed = Arc::clone(bed);
        tokio::spawn(async move { bed.tool("memory", &call).await })
    };
    let calls: Vec<_> = calls.into_iter().map(call).collect();
    futures_util::future::join_all(calls).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_one_file_at_once_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let (bed, path) = (Arc::new(shared(&folder).await), "/memories/list");
    bed.tool("memory", &json!({ "command": "create", "path": path, "file_text": "" })).await.unwrap();
    for answer in at_once(&bed, (0..20).map(|number| insert(path, number)).collect()).await {
        answer.unwrap();
    }
    let shown = bed.tool("memory", &json!({ "command": "view", "path": path })).await.unwrap();
    assert!((0..20).all(|number| shown.lines().any(|line| line.ends_with(&format!("line {number}")))), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_while_a_file_is_renamed_goes_along() {
    let folder = tempfile::tempdir().unwrap();
    let bed = Arc::new(shared(&folder).await);
    for round in 0..10 {
        let (old, new) = (format!("/memories/old{round}"), format!("/memories/new{round}"));
        bed.tool("memory", &create(&old, "")).await.unwrap();
        let (writer, path) = (Arc::clone(&bed), old.clone());
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        // Writes line after line until the file is elsewhere, ever slower, so that the rename is not outrun for ever.
        let writing = tokio::spawn(async move {
            let (mut written, mut begun) = (0, Some(begun));
            while writer.tool("memory", &insert(&path, written)).await.is_ok() {
                written += 1;
                begun.take().into_iter().for_each(|begun| begun.send(()).unwrap());
                tokio::time::sleep(Duration::from_millis(written as u64)).await;
            }
            written
        });
        has_begun.await.unwrap();
        let rename = json!({ "command": "rename", "old_path": old, "new_path": new });
        while bed.tool("memory", &rename).await.is_err() {}
        let written = writing.await.unwrap();
        let shown = bed.tool("memory", &view(&new)).await.unwrap();
        let holds = |number| shown.lines().any(|line| line.ends_with(&format!("line {number}")));
        assert!((0..written).all(holds), "{written}: {shown}");
        assert!(bed.tool("memory", &view(&old)).await.is_err());
        bed.tool("memory", &create(&old, "again")).await.unwrap();
    }
}

#[tokio::test]
async fn a_renamed_file_keeps_all_that_is_known_of_it() {
    let bed = bed().await;
    let said = json!({ "messages": [{ "role": "user", "content": "keep this" }] });
    let source = bed.ok(Call::post("/v1/sessions/talk/messages", &said)).await["stored"][0]["id"].clone();
    bed.tool("memory", &create("/memories/old", "zanzibar")).await.unwrap();
    let file = async || bed.ok(Call::get("/v1/records?kind=file")).await["records"][0].clone();
    let whole = json!({
        "text": "/memories/old\nzanzibar", "kind": "file", "trust": "system", "tags": ["t"], "importance": 0.25, "pinned": true,
        "agent": "bee", "origin": "app", "expires_at": "2100-01-01T00:00:00Z", "valid_from": "2000-01-01T00:00:00Z",
        "sources": [source], "metadata": { "path": "/memories/old", "colour": "red" },
    });
    let put = Call::put(format!("/v1/records/{}", file().await["id"].as_str().unwrap()), &whole);
    bed.ok(put.header("if-match", "\"1\"")).await;
    let mut before = file().await;
    let rename = json!({ "command": "rename", "old_path": "/memories/old", "new_path": "/memories/new" });
    bed.tool("memory", &rename).await.unwrap();
    let after = file().await;
    before["text"] = json!("/memories/new\nzanzibar");
    before["metadata"]["path"] = json!("/memories/new");
    for own in ["id", "version"] {
        before[own] = after[own].clone();
    }
    assert_eq!(before, after);
    bed.ok(Call::post("/v1/forget", &json!({ "ids": [source] }))).await;
    assert!(!holds(&bed, "zanzibar").await, "it is forgotten with what it was derived from");
}

fn create(path: &str, text: &str) -> Value {
    json!({ "command": "create", "path": path, "file_text": text })
}

fn view(path: &str) -> Value {
    json!({ "command": "view", "path": path })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_made_where_another_was_while_its_folder_is_renamed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let bed = Arc::new(shared(&folder).await);
    for round in 0..3 {
        let (old, new) = (format!("/memories/old{round}"), format!("/memories/new{round}"));
        for number in 0..60 {
            bed.tool("memory", &create(&format!("{old}/{number:02}"), "old")).await.unwrap();
        }
        let (writer, path) = (Arc::clone(&bed), format!("{old}/00"));
        let made = path.clone();
        let making = tokio::spawn(async move { while writer.tool("memory", &create(&made, "anew")).await.is_err() {} });
        bed.tool("memory", &json!({ "command": "rename", "old_path": old, "new_path": new })).await.unwrap();
        making.await.unwrap();
        assert!(bed.tool("memory", &view(&path)).await.unwrap().ends_with("anew"));
        assert!(bed.tool("memory", &view(&format!("{new}/00"))).await.unwrap().ends_with("old"));
        let listed = bed.tool("memory", &view(&old)).await.unwrap();
        assert_eq!(listed.lines().count(), 3, "{listed}");
    }
    assert_eq!(left(&bed).await, json!([]));
}

/// Returns what is left of renamed files.
async fn left(bed: &Bed) -> Value {
    bed.ok(Call::get("/v1/records?kind=file%20renamed")).await["records"].clone()
}

/// Returns whether any of the owner's memory holds a word.
async fn holds(bed: &Bed, word: &str) -> bool {
    bed.memory.upkeep_once().await.unwrap();
    let found = bed.ok(Call::post("/v1/search", &json!({ "query": word }))).await["hits"].to_string();
    let exported = bed.send(Call::get("/v1/export").by(&bed.ada)).await.text();
    assert!(found.starts_with('['), "{found}");
    found.contains(word) || exported.contains(word)
}

#[tokio::test]
async fn a_rename_that_cannot_be_done_changes_nothing_and_leaves_nothing() {
    let bed = bed().await;
    let (old, long) = ("/memories/a", format!("/memories/{}", "n".repeat(300)));
    bed.tool("memory", &create("/memories/a/x", "zanzibar secret")).await.unwrap();
    bed.tool("memory", &create(&format!("/memories/a/{}", "z".repeat(900)), "z")).await.unwrap();
    let rename = |new: &str| json!({ "command": "rename", "old_path": old, "new_path": new });
    let refused = bed.tool("memory", &rename(&long)).await.unwrap_err();
    assert_eq!(refused, "A path has at most 1024 bytes.");
    assert!(bed.tool("memory", &view("/memories/a/x")).await.unwrap().ends_with("zanzibar secret"));
    assert!(bed.tool("memory", &view(&long)).await.is_err());
    assert!(holds(&bed, "zanzibar").await);
    bed.tool("memory", &rename("/memories/b")).await.unwrap();
    bed.tool("memory", &json!({ "command": "delete", "path": "/memories/b" })).await.unwrap();
    assert!(!holds(&bed, "zanzibar").await);
    assert_eq!(left(&bed).await, json!([]));
}

#[tokio::test]
async fn what_a_rename_left_that_was_cut_off_goes_with_its_folder() {
    let bed = bed().await;
    let cut_off = json!({ "text": "/memories/a/x\nzanzibar secret", "kind": "file renamed" });
    for (arguments, answer) in [
        (json!({ "command": "delete", "path": "/memories/a" }), Err("The path /memories/a does not exist")),
        (json!({ "command": "delete", "path": "/memories/a/x" }), Err("The path /memories/a/x does not exist")),
        (
            json!({ "command": "rename", "old_path": "/memories/a", "new_path": "/memories/b" }),
            Ok("Successfully renamed /memories/a to /memories/b"),
        ),
    ] {
        bed.ok(Call::post("/v1/records", &cut_off)).await;
        if answer.is_ok() {
            bed.tool("memory", &create("/memories/a/y", "y")).await.unwrap();
        }
        assert!(holds(&bed, "zanzibar").await);
        let told = bed.tool("memory", &arguments).await;
        assert_eq!(told.as_deref().map_err(String::as_str), answer);
        assert!(!holds(&bed, "zanzibar").await, "{arguments}");
        assert_eq!(left(&bed).await, json!([]));
    }
}

#[tokio::test]
async fn who_may_write_alone_is_told_nothing_of_what_a_file_holds() {
    let bed = bed().await;
    let path = "/memories/a";
    bed.tool("memory", &create(path, "zanzibar secret\nkey 4711\nkey 4712\nharbour\n")).await.unwrap();
    let replace =
        |old: &str| json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": "something else" });
    let insert =
        |line: i64| json!({ "command": "insert", "path": path, "insert_line": line, "insert_text": "a new line" });
    let told = async |arguments: Value| bed.tool_by(&bed.writer, "memory", &arguments).await;
    // Whether something stands there once, more often or not at all, and however many lines there are, the answer is the same.
    let asked = ["4711", "key", "no such", ""].map(replace).into_iter().chain([0, 1, 4, 5, -1].map(insert));
    for arguments in asked.chain([view(path), view("/memories")]) {
        assert_eq!(told(arguments.clone()).await, Err("the token has no right to read".to_owned()), "{arguments}");
    }
    assert_eq!(told(create(path, "x")).await, Err("File /memories/a already exists".to_owned()));
}

#[tokio::test]
async fn answers_fit_however_long_the_paths_are_that_they_name() {
    let bed = bed().await;
    let long = |name: &str| format!("/memories/{}{name}", "./".repeat(200_000));
    for arguments in [
        create(&long("a"), "one\n"),
        create(&long("a"), "one\n"),
        view(&long("a")),
        json!({ "command": "insert", "path": long("a"), "insert_line": 0, "insert_text": "zero" }),
        json!({ "command": "str_replace", "path": long("a"), "old_str": "one", "new_str": "1" }),
        json!({ "command": "rename", "old_path": long("a"), "new_path": long("b") }),
        json!({ "command": "delete", "path": long("b") }),
        json!({ "command": "delete", "path": long("b") }),
    ] {
        let (Ok(answer) | Err(answer)) = bed.tool("memory", &arguments).await;
        assert!(CounterKind::O200k.counter().count_text(&answer) <= 1_500, "{}", answer.len());
    }
}
