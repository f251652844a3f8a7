use super::*;
use crate::message::{Message, Role};
use crate::store::chat::NewMessage;
use crate::time::Timestamp;

fn batch(count: usize) -> Append {
    let new = || NewMessage::sized(Message::new(Role::User, "hi", Timestamp(0)), 1);
    Append::new((0..count).map(|_| new()).collect())
}

#[tokio::test]
async fn owners_that_have_nothing_queued_leave_no_trace() {
    let journal = MemJournal::new(10);
    let session = SessionId::new("s").unwrap();
    for n in 0..30 {
        let scope = Scope::new("acme", &n.to_string()).unwrap();
        let last = journal.push(&scope, &session, &batch(3)).await.unwrap();
        journal.acknowledge(&[last, last - 1]).await.unwrap();
        journal.reject(last - 2, "refused").await.unwrap();
        journal.erase(&scope, Some(&session)).await.unwrap();
    }
    let state = journal.state.lock();
    assert!(state.owners.is_empty() && state.queued.is_empty() && state.rejected.is_empty());
}

#[tokio::test]
async fn the_bound_holds_for_whole_batches_and_for_what_is_revived() {
    let journal = MemJournal::new(3);
    let (scope, session) = (Scope::new("acme", "ada").unwrap(), SessionId::new("s").unwrap());
    journal.push(&scope, &session, &batch(2)).await.unwrap();
    assert!(matches!(journal.push(&scope, &session, &batch(2)).await, Err(Error::QueueFull)));
    assert_eq!(journal.queued(None, None, 9).await.unwrap().len(), 2);
    journal.reject(1, "refused").await.unwrap();
    journal.push(&scope, &session, &batch(2)).await.unwrap();
    assert!(matches!(journal.revive(&[1]).await, Err(Error::QueueFull)));
    assert_eq!(journal.rejected(9).await.unwrap().len(), 1);
    journal.acknowledge(&[2]).await.unwrap();
    journal.revive(&[1, 1, 77]).await.unwrap();
    let numbers: Vec<u64> = journal.queued(Some(&scope), None, 9).await.unwrap().iter().map(|q| q.number).collect();
    assert_eq!(numbers, [3, 4, 5]);
}
