//! What conversations are called.

use memory_core::engine::Title;
use memory_core::{Message, Role, SessionId, Timestamp};

use crate::bench::Bench;

async fn title(bench: &Bench, messages: Vec<Message>) -> Option<(String, bool)> {
    let session = bench.owner("ada").session(&SessionId::new("talk").unwrap());
    session.append(messages).await.unwrap();
    session.title().await.unwrap().map(|Title { text, is_given }| (text, is_given))
}

fn said(role: Role, text: &str) -> Message {
    Message::new(role, text, Timestamp(0))
}

#[tokio::test]
async fn a_conversation_has_the_title_that_its_newest_message_gives() {
    let bench = Bench::new().await;
    let titled = |text: &str, title: &str| said(Role::User, text).with_metadata("title", title);
    let first = title(&bench, vec![titled("Hello!", "A  trip\nto Porto"), said(Role::Assistant, "Hi!")]).await;
    assert_eq!(first, Some(("A trip to Porto".to_owned(), true)));
    let newer = title(&bench, vec![titled("To Lisbon then.", "A trip to Lisbon")]).await;
    assert_eq!(newer, Some(("A trip to Lisbon".to_owned(), true)));
}

#[tokio::test]
async fn a_conversation_without_a_title_is_called_by_what_a_person_said_first() {
    let bench = Bench::new().await;
    assert_eq!(title(&bench, vec![said(Role::System, "You help."), said(Role::User, " ")]).await, None);
    let greeted = title(&bench, vec![said(Role::Assistant, "How can I help?")]).await;
    assert_eq!(greeted, Some(("How can I help?".to_owned(), false)));
    let (words, is_given) = title(&bench, vec![said(Role::User, &"word ".repeat(40))]).await.unwrap();
    assert!(words.starts_with("word word") && words.ends_with("word…") && words.chars().count() <= 61, "{words}");
    assert!(!is_given);
}
