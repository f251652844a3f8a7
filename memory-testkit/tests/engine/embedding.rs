//! What is embedded, and what is not embedded again.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::index::PIECE_WORDS;
use memory_core::model::{Embedder, Purpose};
use memory_core::record::{Record, StoredRecord};
use memory_core::reference::{MemChat, MemRecords, MemVectors};
use memory_core::store::upkeep::Backlog;
use memory_core::store::vectors::VectorStore as _;
use memory_core::vector::EmbeddingSpace;
use memory_core::{Error, Result, Truth};
use memory_testkit::doubles::{EmbedderMode, FakeEmbedder};

use crate::bench::{Bench, Taps, session};

/// An embedder that remembers what it was given.
#[derive(Debug)]
struct Told {
    inner: FakeEmbedder,
    texts: Mutex<Vec<String>>,
}

impl Told {
    fn new() -> Arc<Self> {
        Arc::new(Self { inner: FakeEmbedder::new(32), texts: Mutex::default() })
    }

    fn note(&self, texts: &[&str]) {
        let mut told = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        told.extend(texts.iter().map(|text| (*text).to_owned()));
    }

    /// Returns the texts since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Embedder for Told {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        self.note(texts);
        self.inner.embed(texts, purpose).await
    }
}

async fn bench(kept: usize) -> (Bench, Arc<Told>) {
    let told = Told::new();
    let vectors = Arc::new(MemVectors::new(told.space().clone()));
    let bench = Bench::with(Taps::default(), |builder| builder.vectors(vectors, told.clone()).kept_vectors(kept)).await;
    (bench, told)
}

#[tokio::test]
async fn s1_2_the_same_words_of_one_owner_are_embedded_once_while_their_vector_is_kept() {
    for (kept, promised) in [(1_000, &["one", "two"][..]), (0, &["one", "two", "one"])] {
        let (bench, told) = bench(kept).await;
        let talk = bench.session("ada");
        for text in ["one", "two", "one"] {
            talk.append(vec![bench.user(text)]).await.unwrap();
            bench.tend().await;
        }
        assert_eq!(told.take(), promised);
    }
}

#[tokio::test]
async fn s1_2_a_question_asked_again_is_embedded_once_for_each_owner() {
    let (bench, told) = bench(1_000).await;
    for (owner, promised) in [("ada", &["who is it"][..]), ("ada", &[]), ("bob", &["who is it"]), ("bob", &[])] {
        bench.owner(owner).search(&Search::new("who is it")).await.unwrap();
        assert_eq!(told.take(), promised, "{owner}");
    }
}

#[tokio::test]
async fn a_question_to_several_owners_is_embedded_once_and_kept_as_the_askers() {
    let (bench, told) = bench(1_000).await;
    let alone = Search::new("who is it");
    let others = ["bob", "eve"].map(|other| bench.owner(other).scope().clone());
    let shared = alone.clone().sharing(others);
    for (owner, search, promised) in [
        ("ada", &shared, &["who is it"][..]),
        ("ada", &shared, &[]),
        ("ada", &alone, &[]),
        ("bob", &alone, &["who is it"]),
    ] {
        bench.owner(owner).search(search).await.unwrap();
        assert_eq!(told.take(), promised, "{owner}");
    }
}

#[tokio::test]
async fn what_a_named_speaker_would_say_is_embedded_once_for_all_owners() {
    let (bench, told) = bench(0).await;
    for owner in ["ada", "bob"] {
        let said = bench.user("The pottery class was great: glaze, kiln, apron, wheel.").with_speaker("Caroline");
        bench.session(owner).append(vec![said]).await.unwrap();
    }
    bench.tend().await;
    told.take();
    let question = "What did Caroline say of the pottery class?";
    let search = Search::new(question).sharing([bench.owner("bob").scope().clone()]);
    let found = bench.owner("ada").search(&search).await.unwrap();
    assert_eq!(told.take(), [question, "What did I say of the pottery class?"]);
    assert_eq!((found.hits.len(), found.receipt.speaker.as_deref()), (2, Some("Caroline")));
}

#[tokio::test]
async fn s1_2_what_one_owner_said_is_embedded_anew_for_another() {
    let (bench, told) = bench(1_000).await;
    for owner in ["ada", "bob"] {
        bench.session(owner).append(vec![bench.user("the same")]).await.unwrap();
        bench.tend().await;
        assert_eq!(told.take(), ["the same"], "{owner}");
    }
}

#[tokio::test]
async fn s1_2_where_owners_share_vectors_the_same_text_is_embedded_once() {
    let told = Told::new();
    let vectors = Arc::new(MemVectors::new(told.space().clone()));
    let bench = Bench::with(Taps::default(), |builder| builder.vectors(vectors, told.clone()).share_vectors()).await;
    for (owner, promised) in [("ada", &["the same"][..]), ("bob", &[])] {
        bench.session(owner).append(vec![bench.user("the same")]).await.unwrap();
        bench.tend().await;
        assert_eq!(told.take(), promised, "{owner}");
        let found = bench.owner(owner).search(&Search::new("the same")).await.unwrap();
        assert_eq!(found.hits.len(), 1);
        told.take();
    }
}

