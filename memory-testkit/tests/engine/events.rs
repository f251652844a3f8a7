//! What a memory tells whoever watches it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::engine::{
    BoardEntry, ContextRequest, Event, Forget, MemoryBuilder, Observer, Remember, Search, WorkingNote,
};
use memory_core::extract::{FactCounts, RuleExtractor};
use memory_core::novelty::Gate;
use memory_core::store::chat::Page;
use memory_core::window::{BufferConfig, Folding, Oversize};
use memory_core::{MessageId, Role, Scope, Seq};

use crate::bench::{Bench, Taps, session};

/// Remembers what it was told, and panics if it is to.
#[derive(Debug, Default)]
struct Watch {
    told: Mutex<Vec<(Option<Scope>, Event)>>,
    panics: bool,
}

impl Observer for Watch {
    fn observe(&self, owner: Option<&Scope>, event: &Event) {
        self.told.lock().unwrap().push((owner.cloned(), event.clone()));
        assert!(!self.panics, "an observer that panics");
    }
}

impl Watch {
    /// Returns what was told since the last call, of owners with their subjects.
    fn take(&self) -> Vec<(String, Event)> {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        told.into_iter()
            .map(|(owner, event)| (owner.map_or_else(String::new, |owner| owner.subject()), event))
            .collect()
    }
}

async fn watched(config: BufferConfig) -> (Bench, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let observer = Arc::clone(&watch);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config).observer(observer)).await;
    (bench, watch)
}

fn archived(told: &[(String, Event)]) -> Vec<MessageId> {
    told.iter()
        .filter_map(|(_, event)| if let Event::Archived { message, .. } = event { Some(*message) } else { None })
        .collect()
}

#[tokio::test]
async fn s0_4_s2_13f_every_message_that_leaves_its_window_is_told_once_and_of_its_owner() {
    for folding in [Folding::Summaries, Folding::Archive] {
        let config = BufferConfig::default().with_capacity_messages(10).with_keep_turns(1).with_folding(folding);
        let (bench, watch) = watched(config).await;
        let (ada, bob) = (bench.session("ada"), bench.session("bob"));
        let said = bench.chatter(20);
        ada.append(said.clone()).await.unwrap();
        bob.append(bench.chatter(2)).await.unwrap();
        let report = bench.memory.upkeep_once().await.unwrap();
        let told = watch.take();
        let left: Vec<MessageId> = said.iter().take(30).map(|message| message.id).collect();
        assert_eq!((archived(&told), report.archived), (left, 30), "{folding:?}");
        assert!(
            told.iter().filter(|(_, event)| matches!(event, Event::Archived { .. })).all(|(owner, _)| owner == "ada")
        );
        let folds = told.iter().filter(|(_, event)| matches!(event, Event::Folded { messages: 30, .. })).count();
        assert_eq!(folds, usize::from(folding == Folding::Summaries));
        bench.memory.upkeep_once().await.unwrap();
        assert_eq!(archived(&watch.take()), [], "{folding:?}");
    }
}

#[tokio::test]
async fn s4_14_what_happens_is_told() {
    let (bench, watch) = watched(BufferConfig::default()).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    ada.remember(Remember::fact("Ada likes tea").gated(Gate::default())).await.unwrap();
    ada.remember(Remember::fact("Ada is on the train").with_ttl(Duration::from_secs(60))).await.unwrap();
    let first = bench.say(Role::Assistant, "A first answer.");
    let (first_id, second) = (first.id, bench.say(Role::Assistant, "A second answer."));
    talk.append(vec![bench.user("Tea?"), first]).await.unwrap();
    talk.replace(first_id, vec![second]).await.unwrap();
    bench.clock.advance(Duration::from_secs(60));
    bench.tend().await;
    ada.search(&Search::new("tea")).await.unwrap();
    let board = ada.blackboard();
    board.put(&BoardEntry::new("plan", "drink tea")).await.unwrap();
    board.get("plan").await.unwrap();
    board.get("none").await.unwrap();
    let told: Vec<Event> = watch.take().into_iter().map(|(_, event)| event).collect();
    let count = |is_one: fn(&Event) -> bool| told.iter().filter(|event| is_one(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Gated { is_new: true, .. })), 1);
    assert_eq!(count(|event| matches!(event, Event::Expired { records: 1 })), 1);
    assert_eq!(count(|event| matches!(event, Event::Archived { .. })), 1);
    assert_eq!(count(|event| matches!(event, Event::Recalled { degraded: 0, hits: 1.., .. })), 1);
    assert!(count(|event| matches!(event, Event::Embedded { .. })) >= 2, "{told:?}");
    assert_eq!(count(|event| matches!(event, Event::Hit)), 1);
    assert_eq!(count(|event| matches!(event, Event::Miss)), 1);
}

