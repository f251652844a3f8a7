//! Puts that reach an index after what they put was forgotten are cleaned out without a search that hits them, and nothing else is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, UpkeepReport};
use memory_core::model::Embedder;
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::store::chat::ChatStore;
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_core::store::vectors::{VectorEntry, VectorQuery, VectorStore};
use memory_core::{Filter, ItemId, Message, Role, Scope, Truth, Unit, Version};
use memory_testkit::doubles::{Counting, FakeEmbedder, Faulty, ManualClock, Tapped, When};

use crate::bench::session;
use crate::partial::partial;

/// The time between two steps of the walk.
const STEP: Duration = Duration::from_secs(10);
/// More than anybody writes here.
const ALL: usize = 10_000;

/// A memory whose stores are in reach.
struct World {
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    text: Arc<MemText>,
    vectors: Arc<MemVectors>,
    embedder: Arc<FakeEmbedder>,
    clock: Arc<ManualClock>,
}

/// What the indexes hold of an owner.
#[derive(Clone, Debug, Default, PartialEq)]
struct Indexed {
    texts: Vec<TextEntry>,
    vectors: Vec<VectorEntry>,
}

impl World {
    fn new() -> Self {
        let embedder = Arc::new(FakeEmbedder::new(8));
        Self {
            chat: Arc::default(),
            records: Arc::default(),
            text: Arc::new(MemText::new(Analysis::english().name())),
            vectors: Arc::new(MemVectors::new(embedder.space().clone())),
            embedder,
            clock: Arc::new(ManualClock::at("2025-03-01".parse().unwrap())),
        }
    }

    async fn open(&self) -> Memory {
        self.over(Truth::chat(self.chat.clone()), self.text.clone()).await
    }

    async fn over(&self, chat: Truth<dyn ChatStore>, text: Arc<dyn TextStore>) -> Memory {
        let builder = Memory::builder(chat, Truth::records(self.records.clone()))
            .text(text)
            .vectors(self.vectors.clone(), self.embedder.clone())
            .clock(self.clock.clone());
        builder.build().await.unwrap()
    }

    /// Returns the entries of an owner as they could be put again.
    async fn indexed(&self, scope: &Scope) -> Indexed {
        let terms = ["boiler", "garden"].map(|word| Analysis::english().document(word)).concat();
        let terms: Vec<Term> = terms.into_iter().map(|(term, _)| term).collect();
        let versions: BTreeMap<ItemId, Version> = self.text.scan(scope, None, ALL).await.unwrap().into_iter().collect();
        let mut texts = Vec::new();
        for unit in [Unit::Message, Unit::Record, Unit::Span] {
            let query = TextQuery { terms: terms.clone(), unit, filter: Filter::All, limit: ALL };
            for hit in self.text.search(scope, &query).await.unwrap().hits {
                let own = terms.iter().cloned().zip(hit.own).filter(|(_, count)| *count > 0).collect();
                let version = versions[&hit.item];
                texts.push(TextEntry { item: hit.item, version, own, near: Vec::new(), fields: hit.fields });
            }
        }
        let versions: BTreeMap<ItemId, Version> =
            self.vectors.scan(scope, None, ALL).await.unwrap().into_iter().collect();
        let (space, vector) = (self.vectors.space().clone(), vec![1.0; 8]);
        let query = VectorQuery { space, vector, filter: Filter::All, limit: ALL, floor: None, with_vectors: true };
        let hits = self.vectors.search(scope, &query).await.unwrap();
        let entry = |hit: memory_core::store::vectors::VectorHit| {
            let (version, pieces) = (versions[&hit.item], vec![hit.vector.unwrap()]);
            VectorEntry { item: hit.item, version, pieces, fields: hit.fields }
        };
        texts.sort_by(|one, other| one.item.cmp(&other.item));
        let mut vectors: Vec<VectorEntry> = hits.into_iter().map(entry).collect();
        vectors.sort_by(|one, other| one.item.cmp(&other.item));
        Indexed { texts, vectors }
    }

    /// Carries out puts that were given up long ago.
    async fn put_late(&self, scope: &Scope, late: &Indexed) {
        self.text.put(scope, &late.texts, Visibility::OnReturn).await.unwrap();
        self.vectors.put(scope, &late.vectors, Visibility::OnReturn).await.unwrap();
    }

    async fn step(&self, memory: &Memory) -> UpkeepReport {
        self.clock.advance(STEP);
        memory.upkeep_once().await.unwrap()
    }
}

fn owner(name: &str) -> Scope {
    Scope::new("acme", name).unwrap()
}

