//! Conversations that share messages, under the same ids in the file: each has all of them, however often they are imported.

use std::io::Cursor;

use memory_core::engine::{Forget, HistoryEdge, Scoped};
use memory_core::{MessageId, Scope, SessionId};
use serde_json::json;

use super::whole_source;
use crate::import::{Import, Tally};

async fn owner() -> Scoped {
    crate::open("memory:").await.unwrap().build().await.unwrap().of(&Scope::new("acme", "ada").unwrap())
}

async fn import(ada: &Scoped, text: String) -> Tally {
    let mut import = Import::begin(ada.clone(), Cursor::new(text.into_bytes()), whole_source()).unwrap();
    while import.step().await.unwrap().is_some() {}
    import.finish()
}

fn id(number: u8) -> String {
    format!("018f0000-0000-7000-8000-0000000000{number:02}")
}

/// Returns a conversation of messages, each of a number and its words.
fn talk(session: &str, said: &[(u8, &str)]) -> String {
    let line = |(number, words): &(u8, &str)| json!({"session": session, "id": id(*number), "role": "user", "content": words, "at": "2024-05-01T00:00:00Z"});
    said.iter().map(|said| format!("{}\n", line(said))).collect()
}

fn trunk() -> String {
    talk("trunk", &[(1, "a dough of rye"), (2, "how long does it rest?"), (3, "an hour")])
}

fn branch() -> String {
    talk("branch", &[(1, "a dough of rye"), (2, "how long does it rest?"), (4, "over night")])
}

async fn words(ada: &Scoped, session: &str) -> Vec<String> {
    let page = ada.session(&SessionId::new(session).unwrap()).history(HistoryEdge::Oldest, 9).await.unwrap();
    page.messages.iter().map(|row| row.message.as_ref().map_or_else(String::new, |message| message.text())).collect()
}

fn counts(tally: &Tally) -> [u64; 4] {
    [tally.added, tally.already, tally.forgotten, tally.rejected]
}

const BRANCH: [&str; 3] = ["a dough of rye", "how long does it rest?", "over night"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_conversations_have_what_they_share_by_one_import_or_by_two() {
    for parts in [vec![trunk() + &branch()], vec![trunk(), branch()], vec![branch(), trunk()]] {
        let ada = owner().await;
        for part in &parts {
            let tally = import(&ada, part.clone()).await;
            assert_eq!((tally.rejected, tally.already), (0, 0), "{tally:?}");
        }
        assert_eq!(words(&ada, "branch").await, BRANCH);
        assert_eq!(words(&ada, "trunk").await.len(), 3);
        for again in [trunk(), branch(), branch() + &trunk()] {
            let tally = import(&ada, again).await;
            assert_eq!((tally.added, tally.rejected, tally.forgotten), (0, 0, 0), "{tally:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_is_there_once_after_the_other_conversation_was_forgotten() {
    let ada = owner().await;
    import(&ada, trunk() + &branch()).await;
    for session in ["trunk", "branch"] {
        ada.forget(&Forget::Session(SessionId::new(session).unwrap())).await.unwrap();
        let other = if session == "trunk" { "branch" } else { "trunk" };
        let told = words(&ada, other).await;
        assert_eq!(counts(&import(&ada, branch() + &trunk()).await), [3, 3, 0, 0], "without {session}");
        assert_eq!((words(&ada, other).await, words(&ada, session).await.len()), (told, 3));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_forgotten_in_one_conversation_is_not_brought_back_by_the_other() {
    let ada = owner().await;
    import(&ada, trunk()).await;
    let first: MessageId = id(1).parse().unwrap();
    ada.forget(&Forget::Messages(vec![first])).await.unwrap();
    import(&ada, trunk() + &branch()).await;
    assert!(!words(&ada, "branch").await.contains(&BRANCH[0].to_owned()));

    // Nor is what was forgotten of the branch, once the other conversation is gone.
    let page = ada.session(&SessionId::new("branch").unwrap()).history(HistoryEdge::Oldest, 9).await.unwrap();
    let second =
        page.messages.iter().find(|row| row.message.as_ref().is_some_and(|message| message.text() == BRANCH[1]));
    ada.forget(&Forget::Messages(vec![second.unwrap().id])).await.unwrap();
    ada.forget(&Forget::Session(SessionId::new("trunk").unwrap())).await.unwrap();
    let tally = import(&ada, branch()).await;
    assert_eq!((tally.forgotten, tally.already), (1, 1), "{tally:?}");
    assert!(!words(&ada, "branch").await.contains(&BRANCH[1].to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_words_under_an_id_that_is_taken_are_refused() {
    let ada = owner().await;
    import(&ada, trunk()).await;
    let other = || talk("other", &[(1, "a dough of wheat"), (2, "how long does it rest?")]);
    for (added, already) in [(1, 0), (0, 1)] {
        assert_eq!(counts(&import(&ada, other()).await), [added, already, 0, 1]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_the_file_does_not_name_is_not_stored_twice() {
    let ada = owner().await;
    let line = json!({"messages": [{"id": id(1), "role": "user", "content": "a dough of rye"}]}).to_string();
    assert_eq!(counts(&import(&ada, format!("{line}\n")).await), [1, 0, 0, 0]);
    // The line has moved, and with it the name that is made of it.
    assert_eq!(counts(&import(&ada, format!("\n{line}\n")).await), [0, 0, 0, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_imports_at_once_of_what_branched_keep_both_whole() {
    let timeless = |talk: String| talk.replace(r#""at":"#, r#""nothing":"#);
    assert_ne!(timeless(trunk()), trunk());
    for round in 0..20 {
        let ada = owner().await;
        let (first, second) =
            if round % 2 == 0 { (trunk(), branch()) } else { (timeless(trunk()), timeless(branch())) };
        let (one, other) = tokio::join!(import(&ada, first), import(&ada, second));
        assert_eq!((counts(&one), counts(&other)), ([3, 0, 0, 0], [3, 0, 0, 0]), "{one:?} {other:?}");
        assert_eq!(words(&ada, "branch").await, BRANCH);
        assert_eq!(words(&ada, "trunk").await.len(), 3);
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_in_a_journal_is_parted_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let settings = crate::Settings::new(file.to_str().unwrap()).with_journal(folder.path().join("journal.sqlite"));
    let scope = Scope::new("acme", "ada").unwrap();
    for parts in [[trunk(), branch()], [branch(), trunk()]] {
        let memory = settings.clone().open().await.unwrap().build().await.unwrap();
        for part in parts {
            assert_eq!(import(&memory.of(&scope), part).await.rejected, 0);
        }
        memory.close().await.unwrap();
    }
    let ada = settings.clone().open().await.unwrap().build().await.unwrap().of(&scope);
    assert_eq!(words(&ada, "branch").await, BRANCH);
    assert_eq!(words(&ada, "trunk").await.len(), 3);
}
