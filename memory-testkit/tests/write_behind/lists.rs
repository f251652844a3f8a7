//! Calls about many conversations of which something waits: complete, and they read a few at a time.

use std::sync::atomic::Ordering;

use memory_core::SessionId;
use memory_core::engine::Forget;

use crate::fixture::{Bed, ada, message};

/// More conversations than are read at once.
const MANY: usize = 100;

fn name(number: usize) -> SessionId {
    SessionId::new(&format!("talk {number:03}")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_page_of_conversations_that_wait_reads_no_more_than_it_shows() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let owner = memory.of(&ada());
    for number in 0..MANY {
        owner.session(&name(number)).append(vec![message("waits")]).await.unwrap();
    }
    assert_eq!(bed.held().await, (MANY, 0));
    let (mut after, mut listed) = (None, Vec::new());
    for _ in 0..MANY / 5 {
        let before = bed.faults.reads.load(Ordering::SeqCst);
        let page = owner.sessions(after.as_ref(), 5).await.unwrap();
        let reads = bed.faults.reads.load(Ordering::SeqCst) - before;
        assert!(page.len() == 5 && reads < 30, "{reads} reads for {} conversations", page.len());
        assert!(page.iter().all(|state| state.active_messages == 1));
        listed.extend(page.into_iter().map(|state| state.session));
        after = listed.last().cloned();
    }
    assert_eq!(listed, (0..MANY).map(name).collect::<Vec<_>>());
    assert!(owner.sessions(after.as_ref(), 5).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn messages_that_wait_in_many_conversations_are_found_and_few_of_these_are_read_at_once() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let owner = memory.of(&ada());
    let said: Vec<_> = (0..MANY).map(|number| message(format!("waits {number}"))).collect();
    for (number, said) in said.iter().enumerate() {
        owner.session(&name(number)).append(vec![said.clone()]).await.unwrap();
    }
    let ids: Vec<_> = said.iter().map(|said| said.id).collect();
    bed.faults.at_once.store(0, Ordering::SeqCst);
    assert_eq!(owner.messages(&ids).await.unwrap().len(), MANY);
    let at_once = bed.faults.at_once.swap(0, Ordering::SeqCst);
    assert!((2..=16).contains(&at_once), "{at_once} at once");
    // To be forgotten they are sent first, as few at once.
    assert!(owner.forget(&Forget::Messages(ids)).await.unwrap().complete);
    let at_once = bed.faults.at_once.load(Ordering::SeqCst);
    assert!((2..=16).contains(&at_once), "{at_once} at once");
}
