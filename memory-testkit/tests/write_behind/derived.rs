//! What waits is sent before something is derived from it: what is derived names no message that truth does not hold.

use std::time::Duration;

use memory_core::engine::{HistoryEdge, Remember};
use memory_core::{ItemId, SessionId};
use tokio::time::timeout;

use crate::fixture::{Bed, ada, message, numbered, read, session};

/// Longer than any retry within a call.
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn a_record_is_stored_behind_the_message_that_it_is_derived_from() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let said = message("I live in Porto");
    session(&memory).append(vec![message("message 0"), said.clone(), message("message 1")]).await.unwrap();
    assert!(bed.stored().await.is_empty());
    let fact = || Remember::fact("lives in Porto").with_source(ItemId::Message(said.id));
    bed.faults.go_away();
    let refused = timeout(PATIENCE, memory.of(&ada()).remember(fact())).await;
    assert!(matches!(refused, Err(_) | Ok(Err(_))), "derived from what truth does not hold: {refused:?}");
    bed.faults.come_back();
    let receipt = memory.of(&ada()).remember(fact()).await.unwrap();
    assert_eq!(bed.stored().await.get(1).map(String::as_str), Some("I live in Porto"));
    let record = memory.of(&ada()).get(&[receipt.id]).await.unwrap().pop().unwrap();
    assert_eq!(record.record.sources(), [&ItemId::Message(said.id)]);
}

#[tokio::test(start_paused = true)]
async fn a_branch_leaves_only_from_a_message_that_truth_holds() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let said = message("message 1");
    talk.append(vec![message("message 0"), said.clone(), message("message 2")]).await.unwrap();
    assert!(bed.stored().await.is_empty());
    let branch = talk.fork(said.id, &SessionId::new("branch").unwrap()).await.unwrap();
    assert!(bed.stored().await.starts_with(&numbered(0..2)));
    branch.append(vec![message("what if")]).await.unwrap();
    let history = branch.history(HistoryEdge::Newest, 10).await.unwrap().messages;
    let texts: Vec<String> = history.into_iter().filter_map(|row| row.message).map(|said| said.text()).collect();
    assert_eq!(texts, ["message 0", "message 1", "what if"]);
    assert_eq!(read(&branch).await.0.last().map(String::as_str), Some("what if"));
}

#[tokio::test(start_paused = true)]
async fn a_replaced_message_that_waits_is_stored_once_and_its_variant_stays_out_of_the_window() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let last = message("message 1");
    talk.append(vec![message("message 0"), last.clone()]).await.unwrap();
    talk.replace(last.id, vec![message("message 1, in other words")]).await.unwrap();
    let mut shown = read(&talk).await.0;
    // The empty one stands for what was replaced.
    shown.retain(|text| !text.is_empty());
    assert_eq!(shown, ["message 0", "message 1, in other words"]);
    memory.close().await.unwrap();
    assert_eq!(bed.stored().await.iter().filter(|text| text.contains("in other words")).count(), 1);
    assert_eq!(bed.held().await, (0, 0));
}
