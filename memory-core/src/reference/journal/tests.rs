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
        journal.erase(&scope, Some(&session), Fence::default()).await.unwrap();
    }
    let state = journal.state.lock();
    assert!(state.owners.is_empty() && state.queued.is_empty() && state.rejected.is_empty());
}
