//! Indexes that were lost, emptied or moved are filled again, without anybody's asking.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::methods::*;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::{Error, Fields, Message, Role, Seq, Truth, Unit};
use memory_testkit::doubles::{Faulty, ManualClock, Tapped, When};

use crate::bench::session;

const MINUTE: Duration = Duration::from_secs(60);

/// An index whose place may be lost, and may be away.
#[derive(Debug)]
struct Place {
    /// The first one, which is asked for its name.
    named: Arc<MemText>,
    held: Mutex<Arc<MemText>>,
    is_away: AtomicBool,
}

impl Place {
    fn new() -> Arc<Self> {
        let named = Arc::new(empty());
        Arc::new(Self { held: Mutex::new(Arc::clone(&named)), named, is_away: AtomicBool::new(false) })
    }

    fn lose(&self) {
        *self.held.lock().unwrap() = Arc::new(empty());
    }

    fn held(&self) -> Result<Arc<MemText>> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(Error::corrupt("test", "the place is away"));
        }
        Ok(self.held.lock().unwrap().clone())
    }
}

fn empty() -> MemText {
    MemText::new(Analysis::english().name())
}

macro_rules! placed {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl $trait for Place {
            $(fn $plain(&self) -> $given {
                self.named.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.held()?.$method($($argument),*).await
            })*
        }
    )+};
}

memory_core::store_methods!(Store, TextStore => placed {});

/// What is stored, and the clock of all who open it.
struct World {
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    clock: Arc<ManualClock>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at("2025-03-01".parse().unwrap()));
        Self { chat: Arc::default(), records: Arc::default(), clock }
    }

    async fn open(&self, place: &Arc<Place>) -> Memory {
        let (chat, records) = (Truth::chat(self.chat.clone()), Truth::records(self.records.clone()));
        Memory::builder(chat, records).text(place.clone()).clock(self.clock.clone()).build().await.unwrap()
    }

    /// Opens a memory in which ada has spoken of a boiler, and all is indexed.
    async fn told(&self, place: &Arc<Place>) -> Memory {
        let memory = self.open(place).await;
        say(&memory, "talk", "the boiler was mended by Otto").await;
        memory.upkeep_once().await.unwrap();
        assert_eq!(found(&memory).await, 1);
        memory
    }
}

fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

async fn say(memory: &Memory, name: &str, text: &str) {
    let message = Message::new(Role::User, text, memory.now());
    memory.of(&ada()).session(&session(name)).append(vec![message]).await.unwrap();
}

async fn found(memory: &Memory) -> usize {
    memory.of(&ada()).search(&Search::new("boiler")).await.unwrap().hits.len()
}

#[tokio::test]
async fn a_new_index_of_the_same_name_is_filled_again() {
    let world = World::new();
    world.told(&Place::new()).await;
    let memory = world.open(&Place::new()).await;
    assert_eq!(found(&memory).await, 0);
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 1, "an index that was lost stays empty");
}

#[tokio::test]
async fn an_index_that_is_lost_while_it_is_open_is_filled_again_within_a_minute() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.told(&place).await;
    place.lose();
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 0, "its place is asked once a minute");
    world.clock.advance(MINUTE);
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 1, "an index that was lost stays empty");
}

#[tokio::test]
async fn an_index_that_was_away_when_it_was_opened_is_filled_when_it_answers() {
    let (world, place) = (World::new(), Place::new());
    place.is_away.store(true, Ordering::SeqCst);
    let memory = world.open(&place).await;
    say(&memory, "talk", "the boiler was mended by Otto").await;
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!(report.failures.len(), 1, "{report:?}");
    place.is_away.store(false, Ordering::SeqCst);
    world.clock.advance(MINUTE);
    assert_eq!(memory.upkeep_once().await.unwrap().failures, [""; 0]);
    assert_eq!(found(&memory).await, 1);
    // It was another one before: lost while it was away, it is noticed too.
    place.is_away.store(true, Ordering::SeqCst);
    let memory = world.open(&place).await;
    place.lose();
    place.is_away.store(false, Ordering::SeqCst);
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 1, "an index that was lost stays empty");
}

