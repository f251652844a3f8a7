//! What is known of messages while it is open where they stand: on their way to the primary, or behind an answer that was lost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::engine::Search;
use memory_core::{MessageId, SessionId};
use tokio::time::sleep;

use crate::fixture::{Bed, ada, message, say, session};

/// When what waits goes to the primary.
const AGE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn o7_a_conversation_in_doubt_hides_no_other() {
    let bed = Bed::new();
    let memory = bed.open().await;
    say(&session(&memory), ["My rose is called Aurora.".to_owned()]).await;
    assert_eq!(memory.flush(AGE).await, 0);
    memory.upkeep_once().await.unwrap();
    bed.faults.loses_answers.store(true, Ordering::SeqCst);
    let other = memory.of(&ada()).session(&SessionId::new("other").unwrap());
    say(&other, ["The cellar is damp.".to_owned()]).await;
    sleep(2 * AGE).await;
    assert_eq!(bed.held().await.0, 1);
    let found = memory.of(&ada()).search(&Search::new("aurora cellar")).await.unwrap();
    let mut texts: Vec<String> = found.hits.iter().map(|hit| hit.content.text()).collect();
    texts.sort();
    assert_eq!(
        (texts.as_slice(), found.receipt.degraded.len()),
        (["My rose is called Aurora.", "The cellar is damp."].map(str::to_owned).as_slice(), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn o7_a_message_is_known_at_every_moment_of_its_way() {
    const STEP: Duration = Duration::from_millis(50);
    let bed = Bed::new();
    *bed.faults.delay.lock().unwrap() = 6 * STEP;
    let memory = bed.open().await;
    let ids = async |id: MessageId| {
        let ada = memory.of(&ada());
        let (read, found) = (ada.messages(&[id]).await.unwrap(), ada.search(&Search::new("aurora")).await.unwrap());
        assert_eq!(found.receipt.degraded.len(), 0);
        (read.len(), found.hits.len())
    };
    // The readers of all moments at once, each a while after the message was said.
    let said = message("My rose is called Aurora.");
    session(&memory).append(vec![said.clone()]).await.unwrap();
    let reading = (0..20).map(|number| {
        let ids = &ids;
        async move {
            sleep(AGE - 5 * STEP + number * STEP).await;
            assert_eq!(ids(said.id).await, (1, 1), "at moment {number}");
        }
    });
    futures_util::future::join_all(reading).await;
    assert_eq!(bed.held().await.0, 0);
}