/// Says a number of things of the garden in a session; returns the ids.
async fn say(memory: &Memory, scope: &Scope, name: &str, count: usize) -> Vec<memory_core::MessageId> {
    let message =
        |number| Message::new(Role::User, format!("the boiler of the garden is number {number}"), memory.now());
    let messages: Vec<Message> = (0..count).map(message).collect();
    let ids = messages.iter().map(|message| message.id).collect();
    memory.of(scope).session(&session(name)).append(messages).await.unwrap();
    ids
}

async fn quiet(memory: &Memory) {
    assert_eq!(memory.upkeep_once().await.unwrap().failures, [""; 0]);
}

#[tokio::test]
async fn what_was_forgotten_and_put_late_is_cleaned_out_and_nothing_that_is_held() {
    let (world, ada) = (World::new(), owner("ada"));
    let memory = world.open().await;
    // Three spans of one session: one is forgotten message by message, one in part.
    let said = say(&memory, &ada, "talk", 192).await;
    say(&memory, &ada, "walk", 3).await;
    say(&memory, &ada, "chat", 3).await;
    let mut facts = Vec::new();
    for number in 0..3 {
        let fact = Remember::fact(format!("the boiler in garden {number} is blue and has {} doors", number * 7));
        facts.push(memory.of(&ada).remember(fact).await.unwrap().id);
    }
    quiet(&memory).await;
    let before = world.indexed(&ada).await;
    assert_eq!((before.texts.len(), before.vectors.len()), (192 + 3 + 3 + 3 + 5, 192 + 3 + 3 + 3));

    let forgotten = said[64..128].iter().chain(&said[130..133]).copied().collect();
    memory.of(&ada).forget(&Forget::Messages(forgotten)).await.unwrap();
    memory.of(&ada).forget(&Forget::Session(session("walk"))).await.unwrap();
    memory.of(&ada).forget(&Forget::Session(session("chat"))).await.unwrap();
    memory.of(&ada).forget(&Forget::Records(vec![facts[1]])).await.unwrap();
    // One of the sessions is begun anew.
    say(&memory, &ada, "chat", 2).await;
    quiet(&memory).await;
    let held = world.indexed(&ada).await;

    world.put_late(&ada, &before).await;
    let texts = 64 + 3 + 1 + (3 + 1) + 3 + 1;
    assert_eq!(world.indexed(&ada).await.texts.len(), held.texts.len() + texts);
    quiet(&memory).await;
    assert_eq!(world.indexed(&ada).await.texts.len(), held.texts.len() + texts, "it is no time yet");
    let mut cleaned = 0;
    for _ in 0..3 {
        let report = world.step(&memory).await;
        assert_eq!((report.indexed, report.failures), (0, Vec::new()));
        cleaned += report.cleaned;
    }
    assert_eq!(cleaned, texts + 64 + 3 + 3 + 3 + 1);
    assert_eq!(world.indexed(&ada).await, held, "the walk took what truth holds, or left what it does not");
    for _ in 0..3 {
        assert_eq!(world.step(&memory).await.cleaned, 0);
    }
}

#[tokio::test]
async fn a_span_of_a_deleted_session_that_was_begun_anew_is_cleaned_out_by_its_version() {
    let (world, ada) = (World::new(), owner("ada"));
    let memory = world.open().await;
    say(&memory, &ada, "talk", 3).await;
    quiet(&memory).await;
    let before = world.indexed(&ada).await;
    memory.of(&ada).forget(&Forget::Session(session("talk"))).await.unwrap();
    quiet(&memory).await;
    world.put_late(&ada, &before).await;
    // The walk comes between the first words of the new session and the pass that indexes them.
    say(&memory, &ada, "talk", 1).await;
    let report = world.step(&memory).await;
    assert_eq!((report.cleaned, report.failures), (3 + 3, Vec::new()));
    let held = world.indexed(&ada).await;
    assert_eq!((held.texts.len(), held.vectors.len()), (2, 1));
}

#[tokio::test]
async fn a_span_that_is_there_stays_however_often_its_session_was_changed() {
    let (world, ada) = (World::new(), owner("ada"));
    let memory = world.open().await;
    let said = say(&memory, &ada, "talk", 1_300).await;
    while memory.upkeep_once().await.unwrap().indexed > 0 {}
    // Each redacted message is a change.
    memory.of(&ada).forget(&Forget::Messages(said[192..].to_vec())).await.unwrap();
    while memory.upkeep_once().await.unwrap().indexed > 0 {}
    let state = memory.of(&ada).session(&session("talk")).state().await.unwrap();
    assert!(state.revision > 1_024, "{state:?}");
    let spans = async || {
        let texts = world.indexed(&ada).await.texts.into_iter();
        texts.filter(|entry| entry.item.unit() == Unit::Span).map(|entry| entry.item).collect::<Vec<_>>()
    };
    let held = spans().await;
    assert_eq!(held.len(), 3);
    for _ in 0..4 {
        assert_eq!(world.step(&memory).await.failures, [""; 0]);
        assert_eq!(spans().await, held);
    }
    assert_eq!(world.step(&memory).await.cleaned, 0);
}