#[tokio::test]
async fn two_processes_with_places_of_their_own_do_not_fill_them_in_turns() {
    let (world, one, other) = (World::new(), Place::new(), Place::new());
    let first = world.told(&one).await;
    let second = world.open(&other).await;
    second.upkeep_once().await.unwrap();
    for _ in 0..3 {
        world.clock.advance(MINUTE);
        let report = first.upkeep_once().await.unwrap();
        assert!(report.indexed == 0 && report.failures.iter().any(|why| why.contains("in two places")), "{report:?}");
        let report = second.upkeep_once().await.unwrap();
        assert!(report.indexed == 0 && report.failures.is_empty(), "{report:?}");
    }
}

#[tokio::test]
async fn a_large_store_is_noted_by_the_passes_and_status_says_that_it_is_not_all() {
    let world = World::new();
    let memory = world.open(&Place::new()).await;
    for number in 0..1_200 {
        say(&memory, &format!("talk{number}"), "the boiler was mended").await;
    }
    memory.upkeep_once().await.unwrap();
    let memory = world.open(&Place::new()).await;
    let status = memory.status().await.indexes.pop().unwrap();
    assert!(!status.is_noted && status.backlog.unwrap().pending < 1_200);
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.indexed > 1_200, report.failures), (true, Vec::new()));
    let status = memory.status().await.indexes.pop().unwrap();
    assert!(status.is_noted && status.backlog.unwrap().pending == 0);
}

#[tokio::test]
async fn a_process_goes_on_where_another_one_was_killed_while_it_noted_what_is_stored() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.open(&place).await;
    for number in 0..600 {
        say(&memory, &format!("talk{number}"), "the boiler was mended").await;
    }
    memory.upkeep_once().await.unwrap();
    place.lose();
    // Opened and killed: it has enlisted the new place, and noted a part.
    drop(world.open(&place).await);
    world.clock.advance(MINUTE);
    memory.upkeep_once().await.unwrap();
    let status = memory.status().await.indexes.pop().unwrap();
    assert!(status.is_noted, "nobody goes on");
    assert_eq!(memory.of(&ada()).search(&Search::new("boiler").limit(1_000)).await.unwrap().hits.len(), 600);
}

#[tokio::test]
async fn reindexing_puts_everything_again() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.told(&place).await;
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    assert_eq!(memory.upkeep_once().await.unwrap().indexed, 0);
    memory.reindex(index).await.unwrap();
    assert!(memory.upkeep_once().await.unwrap().indexed > 0);
    assert_eq!(memory.upkeep_once().await.unwrap().indexed, 0);
    let unknown = memory_core::store::upkeep::IndexName::new("text/none").unwrap();
    assert!(matches!(memory.reindex(&unknown).await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn a_receipt_names_an_index_that_nobody_could_ask_and_is_complete_when_it_has_no_notes() {
    let (world, place) = (World::new(), Place::new());
    let with_index = world.told(&place).await;
    // A process that does not open the index.
    let (chat, records) = (Truth::chat(world.chat.clone()), Truth::records(world.records.clone()));
    let without = Memory::builder(chat, records).clock(world.clock.clone()).build().await.unwrap();
    // The erasure is noted by conversations and by records.
    for (what, noted) in [(Forget::Session(session("talk")), 1), (Forget::Everything, 2)] {
        let receipt = without.of(&ada()).forget(&what).await.unwrap();
        let [unasked] = &receipt.unasked[..] else { panic!("{receipt:?}") };
        assert_eq!((unasked.index.as_str(), unasked.notes), ("text/english-3", Some(noted)));
        assert!(!receipt.complete, "{what:?}: an index that holds it was not asked");
        with_index.upkeep_once().await.unwrap();
    }
    let receipt = without.of(&ada()).forget(&Forget::Session(session("talk"))).await.unwrap();
    assert!(receipt.complete && receipt.unasked[0].notes == Some(0), "{receipt:?}");
    let receipt = with_index.of(&ada()).forget(&Forget::Everything).await.unwrap();
    assert!(receipt.complete && receipt.unasked.is_empty(), "{receipt:?}");
}

#[tokio::test]
async fn a_retired_index_is_empty_and_nothing_is_noted_for_it_until_it_is_opened_again() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.told(&place).await;
    memory.of(&ada()).remember(Remember::fact("the boiler is blue")).await.unwrap();
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    assert!(memory.retire(index).await.unwrap());
    assert_eq!((found(&memory).await, memory.indexes().await.unwrap()), (0, Vec::new()));
    world.clock.advance(MINUTE);
    memory.upkeep_once().await.unwrap();
    assert_eq!((found(&memory).await, memory.indexes().await.unwrap()), (0, Vec::new()), "it is filled again");
    assert!(memory.of(&ada()).forget(&Forget::Session(session("none"))).await.unwrap().complete);
    let memory = world.open(&place).await;
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 2);
}

