//! A memory changes to another embedding space while it is read and written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::engine::{Memory, MemoryBuilder, Scoped, Search};
use memory_core::hashing::HashEmbedder;
use memory_core::model::Embedder as _;
use memory_core::reference::{MemChat, MemRecords, MemVectors};
use memory_core::store::upkeep::IndexName;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{ItemId, Message, Result, Role, SessionId, Truth};
use memory_testkit::Chat;
use memory_testkit::doubles::ManualClock;
use memory_testkit::fixture::{Fixture, tend};

/// An embedder, and the store of its space.
type Space = (Arc<MemVectors>, Arc<HashEmbedder>);

fn space(dimension: usize) -> Space {
    let embedder = Arc::new(HashEmbedder::new(dimension));
    (Arc::new(MemVectors::new(embedder.space().clone())), embedder)
}

/// Opens a memory that finds by meaning alone.
async fn open(chat: &Chat, spaces: impl FnOnce(MemoryBuilder) -> MemoryBuilder) -> Result<Memory> {
    let builder = Memory::builder(chat.clone(), Truth::records(Arc::<MemRecords>::default()))
        .buffer(BufferConfig::default().with_folding(Folding::Off))
        .clock(Arc::<ManualClock>::default());
    spaces(builder).build().await
}

/// Returns the share of the questions that find evidence among the first ten.
async fn recall(fixture: &Fixture, owner: &Scoped) -> Result<f64> {
    let mut found = 0_usize;
    for question in &fixture.questions {
        let evidence = fixture.evidence(question)?;
        let hits = owner.search(&Search::new(&question.question).limit(10)).await?.hits;
        let is_evidence = |item: &ItemId| matches!(item, ItemId::Message(id) if evidence.contains(id));
        found += usize::from(hits.iter().any(|hit| is_evidence(&hit.item)));
    }
    Ok(found as f64 / fixture.questions.len() as f64)
}

/// Asks until it is over. Returns how many answers there were; an answer in part or without hits is an error.
async fn read(fixture: Arc<Fixture>, owner: Scoped, is_over: Arc<AtomicBool>) -> Result<usize> {
    let mut answers = 0;
    for question in fixture.questions.iter().cycle() {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let found = owner.search(&Search::new(&question.question)).await?;
        if !found.receipt.degraded.is_empty() || found.hits.is_empty() {
            return Err(memory_core::Error::invalid(format!("{}: {:?}", question.id, found.receipt)));
        }
        answers += 1;
        tokio::task::yield_now().await;
    }
    Ok(answers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o9_a_memory_changes_from_384_to_768_numbers_under_load_and_no_read_fails() {
    let fixture = Arc::new(Fixture::load().unwrap());
    let chat: Chat = Truth::chat(Arc::new(MemChat::default()));
    let ((old, small), (new, large)) = (space(384), space(768));
    let memory = open(&chat, |builder| builder.vectors(old.clone(), small.clone())).await.unwrap();
    let owner = fixture.append(&memory).await.unwrap();
    let before = recall(&fixture, &owner).await.unwrap();
    memory.close().await.unwrap();

    // The old space answers while the new one is filled beside it.
    let both =
        |builder: MemoryBuilder| builder.vectors(old.clone(), small.clone()).vectors_beside(new.clone(), large.clone());
    let memory = open(&chat, both).await.unwrap();
    let owner = memory.of(owner.scope());
    let is_over = Arc::<AtomicBool>::default();
    let readers: Vec<_> =
        (0..4).map(|_| tokio::spawn(read(Arc::clone(&fixture), owner.clone(), Arc::clone(&is_over)))).collect();
    let talk = owner.session(&SessionId::new("meanwhile").unwrap());
    let name = IndexName::of_space(large.space());
    for number in 0.. {
        talk.append(vec![Message::new(Role::User, format!("said meanwhile, {number}"), memory.now())]).await.unwrap();
        tend(&memory).await.unwrap();
        let indexes = memory.status().await.indexes;
        let filled = indexes.iter().find(|index| index.name == name).and_then(|index| index.backlog.as_ref().ok());
        if number > 20 && filled.is_some_and(|backlog| backlog.pending == 0) {
            break;
        }
    }
    is_over.store(true, Ordering::SeqCst);
    for reader in readers {
        assert!(reader.await.unwrap().unwrap() > 0);
    }
    memory.retire(&IndexName::of_space(small.space())).await.unwrap();
    memory.close().await.unwrap();

    let memory = open(&chat, |builder| builder.vectors(new.clone(), large.clone())).await.unwrap();
    let owner = memory.of(owner.scope());
    let after = recall(&fixture, &owner).await.unwrap();
    println!("evidence among the first ten: {before:.3} before, {after:.3} after");
    assert!(before > 0.3 && after >= before - 0.05, "{before} before, {after} after");
    let (mut items, mut all) = (None, 0);
    loop {
        let page =
            memory_core::store::vectors::VectorStore::scan(new.as_ref(), owner.scope(), items.as_ref(), 100).await;
        let page = page.unwrap();
        all += page.len();
        let Some((last, _)) = page.last() else { break };
        items = Some(last.clone());
    }
    let said: usize = fixture.sessions.iter().map(|(_, messages)| messages.len()).sum();
    assert!(all > said, "{all} of {said} and more are in the new space");
}