#[tokio::test]
async fn s4_14_creation_capacity_and_removal_are_told_once_each() {
    let config = BufferConfig::default().with_capacity_messages(4).with_folding(Folding::Off);
    let (bench, watch) = watched(config).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let first = bench.chatter(1);
    let told = |watch: &Watch| watch.take().into_iter().map(|(_, event)| event).collect::<Vec<Event>>();
    talk.append(first.clone()).await.unwrap();
    assert_eq!(told(&watch), [Event::Begun { session: talk.id().clone() }]);
    talk.append(first).await.unwrap();
    assert_eq!(told(&watch), [], "a repeat begins nothing");
    let filling = talk.append(bench.chatter(1)).await.unwrap();
    let tokens = talk.state().await.unwrap().active_tokens;
    assert!(filling.pressure >= 1.0);
    assert_eq!(told(&watch), [Event::Full { session: talk.id().clone(), tokens }]);
    talk.append(bench.chatter(1)).await.unwrap();
    assert_eq!(told(&watch), [], "it was full before");
    let receipt = ada.forget(&Forget::Session(talk.id().clone())).await.unwrap();
    let forgotten = Event::Forgotten { removed: receipt.removed, derived: 0, complete: true };
    assert_eq!((receipt.removed, told(&watch)), (6, vec![forgotten]));
}

#[tokio::test]
async fn s4_14_what_expires_outside_of_truth_is_told_and_so_is_what_is_deleted_from_a_board() {
    let (bench, watch) = watched(BufferConfig::default()).await;
    let (ada, minute) = (bench.owner("ada"), Duration::from_secs(60));
    let board = ada.blackboard();
    board.put(&BoardEntry::new("a", "v").with_ttl(minute)).await.unwrap();
    board.put(&BoardEntry::new("b", "v").with_ttl(2 * minute)).await.unwrap();
    board.put(&BoardEntry::new("c", "v")).await.unwrap();
    ada.note(WorkingNote::new("Trains to Porto leave at 8:15.", "timetable").with_ttl(minute)).await.unwrap();
    bench.tend().await;
    watch.take();
    bench.clock.advance(minute);
    let expired = Event::Expired { records: 1 };
    assert_eq!(board.sweep().await.unwrap(), 1);
    assert_eq!(watch.take(), [("ada".to_owned(), expired.clone())]);
    bench.clock.advance(5 * minute);
    assert_eq!(bench.memory.upkeep_once().await.unwrap().expired, 2);
    assert_eq!(watch.take(), [("ada".to_owned(), expired.clone()), (String::new(), expired)]);
    assert_eq!([board.delete("c").await.unwrap(), board.delete("c").await.unwrap()], [true, false]);
    let deleted = Event::Forgotten { removed: 1, derived: 0, complete: true };
    assert_eq!(watch.take(), [("ada".to_owned(), deleted)]);
}

#[tokio::test]
async fn s4_14_facts_branches_and_folds_that_are_undone_are_told() {
    let watch = Arc::new(Watch::default());
    let observer = Arc::clone(&watch);
    let bench = Bench::with(Taps::default(), |builder| {
        let config = BufferConfig::default().with_capacity_messages(10).with_keep_turns(1);
        builder.buffer(config).observer(observer).extractor(Arc::new(RuleExtractor))
    })
    .await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    talk.append(bench.chatter(10)).await.unwrap();
    let facts = bench.memory.upkeep_once().await.unwrap().facts;
    let found = watch.take().into_iter().filter_map(|(owner, event)| match event {
        Event::Extracted { facts, .. } if owner == "ada" => Some(facts),
        _ => None,
    });
    assert_eq!((found.sum::<usize>(), facts > 0), (facts, true));
    let branch = session("branch");
    for _ in 0..2 {
        talk.fork(Seq(21), &branch).await.unwrap();
    }
    let forked = Event::Forked { session: branch, from: talk.id().clone() };
    assert_eq!(watch.take(), [("ada".to_owned(), forked)], "the second call begins nothing");
    let rows = talk.read(&Page::newest(100)).await.unwrap().messages;
    let summary = rows.iter().find(|row| row.covers.is_some()).unwrap().id;
    talk.unfold(summary).await.unwrap();
    let unfolded = Event::Unfolded { session: talk.id().clone(), summary };
    assert!(watch.take().contains(&("ada".to_owned(), unfolded)));
}

