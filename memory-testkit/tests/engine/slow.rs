//! Processes that are slow, stores that refuse for a while: an index ends with what truth holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember};
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::store::text::{TextQuery, TextStore};
use memory_core::{Cause, Error, Filter, Message, Result, Role, Scope, Transience, Truth, Unit};
use memory_testkit::doubles::{Counting, Cut, Ending, ManualClock, Tap, Tapped};

use crate::bench::session;

/// Stores that several memories share, as processes do.
struct Ground {
    clock: Arc<ManualClock>,
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    text: Arc<MemText>,
}

impl Ground {
    fn new() -> Self {
        let text = Arc::new(MemText::new(Analysis::english().name()));
        Self { clock: Arc::default(), chat: Arc::default(), records: Arc::default(), text }
    }

    async fn open(&self, text: Tapped<MemText>) -> Memory {
        let builder = Memory::builder(Truth::chat(self.chat.clone()), Truth::records(self.records.clone()));
        builder.text(Arc::new(text)).clock(self.clock.clone()).build().await.unwrap()
    }

    async fn plain(&self) -> Memory {
        self.open(Tapped::new(self.text.clone(), Arc::new(Counting::default()))).await
    }

    /// Returns how many entries the index itself holds, whatever truth says.
    async fn indexed(&self, unit: Unit) -> u64 {
        let query = TextQuery { terms: Vec::new(), unit, filter: Filter::All, limit: 1 };
        self.text.search(&ada(), &query).await.unwrap().documents
    }
}

fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

/// Stores a message, lets a process stop before it puts it, has it forgotten and settled by another, and lets the slow one go
/// on.
async fn slow(what: impl Fn(&Message) -> Forget) -> Ground {
    let (ground, cut) = (Ground::new(), Arc::new(Cut::default()));
    let here = ground.plain().await;
    let slow = ground.open(Tapped::new(ground.text.clone(), Arc::new(Counting::default())).cut_by(cut.clone())).await;
    let messages = ["My rose is called Aurora.", "Boreas is a tulip."];
    let messages = messages.map(|text| Message::new(Role::User, text, here.now()));
    here.of(&ada()).session(&session("talk")).append(messages.to_vec()).await.unwrap();
    cut.arm_at("put", Ending::IsDroppedBefore);
    let pass = tokio::spawn(async move { slow.upkeep_once().await });
    cut.reached().await;
    here.of(&ada()).forget(&what(&messages[0])).await.unwrap();
    here.upkeep_once().await.unwrap();
    cut.resume();
    pass.await.unwrap().unwrap();
    ground
}

fn message_of(memory: &Memory) -> Message {
    Message::new(Role::User, "Boreas is a tulip.", memory.now())
}

#[tokio::test]
async fn a_process_that_was_slow_puts_back_nothing_that_was_forgotten_meanwhile() {
    let ground = slow(|message| Forget::Messages(vec![message.id])).await;
    assert_eq!(ground.indexed(Unit::Message).await, 1);
    let ground = slow(|_| Forget::Session(session("talk"))).await;
    assert_eq!((ground.indexed(Unit::Message).await, ground.indexed(Unit::Span).await), (0, 0));
}

#[tokio::test]
async fn a_process_that_was_slow_puts_back_no_record() {
    let (ground, cut) = (Ground::new(), Arc::new(Cut::default()));
    let here = ground.plain().await;
    let slow = ground.open(Tapped::new(ground.text.clone(), Arc::new(Counting::default())).cut_by(cut.clone())).await;
    let record = here.of(&ada()).remember(Remember::fact("Roses need water")).await.unwrap().id;
    cut.arm_at("put", Ending::IsDroppedBefore);
    let pass = tokio::spawn(async move { slow.upkeep_once().await });
    cut.reached().await;
    here.of(&ada()).forget(&Forget::Records(vec![record])).await.unwrap();
    here.upkeep_once().await.unwrap();
    cut.resume();
    pass.await.unwrap().unwrap();
    assert_eq!(ground.indexed(Unit::Record).await, 0);
}

/// Refuses whatever is asked, as a server does when the key has expired.
#[derive(Debug, Default)]
struct Refusing(AtomicBool);

impl Tap for Refusing {
    fn enter(&self, _: &'static str) -> Result<()> {
        if !self.0.load(Ordering::SeqCst) {
            return Ok(());
        }
        let source = Cause::new("401: the key has expired");
        Err(Error::Backend { backend: "test", doing: "answer", transience: Transience::Permanent, source })
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_store_that_refuses_for_an_hour_only_delays() {
    let (ground, refusing) = (Ground::new(), Arc::new(Refusing::default()));
    let memory = ground.open(Tapped::new(ground.text.clone(), refusing.clone())).await;
    let (talk, bob) = (session("talk"), Scope::new("acme", "bob").unwrap());
    memory.of(&bob).session(&talk).append(vec![message_of(&memory)]).await.unwrap();
    memory.upkeep_once().await.unwrap();
    refusing.0.store(true, Ordering::SeqCst);
    memory.of(&ada()).session(&talk).append(vec![message_of(&memory)]).await.unwrap();
    memory.of(&ada()).remember(Remember::fact("Roses need water")).await.unwrap();
    assert!(!memory.of(&bob).forget(&Forget::Everything).await.unwrap().complete);
    for _ in 0..60 {
        assert_eq!(memory.upkeep_once().await.unwrap().dead, 0);
        ground.clock.advance(Duration::from_secs(60));
    }
    refusing.0.store(false, Ordering::SeqCst);
    ground.clock.advance(Duration::from_secs(3_600));
    memory.upkeep_once().await.unwrap();
    assert_eq!((ground.indexed(Unit::Message).await, ground.indexed(Unit::Record).await), (1, 1));
    let backlog = memory.status().await.indexes.remove(0).backlog.unwrap();
    assert_eq!((backlog.pending, backlog.dead), (0, 0));
    let query = TextQuery { terms: Vec::new(), unit: Unit::Message, filter: Filter::All, limit: 1 };
    assert_eq!(ground.text.search(&bob, &query).await.unwrap().documents, 0);
}
