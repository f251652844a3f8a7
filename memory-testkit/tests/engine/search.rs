//! Search: one answer of all indexes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use memory_core::engine::{Memory, Reason, Remember, Search, Stage};
use memory_core::rank::{Ranking, Weights};
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::store::text::{TextEntry, TextStore, Visibility};
use memory_core::{
    Analysis, Epoch, Error, Fields, Filter, ItemId, Message, MessageId, Result, Role, Scope, Seq, Timestamp, Truth,
    Unit, Version,
};
use memory_testkit::doubles::{Counting, Faulty, Tap, Tapped, When};

use crate::bench::{Bench, Taps, session};

/// Opens a bench over an index of words that a test writes to.
async fn over_text() -> (Arc<MemText>, Bench) {
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let store: Arc<dyn TextStore> = text.clone();
    (text, Bench::with(Taps::default(), move |builder| builder.text(store)).await)
}

/// Returns an entry of an item that truth does not hold.
fn entry(bench: &Bench, item: &ItemId) -> TextEntry {
    TextEntry {
        item: item.clone(),
        version: Version { epoch: Epoch(0), revision: 0 },
        own: Analysis::english().document("Aurora in bloom"),
        near: vec![],
        fields: Fields::of_span(&session("talk"), Seq(1), bench.memory.now()),
    }
}

#[tokio::test]
async fn an_id_whose_content_is_gone_is_counted_and_cleaned() {
    let (text, bench) = over_text().await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let orphan = ItemId::Message(MessageId::fresh());
    let entry = entry(&bench, &orphan);
    let ada = bench.owner("ada");
    text.put(ada.scope(), &[entry], Visibility::OnReturn).await.unwrap();
    // The orphan, which has no vector, is the first by words.
    let by_words = Search::new("Aurora bloom").limit(1).ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }));
    let found = ada.search(&by_words).await.unwrap();
    assert_eq!(found.hits.len(), 1, "the place of the orphan is filled");
    assert_eq!(found.receipt.dropped_at_hydration, 1);
    let gone = found.receipt.left_out.iter().find(|left| left.reason == Reason::Gone).unwrap();
    assert_eq!(gone.item, orphan);
    assert_eq!(bench.memory.upkeep_once().await.unwrap().cleaned, 1);
    let found = ada.search(&by_words).await.unwrap();
    assert_eq!(found.receipt.dropped_at_hydration, 0);
}

#[tokio::test]
async fn an_id_whose_content_is_gone_with_who_shares_is_counted_and_cleaned_there() {
    let (text, bench) = over_text().await;
    let (ada, team) = (bench.owner("ada"), bench.owner("team"));
    bench.session("team").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    // Ada has a message of the same id.
    let hers = bench.user("Aurora blooms at dawn.");
    let id = ItemId::Message(hers.id);
    bench.session("ada").append(vec![hers]).await.unwrap();
    bench.tend().await;
    let entry = entry(&bench, &id);
    text.put(team.scope(), &[entry], Visibility::OnReturn).await.unwrap();
    let search = Search::new("Aurora bloom").sharing([team.scope().clone()]);
    let found = ada.search(&search).await.unwrap();
    let (receipt, sharing) = (&found.receipt, &found.receipt.sharing[0]);
    assert_eq!((found.hits.len(), receipt.dropped_at_hydration, sharing.dropped_at_hydration), (2, 1, 1));
    let gone = receipt.left_out.iter().find(|left| left.reason == Reason::Gone).unwrap();
    assert_eq!((&gone.item, gone.shared_by.as_ref()), (&id, Some(team.scope())));
    // Upkeep is told whose index it is, and Ada's own entry stays.
    assert_eq!(bench.memory.upkeep_once().await.unwrap().cleaned, 1);
    let found = ada.search(&search).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.dropped_at_hydration), (2, 0));
    assert!(found.hits.iter().any(|hit| hit.item == id && hit.shared_by.is_none() && hit.signals.text.is_some()));
}

#[tokio::test]
async fn o13_every_candidate_is_a_hit_or_listed_or_counted() {
    let bench = Bench::new().await;
    let say = |n| Message::new(Role::User, format!("rose {n}"), bench.memory.now());
    bench.session("ada").append((0..30).map(say).collect()).await.unwrap();
    bench.tend().await;
    // With and without an index that finds the same items.
    for meaning in [0.0, 1.0] {
        let ranking = Ranking::ZScore(Weights { text: 1.0, vector: meaning });
        let found = bench.owner("ada").search(&Search::new("rose").limit(4).ranking(ranking)).await.unwrap();
        let (hits, receipt) = (found.hits.len(), found.receipt);
        assert_eq!((hits, receipt.left_out.len(), receipt.text_candidates), (4, 4, 30));
        // What is found by words is found by meaning too, if that is asked.
        assert_eq!(8 + receipt.not_listed, receipt.text_candidates.max(receipt.vector_candidates));
    }
}

#[tokio::test]
async fn a_question_beyond_the_limits_is_invalid() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let bad = [
        Search::new("x".repeat(70_000)),
        Search::new("x").limit(0),
        Search::new("x").limit(usize::MAX),
        Search::new("x").matching(Filter::Or(vec![Filter::All; 10_000])),
    ];
    for search in bad {
        assert!(matches!(ada.search(&search).await, Err(Error::Invalid { .. })));
    }
    for words in ["\") OR 1=1 --", "*:*", "%", "' UNION SELECT", "return redis.call('FLUSHALL')"] {
        assert_eq!(ada.search(&Search::new(words)).await.unwrap().hits.len(), 0);
    }
}