#[tokio::test]
async fn what_came_of_facts_is_told() {
    let watch = Arc::new(Watch::default());
    let observer = Arc::clone(&watch);
    let with_rules = |builder: MemoryBuilder| builder.extractor(Arc::new(RuleExtractor)).observer(observer);
    let bench = Bench::with(Taps::default(), with_rules).await;
    let talk = bench.session("ada");
    for (said, counts) in [
        ("I live in Rome.", FactCounts { added: 1, ..FactCounts::default() }),
        ("I moved to Lisbon.", FactCounts { changed: 1, ..FactCounts::default() }),
    ] {
        talk.append(vec![bench.user(said)]).await.unwrap();
        bench.tend().await;
        let mut told = watch.take();
        told.retain(|(_, event)| matches!(event, Event::Extracted { .. }));
        assert_eq!(told, [("ada".to_owned(), Event::Extracted { facts: 1, counts })]);
    }
}

#[tokio::test]
async fn every_answer_is_told_with_the_time_that_it_took() {
    let (bench, watch) = watched(BufferConfig::default()).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    talk.append(bench.chatter(3)).await.unwrap();
    let newest = ada.search(&Search::new("")).await.unwrap();
    let context = talk.assemble(&ContextRequest::new("", 1_000).recall(0)).await.unwrap();
    let told: Vec<Event> = watch.take().into_iter().map(|(_, event)| event).collect();
    let event = |hits, took_micros| Event::Recalled { hits, degraded: 0, took_micros };
    let begun = Event::Begun { session: talk.id().clone() };
    assert_eq!(told, [begun, event(6, newest.receipt.took_micros), event(0, context.receipt.took_micros)]);
}

#[tokio::test]
async fn s2_11_a_turn_that_is_too_large_is_told_whatever_becomes_of_it() {
    for oversize in [Oversize::Error, Oversize::TruncateMiddle, Oversize::Keep] {
        let (bench, watch) = watched(BufferConfig::default().with_oversize(oversize)).await;
        let talk = bench.session("ada");
        talk.append(vec![bench.user(&"a long story about roses ".repeat(200))]).await.unwrap();
        let context = talk.assemble(&ContextRequest::new("", 200).recall(0)).await;
        assert_eq!(context.is_err(), oversize == Oversize::Error, "{context:?}");
        let told = watch.take();
        let large = |(owner, event): &(String, Event)| match event {
            Event::Oversize { session, truncated, over } if owner == "ada" && session == talk.id() => {
                Some((*truncated, *over > 0))
            }
            _ => None,
        };
        let large: Vec<_> = told.iter().filter_map(large).collect();
        assert_eq!(large, [if oversize == Oversize::TruncateMiddle { (1, false) } else { (0, true) }], "{told:?}");
    }
    // A query that is too large by itself is no turn of the conversation.
    let (bench, watch) = watched(BufferConfig::default()).await;
    let talk = bench.session("ada");
    assert!(talk.context(&"a long story about roses ".repeat(200), 200).await.is_err());
    assert!(!watch.take().iter().any(|(_, event)| matches!(event, Event::Oversize { .. })));
}

#[tokio::test]
async fn whoever_watches_and_panics_harms_nothing() {
    let observer = Arc::new(Watch { panics: true, ..Watch::default() });
    let config = BufferConfig::default().with_capacity_messages(4).with_folding(Folding::Archive);
    let watch = Arc::clone(&observer);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config).observer(observer)).await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(5)).await.unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.archived, report.failures), (6, vec![]));
    assert_eq!(archived(&watch.take()).len(), 6);
}