#[tokio::test]
async fn an_index_that_nobody_opens_any_more_is_retired_by_name() {
    let world = World::new();
    world.told(&Place::new()).await;
    let (chat, records) = (Truth::chat(world.chat.clone()), Truth::records(world.records.clone()));
    let memory = Memory::builder(chat, records).clock(world.clock.clone()).build().await.unwrap();
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    assert!(!memory.of(&ada()).forget(&Forget::Session(session("talk"))).await.unwrap().complete);
    assert!(!memory.retire(index).await.unwrap(), "nobody could empty it");
    let receipt = memory.of(&ada()).forget(&Forget::Session(session("talk"))).await.unwrap();
    assert!(receipt.complete && receipt.unasked.is_empty(), "{receipt:?}");
}

/// Hides ada's message behind an entry without its words, which is newer than any that upkeep puts.
async fn damage(place: &Place) {
    let held = place.held().unwrap();
    let items = held.scan(&ada(), None, 10).await.unwrap().into_iter();
    let (item, version) = items.max_by_key(|(item, _)| item.unit() == Unit::Message).unwrap();
    let version = Version { revision: u64::MAX, ..version };
    let of_span = Fields::of_span(&session("talk"), Seq(1), "2025-03-01".parse().unwrap());
    let fields = Fields { unit: item.unit(), ..of_span };
    let entry = TextEntry { item, version, own: Vec::new(), near: Vec::new(), fields };
    assert!(held.put(&ada(), &[entry], Visibility::OnReturn).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_index_is_rebuilt_though_it_believes_to_hold_everything() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.told(&place).await;
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    damage(&place).await;
    memory.reindex(index).await.unwrap();
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 0, "nothing is damaged");
    assert!(memory.rebuild(index).await.unwrap());
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 1);
    let unknown = IndexName::new("text/other").unwrap();
    assert!(matches!(memory.rebuild(&unknown).await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn what_a_rebuild_that_failed_has_emptied_is_filled_again() {
    let (world, place) = (World::new(), Place::new());
    let memory = world.told(&place).await;
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    place.is_away.store(true, Ordering::SeqCst);
    assert!(memory.rebuild(index).await.is_err());
    place.is_away.store(false, Ordering::SeqCst);
    // As far as it came.
    place.held().unwrap().clear(&ada()).await.unwrap();
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory).await, 1);
}

#[tokio::test]
async fn a_rebuild_that_fails_twice_tells_what_failed_first() {
    let (world, place) = (World::new(), Place::new());
    world.told(&place).await;
    let faulty = Arc::new(Faulty::at(2, When::Before).of("doubt").lasting());
    let tapped = |upkeep| Arc::new(Tapped::<dyn Upkeep>::new(upkeep, faulty.clone())) as Arc<dyn Upkeep>;
    let (chat, records) = (Truth::chat(world.chat.clone()), Truth::records(world.records.clone()));
    let builder = Memory::builder(chat.layered_upkeep(tapped), records).text(place.clone());
    let memory = builder.clock(world.clock.clone()).build().await.unwrap();
    let [index] = &memory.indexes().await.unwrap()[..] else { panic!("there is one index") };
    place.is_away.store(true, Ordering::SeqCst);
    let failed = memory.rebuild(index).await;
    assert!(faulty.has_failed() && matches!(failed, Err(Error::Corrupt { .. })), "{failed:?}");
}
