//! What the tally counts adds up: each thing once, whatever is broken, repeated or empty.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use memory_core::Scope;
use memory_core::engine::Scoped;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{chatgpt, whole_source};
use crate::import::{Import, Tally};

async fn owner() -> Scoped {
    crate::open("memory:").await.unwrap().build().await.unwrap().of(&Scope::new("acme", "ada").unwrap())
}

async fn to_end(mut import: Import) -> Tally {
    while import.step().await.unwrap().is_some() {}
    import.finish()
}

async fn import(ada: &Scoped, text: &str) -> Tally {
    to_end(Import::begin(ada.clone(), Cursor::new(text.to_owned().into_bytes()), whole_source()).unwrap()).await
}

async fn import_files(ada: &Scoped, paths: &[&Path]) -> Tally {
    let paths = paths.iter().map(|path| path.to_path_buf()).collect();
    to_end(Import::begin_files(ada.clone(), paths, whole_source()).unwrap()).await
}

fn put(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn line(session: &str, role: &str, content: &str) -> String {
    format!("{}\n", json!({"session": session, "role": role, "content": content, "at": "2024-05-01T00:00:00Z"}))
}

/// Returns `file line why` of each rejection.
fn rejections(tally: &Tally) -> Vec<String> {
    let told = tally
        .rejections
        .iter()
        .map(|rejection| format!("{} {} {}", rejection.file.as_deref().unwrap_or("-"), rejection.line, rejection.why));
    told.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_file_is_counted_once_and_those_without_conversations_are_among_them() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    put(&folder, "export/a.json", json!([chatgpt()]).to_string());
    put(&folder, "export/broken.json", "[{\"role\": \"us");
    for (name, text) in
        [("empty.json", ""), ("list.json", "[]"), ("users.json", "[{\"uuid\":\"u\"}]"), ("image.png", "\0")]
    {
        put(&folder, &format!("export/{name}"), text);
    }
    let ada = owner().await;
    let alone = put(&folder, "alone.jsonl", line("s", "user", "a"));
    let tally = import_files(&ada, &[&export, &alone]).await;
    assert_eq!((tally.files, tally.no_conversation, tally.rejected, tally.added), (7, 4, 1, 4), "{tally:?}");
    assert_eq!(tally.no_conversation_in, ["empty.json", "image.png", "list.json", "users.json"]);
    let again = import_files(&ada, &[&export, &alone]).await;
    assert_eq!((again.files, again.no_conversation, again.rejected, again.added), (7, 4, 1, 0));
    assert_eq!((again.already, again.sessions()), (tally.added, tally.sessions()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_whose_first_conversation_is_broken_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "export/conversations.json", json!([{"title": "Bread"}, chatgpt()]).to_string());
    let tally = import_files(&owner().await, &[&folder.path().join("export")]).await;
    assert_eq!((tally.added, tally.rejected, tally.no_conversation), (3, 1, 0), "{tally:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_one_name_are_told_apart_and_a_folder_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let bad = format!("{}7\n", line("s", "user", "a"));
    let files = ["one/a.jsonl", "two/a.jsonl"].map(|name| put(&folder, name, &bad));
    let ada = owner().await;
    let told = rejections(&import_files(&ada, &[&files[0], &files[1]]).await);
    assert!(told[0].contains("one/a.jsonl 2 ") && told[1].contains("two/a.jsonl 2 "), "{told:?}");
    let folders = ["one", "two"].map(|name| folder.path().join(name));
    let told = rejections(&import_files(&ada, &[&folders[0], &folders[1]]).await);
    let expected = ["one", "two"].map(|name| format!("{name}/a.jsonl 2 not a message: it is no JSON object"));
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_of_which_nothing_was_taken_is_no_session_and_no_instruction() {
    let ada = owner().await;
    let id = "018f0000-0000-7000-8000-000000000001";
    let said =
        |session: &str, content: &str| json!({"session": session, "id": id, "role": "system", "content": content});
    let first = import(&ada, &said("one", "a").to_string()).await;
    assert_eq!((first.added, first.quoted, first.sessions()), (1, 1, 1));
    // The id is taken by other words: nothing of the second session is stored.
    let second = import(&ada, &said("two", "b").to_string()).await;
    assert_eq!((second.rejected, second.committed()), (1, 0), "{second:?}");
    assert_eq!((second.quoted, second.sessions()), (0, 0), "{second:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_broken_in_the_middle_changes_no_other_count() {
    let ada = owner().await;
    let mut second: Value = chatgpt();
    second["id"] = json!("conv-2");
    second["mapping"]["call"]["message"]["id"] = json!("018f0000-0000-7000-8000-000000000010");
    let list = json!([chatgpt(), {"title": "Bread"}, second]).to_string();
    let first = import(&ada, &list).await;
    assert_eq!((first.added, first.already, first.rejected, first.sessions()), (6, 0, 1, 2), "{first:?}");
    let again = import(&ada, &list).await;
    assert_eq!((again.added, again.already, again.rejected, again.sessions()), (0, 6, 1, 2), "{again:?}");
    assert_eq!(again.left_out, first.left_out);
}