#[tokio::test]
async fn a_truth_store_that_fails_is_not_asked_for_every_candidate() {
    let chat_faults = Arc::new(Faulty::at(1, When::Before).of("get").lasting());
    let bench = Bench::with(Taps { chat_faults, ..Taps::default() }, |builder| builder).await;
    // Said at one moment: upkeep compares nothing with truth yet.
    let say = |n| Message::new(Role::User, format!("rose {n}"), bench.memory.now());
    bench.session("ada").append((0..90).map(say).collect()).await.unwrap();
    bench.owner("ada").remember(Remember::fact("a rose is a rose")).await.unwrap();
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("rose").limit(2)).await.unwrap();
    assert_eq!(
        found.hits.iter().map(|hit| hit.item.unit()).collect::<Vec<_>>(),
        [Unit::Record],
        "records still answer"
    );
    let stages: Vec<Stage> = found.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
    assert_eq!((stages, bench.chat.calls("get")), (vec![Stage::Chat], 1));
    assert_eq!(found.receipt.dropped_at_hydration, 0, "what could not be read is not gone");
}

#[tokio::test]
async fn a_vector_without_an_index_of_vectors_is_told() {
    let chat = Truth::chat(Arc::new(MemChat::default()));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let memory = Memory::builder(chat, records).text(text).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let space = Bench::new().await.embedder_space();
    let found = ada.search(&Search::new("rose").vector(space, vec![1.0; 32])).await.unwrap();
    assert_eq!(found.receipt.degraded[0].stage, Stage::Vector);
    assert!(ada.search(&Search::new("rose")).await.unwrap().receipt.degraded.is_empty());
}

#[tokio::test]
async fn what_an_index_holds_of_an_older_version_is_left_to_its_note() {
    let counting = Arc::new(Counting::default());
    let bench = Bench::with(Taps { text: counting.clone(), ..Taps::default() }, |builder| builder).await;
    let ada = bench.owner("ada");
    let rome = ada.remember(Remember::fact("Ada lives in Rome")).await.unwrap();
    bench.tend().await;
    ada.supersede(rome.id, Remember::fact("Ada lives in Oslo")).await.unwrap();
    let found = ada.search(&Search::new("Rome")).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.dropped_at_hydration), (0, 1));
    assert_eq!(counting.calls("delete"), 0, "a deletion here could take an entry that upkeep has just put");
}

/// Stores and indexes a message at the moment when the index is told to delete its id.
#[derive(Debug)]
struct Late {
    chat: Arc<MemChat>,
    text: Arc<MemText>,
    message: Message,
    is_done: AtomicBool,
}

fn aurora(message: &Message, revision: u64) -> TextEntry {
    TextEntry {
        item: ItemId::Message(message.id),
        version: Version { epoch: Epoch(0), revision },
        own: Analysis::english().document("Aurora"),
        near: vec![],
        fields: Fields::of_span(&session("talk"), Seq(1), message.at),
    }
}

impl Tap for Late {
    fn enter(&self, call: &'static str) -> Result<()> {
        if call == "delete" && !self.is_done.swap(true, Ordering::SeqCst) {
            let scope = Scope::new("acme", "ada").unwrap();
            let new = NewMessage::sized(self.message.clone(), 5);
            let batch = Append::new(vec![new]);
            self.chat.append(&scope, &session("talk"), &batch).now_or_never().unwrap().unwrap();
            let entries = [aurora(&self.message, 1)];
            self.text.put(&scope, &entries, Visibility::OnReturn).now_or_never().unwrap().unwrap();
        }
        Ok(())
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_item_that_is_stored_while_its_old_id_is_cleaned_is_still_found() {
    let message = Message::new(Role::User, "My rose is called Aurora.", Timestamp(0));
    let (chat, text) = (Arc::new(MemChat::default()), Arc::new(MemText::new(Analysis::english().name())));
    let late =
        Late { chat: chat.clone(), text: text.clone(), message: message.clone(), is_done: AtomicBool::new(false) };
    let tapped = Arc::new(Tapped::new(text.clone(), Arc::new(late)));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let memory = Memory::builder(Truth::chat(chat), records).text(tapped).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    text.put(ada.scope(), &[aurora(&message, 0)], Visibility::OnReturn).await.unwrap();
    let first = ada.search(&Search::new("Aurora")).await.unwrap();
    assert_eq!((first.hits.len(), first.receipt.dropped_at_hydration), (0, 1));
    memory.upkeep_once().await.unwrap();
    let second = ada.search(&Search::new("Aurora")).await.unwrap();
    assert_eq!(second.hits.len(), 1, "its entry was deleted with the old one");
}

#[tokio::test]
async fn a_number_that_one_message_alone_holds_finds_it_first_among_its_likes() {
    let bench = Bench::new().await;
    let mut talk = Vec::new();
    for number in 0..60 {
        let bill = |n: u32| format!("Invoice {} from Dubois: 141 euros, paid by Haas on time.", 33_700 + n);
        talk.extend([bench.user(&bill(2 * number)), bench.say(Role::Assistant, &bill(2 * number + 1))]);
    }
    bench.session("ada").append(talk).await.unwrap();
    bench.tend().await;
    for code in ["33713", "33742", "33755", "33806"] {
        for question in [code.to_owned(), format!("invoice {code}"), format!("Dubois, invoice {code}, euros")] {
            let found = bench.owner("ada").search(&Search::new(question.as_str())).await.unwrap();
            assert!(found.hits[0].content.text().contains(code), "{question}: {}", found.hits[0].content.text());
            assert!(found.hits.is_sorted_by(|one, other| one.signals.score >= other.signals.score), "{question}");
        }
    }
}