#[tokio::test]
async fn nothing_is_deleted_on_the_word_of_a_truth_that_fails_or_answers_in_part() {
    let (world, ada) = (World::new(), owner("ada"));
    let memory = world.open().await;
    say(&memory, &ada, "talk", 70).await;
    memory.of(&ada).remember(Remember::fact("the boiler in the garden is blue")).await.unwrap();
    quiet(&memory).await;
    let held = world.indexed(&ada).await;

    for call in ["get", "read", "owners", "indexes"] {
        let faulty = |_| Arc::new(Faulty::at(1, When::Before).of(call).lasting());
        let chat = Truth::chat(world.chat.clone())
            .layered(|store| Arc::new(Tapped::new(store, faulty(()))))
            .layered_upkeep(|store| Arc::new(Tapped::new(store, faulty(()))));
        let memory = world.over(chat, world.text.clone()).await;
        let mut failed = 0;
        for _ in 0..4 {
            let report = world.step(&memory).await;
            assert_eq!(report.cleaned, 0, "{call}");
            failed += report.failures.len();
        }
        assert!(failed > 0, "nobody asked: {call}");
    }
    let partial = partial(world.chat.clone());
    let chat = Truth::chat(world.chat.clone()).layered(|_| partial);
    let memory = world.over(chat, world.text.clone()).await;
    for _ in 0..4 {
        assert_eq!(world.step(&memory).await.cleaned, 0);
    }
    assert_eq!(world.indexed(&ada).await, held);
}

#[tokio::test]
async fn an_index_is_not_compared_with_a_truth_that_does_not_follow_it() {
    let (world, ada) = (World::new(), owner("ada"));
    let memory = world.open().await;
    say(&memory, &ada, "talk", 3).await;
    memory.of(&ada).remember(Remember::fact("the boiler in the garden is blue")).await.unwrap();
    quiet(&memory).await;
    let held = world.indexed(&ada).await;
    // The records of this process are others, which know nothing of the index.
    let other = Arc::new(MemRecords::default());
    let (chat, records) = (Truth::chat(world.chat.clone()), Truth::records(other.clone()));
    let builder = Memory::builder(chat, records).text(world.text.clone()).clock(world.clock.clone());
    let memory = builder.build().await.unwrap();
    other.retire(&IndexName::new(&format!("text/{}", Analysis::english().name())).unwrap()).await.unwrap();
    assert_eq!(world.step(&memory).await.cleaned, 0);
    assert_eq!(world.indexed(&ada).await, held);
}

#[tokio::test]
async fn a_step_of_the_walk_looks_at_so_much_and_the_walk_reaches_everybody() {
    let world = World::new();
    let counting = Arc::new(Counting::default());
    let text = Arc::new(Tapped::new(world.text.clone(), counting.clone()));
    let memory = world.over(Truth::chat(world.chat.clone()), text).await;
    let mut before = Vec::new();
    for number in 0..50 {
        let scope = owner(&format!("owner{number}"));
        say(&memory, &scope, "talk", if number == 7 { 700 } else { 4 }).await;
        quiet(&memory).await;
        before.push((scope.clone(), world.indexed(&scope).await));
        memory.of(&scope).forget(&Forget::Session(session("talk"))).await.unwrap();
    }
    quiet(&memory).await;
    for (scope, late) in &before {
        world.put_late(scope, late).await;
    }
    counting.reset();
    quiet(&memory).await;
    assert_eq!(counting.calls("scan"), 0, "the first step comes ten seconds after the opening");
    let (mut cleaned, mut steps) = (0, 0);
    while cleaned < before.iter().map(|(_, late)| late.texts.len() + late.vectors.len()).sum() {
        counting.reset();
        let report = world.step(&memory).await;
        cleaned += report.cleaned;
        assert!(counting.rows("scan") <= 256 && counting.calls("scan") <= 16, "{counting:?}");
        quiet(&memory).await;
        assert!(counting.calls("scan") <= 16, "two steps within ten seconds");
        steps += 1;
        assert!(steps < 20, "only {cleaned} after {steps} steps");
    }
    for (scope, _) in &before {
        assert_eq!(world.indexed(scope).await, Indexed::default());
    }
    // The walk begins again.
    world.put_late(&before[0].0, &before[0].1).await;
    let mut again = 0;
    for _ in 0..10 {
        again += world.step(&memory).await.cleaned;
    }
    assert_eq!(again, before[0].1.texts.len() + before[0].1.vectors.len());
}
