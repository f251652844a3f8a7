//! A cache before truth, and writes for which nobody waits any more: they are carried out later, and what they changed is seen.

use std::sync::Arc;

use memory_core::engine::{Forget, Memory, Remember, Scoped};
use memory_core::reference::{MemCache, MemChat, MemRecords};
use memory_core::store::records::RecordStore as _;
use memory_core::{ItemId, Message, MessageId, RecordId, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, Cut, Ending, ManualClock, Tapped};

use crate::bench::session;

/// Stores that several memories share, as processes do.
struct Ground {
    clock: Arc<ManualClock>,
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    cache: Arc<MemCache>,
    cut: Arc<Cut>,
}

impl Ground {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let cache = Arc::new(MemCache::new(clock.clone()));
        Self { clock, cache, chat: Arc::default(), records: Arc::default(), cut: Arc::default() }
    }

    /// Opens a memory with a cache, in which calls of the record store can be dropped.
    async fn open(&self) -> Memory {
        let tap = Arc::new(Counting::default());
        let records = Truth::records(self.records.clone());
        let records = records.layered(|store| Arc::new(Tapped::new(store, tap).cut_by(self.cut.clone())));
        let builder = Memory::builder(Truth::chat(self.chat.clone()), records);
        builder.cache(self.cache.clone()).touch(false).clock(self.clock.clone()).build().await.unwrap()
    }

    /// Says something, and remembers what was derived from it.
    async fn told(&self, memory: &Memory) -> (MessageId, RecordId) {
        let message = Message::new(Role::User, "My rose is called Aurora.", memory.now());
        let id = message.id;
        ada(memory).session(&session("talk")).append(vec![message]).await.unwrap();
        let fact = Remember::fact("Aurora is a rose").with_source(ItemId::Message(id));
        (id, ada(memory).remember(fact).await.unwrap().id)
    }

    /// Carries out a deletion of a record, of which no process hears.
    async fn delete(&self, record: RecordId) {
        let scope = Scope::new("acme", "ada").unwrap();
        let version = self.records.get(&scope, &[record]).await.unwrap()[0].version;
        assert_eq!(self.records.delete(&scope, &[(record, version)]).await.unwrap(), 1);
    }
}

fn ada(memory: &Memory) -> Scoped {
    memory.of(&Scope::new("acme", "ada").unwrap())
}

/// Reads a record twice, so that it is cached if anything may be.
async fn seen(memory: &Memory, record: RecordId) -> usize {
    ada(memory).get(&[record]).await.unwrap();
    ada(memory).get(&[record]).await.unwrap().len()
}

/// Forgets a message in `unlucky`, whose deletion of the record is dropped and carried out later. Meanwhile something else is
/// written in `here`, and the record read. Then `here` forgets the message.
async fn forgotten_late(ground: &Ground, unlucky: &Memory, here: &Memory) {
    let (message, record) = ground.told(here).await;
    let what = Forget::Messages(vec![message]);
    ground.cut.arm_at("delete", Ending::IsDroppedBefore);
    assert!(ground.cut.give_up(ada(unlucky).forget(&what)).await.is_none());
    ada(here).remember(Remember::fact("Tulips need cold")).await.unwrap();
    assert_eq!(seen(here, record).await, 1);
    ground.delete(record).await;
    assert!(ada(here).forget(&what).await.unwrap().complete);
    assert_eq!(ada(here).get(&[record]).await.unwrap(), []);
}

#[tokio::test]
async fn what_a_deletion_that_was_dropped_took_is_not_served_after_the_forget_is_repeated() {
    let ground = Ground::new();
    let memory = ground.open().await;
    forgotten_late(&ground, &memory, &memory).await;
}

#[tokio::test]
async fn nor_is_it_where_another_process_repeats_the_forget() {
    let ground = Ground::new();
    let (unlucky, here) = (ground.open().await, ground.open().await);
    forgotten_late(&ground, &unlucky, &here).await;
}

#[tokio::test]
async fn a_write_that_was_dropped_and_is_carried_out_later_is_seen() {
    let ground = Ground::new();
    let (unlucky, here) = (ground.open().await, ground.open().await);
    let (_, record) = ground.told(&here).await;
    assert_eq!(seen(&here, record).await, 1);
    ground.cut.arm_at("delete", Ending::IsDroppedBefore);
    assert!(ground.cut.give_up(ada(&unlucky).forget(&Forget::Records(vec![record]))).await.is_none());
    // A task tells the others.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    for memory in [&unlucky, &here] {
        ada(memory).remember(Remember::fact("Tulips need cold")).await.unwrap();
        assert_eq!(seen(memory, record).await, 1);
    }
    ground.delete(record).await;
    for memory in [&unlucky, &here] {
        assert_eq!(ada(memory).get(&[record]).await.unwrap(), []);
    }
}
