//! Deletions from an index that arrive once more, long after they were answered: as a guard repeats one whose answer was lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, Scoped, Search};
use memory_core::methods::*;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::{Error, Message, Role, Truth};
use memory_testkit::broken_store;

use crate::bench::session;

memory_core::store_methods!(Store, TextStore => broken_store { MemText {} });

/// Keeps what it was told to delete.
#[derive(Debug, Default)]
struct Repeating {
    deletions: Mutex<Vec<(Scope, Deletion)>>,
    is_away: AtomicBool,
}

#[async_trait]
impl Break for Repeating {
    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(Error::Overloaded);
        }
        inner.delete(scope, what).await?;
        self.deletions.lock().unwrap().push((scope.clone(), what.clone()));
        Ok(())
    }
}

impl Mutant<Repeating> {
    fn away(&self, is_away: bool) {
        self.broken.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Carries every deletion out once more.
    async fn repeat(&self) {
        let deletions = self.broken.deletions.lock().unwrap().clone();
        assert!(!deletions.is_empty());
        for (scope, what) in deletions {
            self.inner.delete(&scope, &what).await.unwrap();
        }
    }
}

struct Play {
    text: Arc<Mutant<Repeating>>,
    memory: Memory,
    ada: Scoped,
}

impl Play {
    async fn new() -> Self {
        let inner = MemText::new(Analysis::english().name());
        let text = Arc::new(Mutant { inner, broken: Repeating::default() });
        let (chat, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
        let builder = Memory::builder(Truth::chat(chat), Truth::records(records)).text(text.clone());
        let memory = builder.build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        Self { text, memory, ada }
    }

    async fn say(&self, message: Message) {
        self.ada.session(&session("talk")).append(vec![message]).await.unwrap();
    }

    async fn tend(&self) {
        self.memory.upkeep_once().await.unwrap();
    }

    async fn found(&self, words: &str) -> usize {
        self.ada.search(&Search::new(words)).await.unwrap().hits.len()
    }

    /// Passes if `words` are found once, also when every deletion comes once more.
    async fn survives(&self, words: &str) {
        self.tend().await;
        assert_eq!(self.found(words).await, 1);
        self.text.repeat().await;
        self.tend().await;
        assert_eq!(self.found(words).await, 1, "a repeated deletion took what came after it");
    }
}

fn said(text: &str) -> Message {
    Message::new(Role::User, text, Timestamp(1_700_000_000_000_000))
}

#[tokio::test]
async fn a_forgotten_session_takes_nothing_of_the_next_of_its_name() {
    let play = Play::new().await;
    play.say(said("an old matter")).await;
    play.tend().await;
    play.ada.forget(&Forget::Session(session("talk"))).await.unwrap();
    assert_eq!(play.found("old matter").await, 0);
    play.say(said("the boiler was mended by Otto")).await;
    play.survives("boiler").await;
}

#[tokio::test]
async fn upkeep_that_goes_on_with_a_forgotten_session_takes_nothing_of_the_next() {
    let play = Play::new().await;
    play.say(said("an old matter")).await;
    play.tend().await;
    play.text.away(true);
    play.ada.forget(&Forget::Session(session("talk"))).await.unwrap();
    play.text.away(false);
    play.say(said("the boiler was mended by Otto")).await;
    play.survives("boiler").await;
    assert_eq!(play.found("old matter").await, 0);
}

#[tokio::test]
async fn a_forgotten_record_takes_nothing_of_the_same_told_again() {
    let play = Play::new().await;
    let fact = || Remember::fact("the boiler was mended by Otto");
    let id = play.ada.remember(fact()).await.unwrap().id;
    play.tend().await;
    play.ada.forget(&Forget::Records(vec![id])).await.unwrap();
    play.tend().await;
    assert_eq!(play.found("boiler").await, 0);
    assert_eq!(play.ada.remember(fact()).await.unwrap().id, id);
    play.survives("boiler").await;
}

#[tokio::test]
async fn a_forgotten_message_takes_nothing_of_one_with_its_id() {
    let play = Play::new().await;
    let message = said("the boiler was mended by Otto");
    play.say(message.clone()).await;
    play.tend().await;
    play.ada.forget(&Forget::Messages(vec![message.id])).await.unwrap();
    assert_eq!(play.found("boiler").await, 0);
    play.ada.forget(&Forget::Session(session("talk"))).await.unwrap();
    play.say(message).await;
    play.survives("boiler").await;
}

#[tokio::test]
async fn what_is_cleaned_after_a_search_takes_nothing_of_what_is_stored_again() {
    let play = Play::new().await;
    let fact = || Remember::fact("the boiler was mended by Otto");
    let id = play.ada.remember(fact()).await.unwrap().id;
    play.tend().await;
    play.text.away(true);
    play.ada.forget(&Forget::Records(vec![id])).await.unwrap();
    play.text.away(false);
    let found = play.ada.search(&Search::new("boiler")).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.dropped_at_hydration), (0, 1));
    play.tend().await;
    play.ada.remember(fact()).await.unwrap();
    play.survives("boiler").await;
}

#[tokio::test]
async fn a_span_of_instructions_takes_nothing_of_the_messages_behind_them() {
    let play = Play::new().await;
    play.say(Message::new(Role::System, "Be brief.", Timestamp(1_700_000_000_000_000))).await;
    play.tend().await;
    play.say(said("the boiler was mended by Otto")).await;
    play.tend().await;
    play.survives("boiler").await;
    let spans = [ItemId::Span(session("talk"), 0)];
    let scope = Scope::new("acme", "ada").unwrap();
    assert_eq!(play.text.versions(&scope, &spans).await.unwrap().len(), 1, "the span is there");
}
