//! What upkeep has given up counts until its owner is erased.

use std::sync::{Arc, OnceLock};

use memory_core::engine::{Forget, IndexStatus, Memory, Remember, Scoped};
use memory_core::methods::*;
use memory_core::model::Embedder;
use memory_core::reference::{MemChat, MemRecords, MemVectors};
use memory_core::{Message, Role, Truth};
use memory_testkit::broken_store;
use memory_testkit::doubles::{EmbedderMode, FakeEmbedder, Faulty, Tapped, When};

use crate::bench::{Bench, Taps, session};

memory_core::store_methods!(Store, VectorStore => broken_store { MemVectors {} });

/// Erases an owner while the index is given what the owner said.
#[derive(Debug, Default)]
struct Erasing(OnceLock<Scoped>);

#[async_trait]
impl Break for Erasing {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        if let Some(owner) = self.0.get() {
            owner.forget(&Forget::Everything).await?;
        }
        inner.put(scope, entries, visibility).await
    }
}

/// Returns how many items, and how many notes as a whole, the index of meaning was not given.
fn counts(indexes: &[IndexStatus]) -> (u64, u64) {
    (indexes[1].given_up, indexes[1].backlog.clone().unwrap().dead)
}

#[tokio::test]
async fn what_was_given_up_of_an_erased_owner_is_counted_no_longer_and_that_of_others_is() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::Refuses("poison"));
    let [ada, bob] = ["ada", "bob"].map(|subject| bench.owner(subject));
    for owner in [&ada, &bob] {
        let said = ["My rose is called Aurora.", "poison"].map(|text| bench.user(text));
        bench.session(&owner.scope().subject()).append(said.to_vec()).await.unwrap();
        owner.remember(Remember::fact("poison")).await.unwrap();
    }
    for _ in 0..5 {
        bench.memory.upkeep_once().await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(counts(&bench.memory.status().await.indexes), (2, 2));
    assert!(ada.forget(&Forget::Everything).await.unwrap().complete);
    for _ in 0..2 {
        assert_eq!(counts(&bench.memory.status().await.indexes), (1, 1));
        assert_eq!((counts(&ada.indexes().await), counts(&bob.indexes().await)), ((0, 0), (1, 1)));
        bench.memory.upkeep_once().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_given_up_while_its_owner_is_erased_is_not_counted() {
    let embedder = Arc::new(FakeEmbedder::new(32));
    embedder.set(EmbedderMode::Refuses("poison"));
    let vectors = Arc::new(Mutant { inner: MemVectors::new(embedder.space().clone()), broken: Erasing::default() });
    let (chat, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
    let builder = Memory::builder(Truth::chat(chat), Truth::records(records)).vectors(vectors.clone(), embedder);
    let memory = builder.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let said = ["My rose is called Aurora.", "poison"].map(|text| Message::new(Role::User, text, Timestamp(1)));
    ada.session(&session("talk")).append(said.to_vec()).await.unwrap();
    vectors.broken.0.set(ada.clone()).unwrap();
    memory.upkeep_once().await.unwrap();
    assert_eq!(memory.status().await.indexes[0].given_up, 0);
    assert_eq!(ada.messages(&[said[0].id]).await.unwrap(), []);
}

#[tokio::test]
async fn what_is_tried_again_because_the_index_lost_it_is_counted_once() {
    let faulty = Arc::new(Faulty::at(1, When::Before).of("flush"));
    let bench = Bench::with(Taps { vectors: faulty.clone(), ..Taps::default() }, |builder| builder).await;
    bench.embedder.set(EmbedderMode::Refuses("poison"));
    let said = ["My rose is called Aurora.", "poison"].map(|text| bench.user(text));
    bench.session("ada").append(said.to_vec()).await.unwrap();
    for _ in 0..2 {
        bench.memory.upkeep_once().await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
    }
    assert!(faulty.has_failed());
    assert_eq!(counts(&bench.memory.status().await.indexes), (1, 0));
}

#[tokio::test]
async fn what_is_tried_again_because_truth_did_not_hear_of_it_is_counted_once() {
    let embedder = Arc::new(FakeEmbedder::new(32));
    embedder.set(EmbedderMode::Refuses("poison"));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    let (mut chat, records) = (Truth::chat(Arc::new(MemChat::default())), Arc::new(MemRecords::default()));
    // What fails for all is tried once more for the owner.
    let faults = [(); 2].map(|()| Arc::new(Faulty::at(1, When::Before).of("settle")));
    for fault in faults.clone() {
        chat = chat.layered_upkeep(|upkeep| Arc::new(Tapped::<dyn Upkeep>::new(upkeep, fault)));
    }
    let memory = Memory::builder(chat, Truth::records(records)).vectors(vectors, embedder).build().await.unwrap();
    let said = ["My rose is called Aurora.", "poison"].map(|text| Message::new(Role::User, text, Timestamp(1)));
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    ada.session(&session("talk")).append(said.to_vec()).await.unwrap();
    for _ in 0..2 {
        memory.upkeep_once().await.unwrap();
    }
    assert!(faults.iter().all(|fault| fault.has_failed()));
    assert_eq!(memory.status().await.indexes[0].given_up, 1);
}