#[tokio::test]
async fn what_an_owner_forgets_is_embedded_anew_and_what_others_said_is_not() {
    let (bench, told) = bench(1_000).await;
    for owner in ["ada", "bob"] {
        bench.session(owner).append(vec![bench.user("the same")]).await.unwrap();
    }
    bench.tend().await;
    assert_eq!(told.take().len(), 2);
    bench.owner("ada").forget(&Forget::Session(session("talk"))).await.unwrap();
    bench.tend().await;
    for owner in ["ada", "bob"] {
        let talk = bench.owner(owner).session(&session("another talk"));
        talk.append(vec![bench.user("the same")]).await.unwrap();
    }
    bench.tend().await;
    assert_eq!(told.take(), ["the same"]);
}

#[tokio::test]
async fn an_index_beside_is_filled_and_forgets_and_does_not_answer_words() {
    let (first, second) = (Told::new(), Arc::new(FakeEmbedder::new(8)));
    let stores = [first.space(), second.space()].map(|space| Arc::new(MemVectors::new(space.clone())));
    let [vectors, beside] = stores.clone();
    let bench = Bench::with(Taps::default(), |builder| {
        builder.vectors(vectors, first.clone()).vectors_beside(beside, second.clone())
    })
    .await;
    let message = bench.user("one");
    let id = message.id;
    bench.session("ada").append(vec![message]).await.unwrap();
    bench.tend().await;
    let ada = bench.owner("ada");
    let held = async |store: &MemVectors| store.scan(ada.scope(), None, 10).await.unwrap().len();
    assert_eq!((held(&stores[0]).await, held(&stores[1]).await), (1, 1));
    assert_eq!(bench.memory.status().await.indexes.len(), 3);
    first.take();
    assert_eq!(ada.search(&Search::new("two")).await.unwrap().hits.len(), 1);
    assert_eq!(first.take(), ["two"]);
    let vector = second.embed(&["one"], Purpose::Query).await.unwrap().remove(0);
    let by_vector = Search::new("").vector(second.space().clone(), vector);
    assert_eq!(ada.search(&by_vector).await.unwrap().hits.len(), 1);
    assert!(ada.forget(&Forget::Messages(vec![id])).await.unwrap().complete);
    assert_eq!((held(&stores[0]).await, held(&stores[1]).await), (0, 0));
}

#[tokio::test]
async fn two_indexes_of_one_space_are_refused() {
    let embedder = Arc::new(FakeEmbedder::new(8));
    let store = || Arc::new(MemVectors::new(embedder.space().clone()));
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let builder = Memory::builder(chat, records).vectors(store(), embedder.clone());
    let refused = builder.vectors_beside(store(), embedder.clone()).build().await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_text_that_the_embedder_knows_nothing_of_is_found_by_its_words_alone() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::KnowsNothingOf("jumala"));
    let texts = ["hyvää jumala", "My rose is called Aurora."];
    bench.session("ada").append(texts.map(|text| bench.user(text)).to_vec()).await.unwrap();
    bench.tend().await;
    let backlogs = bench.memory.status().await.indexes.into_iter().map(|index| index.backlog.unwrap());
    assert!(backlogs.eq([Backlog::default(), Backlog::default()]));
    let ada = bench.owner("ada");
    let found = ada.search(&Search::new("rose")).await.unwrap();
    assert_eq!((found.receipt.vector_candidates, found.receipt.degraded.len()), (1, 0));
    let found = ada.search(&Search::new("jumala")).await.unwrap();
    assert_eq!((found.receipt.vector_candidates, found.receipt.degraded.len()), (0, 0));
    assert_eq!(found.hits[0].content.text(), texts[0]);
}

#[tokio::test]
async fn of_a_message_the_pieces_that_the_embedder_knows_are_indexed() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::KnowsNothingOf("jumala"));
    let text = format!("{} rose garden", "jumala ".repeat(PIECE_WORDS));
    bench.session("ada").append(vec![bench.user(&text)]).await.unwrap();
    bench.tend().await;
    assert_eq!(bench.owner("ada").search(&Search::new("garden")).await.unwrap().receipt.vector_candidates, 1);
}

#[tokio::test]
async fn a_record_that_becomes_what_the_embedder_knows_nothing_of_leaves_the_index_of_meaning() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let id = ada.remember(Remember::fact("roses")).await.unwrap().id;
    bench.tend().await;
    let found = async || ada.search(&Search::new("roses")).await.unwrap().receipt.vector_candidates;
    assert_eq!(found().await, 1);
    bench.embedder.set(EmbedderMode::KnowsNothingOf("jumala"));
    let StoredRecord { record, version, .. } = ada.get(&[id]).await.unwrap().remove(0);
    let changed = Record { text: "jumala".to_owned(), ..Record::clone(&record) };
    let row = StoredRecord { record: changed.into(), version: version + 1, accessed_at: None, access_count: 0 };
    ada.restore(&[row]).await.unwrap();
    bench.tend().await;
    assert_eq!(found().await, 0);
}
