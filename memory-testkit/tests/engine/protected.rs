//! Records that are pinned or put on hold while retention forgets them: at every call of a store.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Forget, HistoryEdge, Memory, Remember, Retained, Retention, Scoped, Session};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::{Filter, ItemId, Message, Record, RecordId, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, ManualClock, Tapped};

use crate::bench::session;

const INJECTOR: &str = "Ada carries an injector";
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// How long each call of a store takes.
const CALL: Duration = Duration::from_millis(20);

fn slow<S: ?Sized>(store: Arc<S>) -> Arc<Tapped<S>> {
    Arc::new(Tapped::new(store, Arc::new(Counting::default())).slow(CALL))
}

/// A memory in which a message is too old, as are a record derived from it and one derived from that.
struct Old {
    memory: Memory,
    clock: Arc<ManualClock>,
    talk: Session,
    told: RecordId,
    derived: RecordId,
}

impl Old {
    async fn with(retention: Retention) -> Self {
        let clock = Arc::new(ManualClock::default());
        let chat = Truth::chat(Arc::new(MemChat::default())).layered(|store| slow(store));
        let records = Truth::records(Arc::new(MemRecords::default())).layered(|store| slow(store));
        let builder = Memory::builder(chat, records).clock(clock.clone()).retention(Retained::Everything, retention);
        let memory = builder.build().await.unwrap();
        let talk = memory.of(&Scope::new("acme", "ada").unwrap()).session(&session("talk"));
        let said = Message::new(Role::User, "I am allergic to nuts.", memory.now());
        let source = ItemId::Message(said.id);
        talk.append(vec![said]).await.unwrap();
        let told = Remember::fact("Ada is allergic").with_source(source);
        let told = talk.scoped().remember(told).await.unwrap().id;
        let derived = Remember::fact(INJECTOR).with_source(ItemId::Record(told));
        let derived = talk.scoped().remember(derived).await.unwrap().id;
        clock.advance(2 * DAY);
        Self { memory, clock, talk, told, derived }
    }

    /// Tends the memory, and does something so long after upkeep began.
    async fn tend_beside<T>(&self, wait: Duration, work: impl AsyncFnOnce(&Scoped) -> T) -> T {
        let memory = self.memory.clone();
        let tending = tokio::spawn(async move { memory.upkeep_once().await.unwrap() });
        tokio::time::sleep(wait).await;
        let outcome = work(self.talk.scoped()).await;
        assert_eq!(tending.await.unwrap().failures, [""; 0]);
        for _ in 0..3 {
            self.clock.advance(DAY / 8);
            assert_eq!(self.memory.upkeep_once().await.unwrap().failures, [""; 0]);
        }
        outcome
    }

    /// Returns whether the message, the first record and the second are still there.
    async fn left(&self) -> [bool; 3] {
        let rows = self.talk.history(HistoryEdge::Oldest, 10).await.unwrap().messages;
        let records = self.talk.scoped().get(&[self.told, self.derived]).await.unwrap();
        let holds = |id: RecordId| records.iter().any(|row| row.record.id == id);
        [rows.iter().any(|row| row.message.is_some()), holds(self.told), holds(self.derived)]
    }
}

/// Protects the last record at every moment of upkeep, until it comes too late.
async fn protected_at_every_call(retention: Retention, protect: fn(&mut Record)) {
    let mut wait = Duration::ZERO;
    loop {
        let old = Old::with(retention).await;
        let is_protected = old.tend_beside(wait, async |ada| ada.update(old.derived, protect).await.is_ok()).await;
        if !is_protected {
            assert_eq!(old.left().await, [retention.age.is_none(), false, false], "after {wait:?}");
            break;
        }
        assert_eq!(old.left().await, [true; 3], "after {wait:?}");
        // Nothing is on its way out.
        let ada = old.talk.scoped();
        ada.update(old.told, |record| record.first.tags.push("seen".to_owned())).await.unwrap();
        ada.remember(Remember::fact("Ada asks about nuts").with_source(ItemId::Record(old.told))).await.unwrap();
        wait += CALL / 4;
    }
    assert!(wait > 3 * CALL, "{wait:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_pinned_while_its_source_lapses_stays_with_it() {
    let pin = |record: &mut Record| record.tellings_mut().for_each(|telling| telling.pinned = true);
    protected_at_every_call(Retention::default().with_age(DAY), pin).await;
    protected_at_every_call(Retention::default().with_record_age(DAY), pin).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_put_on_hold_while_its_source_lapses_stays_with_it() {
    let hold = |record: &mut Record| record.hold = true;
    protected_at_every_call(Retention::default().with_age(DAY), hold).await;
    protected_at_every_call(Retention::default().with_record_age(DAY), hold).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_told_again_and_pinned_while_it_lapses_is_there() {
    for quarter in 0..80 {
        let old = Old::with(Retention::default().with_age(DAY).with_record_age(DAY)).await;
        let again = Remember::fact(INJECTOR).pinned();
        old.tend_beside(CALL / 4 * quarter, async |ada| ada.remember(again).await.unwrap()).await;
        let records = old.talk.scoped().get(&[old.derived]).await.unwrap();
        assert!(records.iter().any(|row| row.record.is_pinned()), "after {quarter} quarters of a call");
    }
}

/// More records than are deleted at once, so that some are gone when one of the others is told again.
#[tokio::test(start_paused = true)]
async fn a_message_whose_fall_was_stopped_half_way_falls_once_nothing_holds_it() {
    const DERIVED: usize = 300;
    let mut stopped = 0;
    for half in 0..60 {
        let old = Old::with(Retention::default().with_age(DAY)).await;
        let ada = old.talk.scoped();
        let fact = |number: usize| Remember::fact(format!("Ada has injector {number}"));
        let derived = (0..DERIVED).map(|number| fact(number).with_source(ItemId::Record(old.told)));
        let told = ada.remember_all(derived.collect()).await.unwrap();
        // The last that is deleted.
        let (number, _) = told.iter().enumerate().min_by_key(|(_, told)| told.id).unwrap();
        let again =
            old.tend_beside(CALL / 2 * half, async |ada| ada.remember(fact(number).pinned()).await.unwrap()).await;
        let left = ada.records(&Filter::All, None, 1_000).await.unwrap().len();
        let is_stopped = old.left().await[0];
        stopped += usize::from(is_stopped && left < DERIVED);
        ada.forget(&Forget::Records(vec![again.id])).await.unwrap();
        for _ in 0..3 {
            old.clock.advance(DAY);
            old.memory.upkeep_once().await.unwrap();
        }
        assert_eq!(old.left().await, [false; 3], "after {half} halves of a call");
    }
    assert!(stopped > 0);
}
