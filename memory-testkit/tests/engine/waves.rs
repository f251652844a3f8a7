//! How often a context waits for stores: time stands still but for the waits, so waits one after another add up.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use memory_core::analysis::Analysis;
use memory_core::engine::{ContextRequest, Memory, Reason, Remember, Search, Session, WorkingNote};
use memory_core::layer::GuardPolicy;
use memory_core::model::Embedder;
use memory_core::rank::Ranking;
use memory_core::reference::{MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::{ItemId, Message, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, FakeEmbedder, ManualClock, Tapped};
use tokio::time::Instant;

use crate::bench::session;

/// Longer than any call may take.
const LONG: Duration = Duration::from_secs(60);

/// How long each call of a store takes.
const CALL: Duration = Duration::from_millis(20);

fn slow<S: ?Sized>(store: Arc<S>) -> Tapped<S> {
    Tapped::new(store, Arc::new(Counting::default())).slow(CALL)
}

/// Opens a memory over slow stores, with a cache if asked for, and a session whose beginning is worth recalling.
async fn open(has_cache: bool) -> (Memory, Session) {
    let (clock, embedder) = (Arc::new(ManualClock::default()), Arc::new(FakeEmbedder::new(16)));
    let chat = Truth::chat(Arc::new(MemChat::default())).layered(|store| Arc::new(slow(store)));
    let chat = chat.layered_upkeep(|upkeep| Arc::new(slow(upkeep)));
    let records = Truth::records(Arc::new(MemRecords::default())).layered(|store| Arc::new(slow(store)));
    let records = records.layered_upkeep(|upkeep| Arc::new(slow(upkeep)));
    let vectors = slow(Arc::new(MemVectors::new(embedder.space().clone())));
    let mut builder = Memory::builder(chat, records)
        .text(Arc::new(slow(Arc::new(MemText::new(Analysis::english().name())))))
        .vectors(Arc::new(vectors), embedder)
        .guard(GuardPolicy::default())
        .clock(clock.clone());
    if has_cache {
        builder = builder.cache(Arc::new(slow(Arc::new(MemCache::new(clock)))));
    }
    let memory = builder.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let talk = ada.session(&session("talk"));
    let say = |text: String| Message::new(Role::User, text, memory.now());
    let mut messages = vec![say("My parcel E-4471-B never arrived.".to_owned())];
    messages.extend((0..300).map(|n| say(format!("Please water plant number {n} on the balcony."))));
    talk.append(messages).await.unwrap();
    ada.remember(Remember::fact("Parcels go to the neighbour")).await.unwrap();
    memory.upkeep_once().await.unwrap();
    (memory, talk)
}

/// Asks for a context, checks that it recalled, and returns how many calls it waited for one after another.
async fn waits(talk: &Session) -> f64 {
    let start = Instant::now();
    let context = talk.context("Where is my parcel?", 1_000).await.unwrap();
    let waited = start.elapsed();
    assert!(context.receipt.tokens.recalled > 0 && context.receipt.history.kept_messages > 0);
    assert_eq!(context.receipt.search.degraded, []);
    waited.as_secs_f64() / CALL.as_secs_f64()
}

#[tokio::test(start_paused = true)]
async fn a_context_waits_twice_for_stores_after_the_query_is_embedded() {
    let (_memory, talk) = open(false).await;
    for _ in 0..3 {
        let waits = waits(&talk).await;
        assert!((2.0..2.5).contains(&waits), "{waits} waits");
    }
}

#[tokio::test(start_paused = true)]
async fn s1_16_a_context_over_all_tiers_waits_twice_too_and_explains_every_item() {
    let (memory, talk) = open(false).await;
    let ada = talk.scoped();
    let told = ada.remember(Remember::fact("Ada waits for a parcel")).await.unwrap().id;
    for number in 0..9 {
        let note = WorkingNote::new(format!("Parcel {number} is in the depot."), "courier");
        ada.note(note.with_source(ItemId::Record(told))).await.unwrap();
    }
    ada.synopsis().await.unwrap();
    memory.upkeep_once().await.unwrap();
    for is_alone in [false, true] {
        let (start, request) = (Instant::now(), ContextRequest::muxi("Where is my parcel?"));
        let context = if is_alone { ada.assemble(&request).await } else { talk.assemble(&request).await };
        let (context, waits) = (context.unwrap(), start.elapsed().as_secs_f64() / CALL.as_secs_f64());
        assert!((2.0..2.5).contains(&waits), "{waits} waits");
        let receipt = &context.receipt;
        assert_eq!((receipt.search.degraded.as_slice(), receipt.search.notes), ([].as_slice(), 9));
        assert!(receipt.synopsis.is_some_and(|shown| shown.tokens > 0 && shown.left_out.is_none()));
        let notes = context.parts.iter().map(|part| part.message.text().matches("in the depot.</item>").count());
        assert_eq!(notes.sum::<usize>(), 5);
        // Of the nine notes five are shown and four are told as left out.
        let left = receipt.search.left_out.iter().filter(|left| left.reason == Reason::BelowLimit).count();
        assert!(left >= 4, "{:?}", receipt.search.left_out);
        // What was found is in, left out, or counted; both indexes may have found it.
        let included = receipt.included.iter().filter(|included| included.signals.is_some()).count();
        let found = included + receipt.search.left_out.len() + receipt.search.not_listed;
        let (by_words, by_meaning) = (receipt.search.text_candidates, receipt.search.vector_candidates);
        assert!((by_words.max(by_meaning)..=by_words + by_meaning).contains(&found), "{found}: {:?}", receipt.search);
        assert!(receipt.search.not_listed > 100, "{:?}", receipt.search);
    }
}

#[tokio::test(start_paused = true)]
async fn s1_11_a_ranking_that_weighs_importance_waits_no_longer() {
    let (_memory, talk) = open(false).await;
    let search = Search::new("Where is my parcel?").limit(1);
    for ranking in [Ranking::default(), Ranking::weighted()] {
        let start = Instant::now();
        let found = talk.scoped().search(&search.clone().ranking(ranking)).await.unwrap();
        let waits = start.elapsed().as_secs_f64() / CALL.as_secs_f64();
        assert!((2.0..2.5).contains(&waits), "{waits} waits by {ranking:?}");
        assert_eq!((found.hits.len(), found.receipt.degraded.len()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_other_owners_share_is_no_further_wait() {
    let (memory, talk) = open(false).await;
    let teams: Vec<Scope> = (0..8).map(|number| Scope::new("acme", &format!("team {number}")).unwrap()).collect();
    for team in &teams {
        memory.of(team).remember(Remember::fact("Each parcel is in the depot")).await.unwrap();
    }
    memory.upkeep_once().await.unwrap();
    let request = ContextRequest::new("Where is my parcel?", 1_000).sharing(teams);
    let start = Instant::now();
    let context = talk.assemble(&request).await.unwrap();
    let waits = start.elapsed().as_secs_f64() / CALL.as_secs_f64();
    assert!((2.0..2.5).contains(&waits), "{waits} waits");
    let search = &context.receipt.search;
    assert_eq!(search.degraded, []);
    assert!(search.sharing.len() == 8 && search.sharing.iter().all(|asked| asked.text_candidates == 1), "{search:?}");
    assert!(context.receipt.included.iter().any(|included| included.shared_by.is_some()));
}

#[tokio::test(start_paused = true)]
async fn several_questions_are_asked_fewer_at_once_the_more_owners_each_asks() {
    let (memory, talk) = open(false).await;
    let team = Scope::new("acme", "team").unwrap();
    memory.of(&team).remember(Remember::fact("Each parcel is in the depot")).await.unwrap();
    memory.upkeep_once().await.unwrap();
    // Eight questions about one owner are asked together; about two owners, four and then four.
    for (others, promised) in [(Vec::new(), 2.0..2.5), (vec![team], 4.0..4.5)] {
        let searches = vec![Search::new("Where is my parcel?").sharing(others); 8];
        let start = Instant::now();
        let answers = talk.scoped().recall_many(&searches).await.unwrap();
        let waits = start.elapsed().as_secs_f64() / CALL.as_secs_f64();
        assert!(promised.contains(&waits), "{waits} waits");
        assert!(answers.iter().all(|answer| !answer.hits.is_empty() && answer.receipt.degraded.is_empty()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_adds_no_wait_for_what_it_holds() {
    let (_memory, talk) = open(true).await;
    waits(&talk).await;
    // One wait for the indexes and the tail, one for the cached content; the query's vector is kept in this process.
    let waits = waits(&talk).await;
    assert!((2.0..2.5).contains(&waits), "{waits} waits");
}

#[tokio::test(start_paused = true)]
async fn a_first_write_of_a_handle_ends_although_another_of_its_task_is_set_aside() {
    let (memory, _) = open(false).await;
    let talk = memory.of(&Scope::new("acme", "bob").unwrap()).session(&session("talk"));
    let say = |text: &str| vec![Message::new(Role::User, text, memory.now())];
    let mut aside = Box::pin(talk.append(say("one")));
    assert!((&mut aside).now_or_never().is_none());
    tokio::time::timeout(LONG, talk.append(say("two"))).await.unwrap().unwrap();
    aside.await.unwrap();

    let owner = memory.of(&Scope::new("acme", "eve").unwrap());
    let mut aside = Box::pin(owner.remember(Remember::fact("Eve drinks tea")));
    assert!((&mut aside).now_or_never().is_none());
    tokio::time::timeout(LONG, owner.remember(Remember::fact("Eve has a cat"))).await.unwrap().unwrap();
    aside.await.unwrap();
}
