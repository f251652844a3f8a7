//! A context that is made again from what was stored, in a memory of its own.

use std::time::Duration;

use memory_core::engine::{ContextRequest, Forget, Remember, Search, Stage};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Error, Filter, Message, Seq};

use crate::bench::{Bench, Taps, session};

#[tokio::test]
async fn o13_a_context_made_again_from_a_snapshot_is_the_same_in_every_byte() {
    let folding = || BufferConfig::default().with_capacity_messages(60);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(folding())).await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    talk.append(bench.chatter(100)).await.unwrap();
    for n in 0..20 {
        talk.scoped().remember(Remember::fact(format!("Rose {n} stands in bed {n}"))).await.unwrap();
    }
    bench.tend().await;
    let (rows, records) = (
        talk.read(&Page::after(Seq(0), 1_000, View::All)).await.unwrap().messages,
        talk.scoped().records(&Filter::All, None, 100).await.unwrap(),
    );
    assert!(rows.iter().any(|row| row.archived_by.is_some()), "nothing was folded");

    let other = Bench::with(Taps::default(), |builder| builder.buffer(folding())).await;
    other.clock.advance(Duration::from_micros((bench.memory.now().0 - other.memory.now().0) as u64));
    let again = other.session("ada");
    again.restore(&rows).await.unwrap();
    again.scoped().restore(&records).await.unwrap();
    other.tend().await;
    assert_eq!(other.memory.now(), bench.memory.now());
    for (question, budget) in [("What is my rose called?", 600), ("Which rose stands in bed 7?", 2_000), ("", 300)] {
        let request = ContextRequest::new(question, budget);
        let first = talk.assemble(&request).await.unwrap();
        let second = again.assemble(&request).await.unwrap();
        let bytes = |context: &memory_core::engine::Context| {
            let shown: Vec<_> = context.messages().map(Message::to_openai).collect();
            let mut receipt = context.receipt.clone();
            (receipt.took_micros, receipt.search.took_micros, receipt.prefix_reuse_ratio) = (0, 0, None);
            receipt.search.stages.clear();
            (serde_json::to_string(&shown).unwrap(), serde_json::to_string(&receipt).unwrap())
        };
        assert_eq!(bytes(&first), bytes(&second), "{question:?}");
    }
}

#[tokio::test]
async fn o13_a_receipt_tells_how_long_each_stage_took_that_was_needed() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    talk.append(bench.chatter(100)).await.unwrap();
    talk.scoped().remember(Remember::fact("Aurora is a rose")).await.unwrap();
    bench.tend().await;
    let stages = |receipt: &memory_core::engine::SearchReceipt| receipt.stages.keys().copied().collect::<Vec<_>>();
    let context = talk.context("What is my rose called?", 500).await.unwrap();
    let all = [Stage::Embed, Stage::Text, Stage::Vector, Stage::Chat, Stage::Records];
    assert_eq!(stages(&context.receipt.search), all);
    // None took longer than the whole.
    let most = context.receipt.search.stages.values().max().copied();
    assert!(most <= Some(context.receipt.took_micros), "{:?}", context.receipt);
    assert!(context.receipt.to_string().contains("\nstages    embed "), "{}", context.receipt);
    let plain = talk.assemble(&ContextRequest::new("What is my rose called?", 500).recall(0)).await.unwrap();
    assert_eq!(stages(&plain.receipt.search), [Stage::Chat]);
    let found = talk.scoped().search(&Search::new("rose").only(memory_core::Unit::Record)).await.unwrap();
    assert!(!stages(&found.receipt).contains(&Stage::Chat), "{:?}", found.receipt);
}

#[tokio::test]
async fn o13_every_message_of_the_window_is_kept_or_counted_under_one_reason() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(150)).await.unwrap();
    for budget in [60, 200, 1_000, 100_000] {
        for shown in [7, 40, 1_000] {
            let talk = talk.clone().with(BufferConfig::default().with_window_messages(shown)).unwrap();
            let context = talk.assemble(&ContextRequest::new("", budget).recall(0)).await.unwrap();
            let history = context.receipt.history;
            let left = history.no_room + history.outside + history.no_start + history.unpaired + history.unfinished;
            let left = left + history.untrusted;
            assert_eq!(history.kept_messages + left, history.window_messages, "{budget} tokens, {shown}: {history:?}");
            assert_eq!(history.window_messages, 300);
        }
    }
}

#[tokio::test]
async fn s1_14_a_restore_under_way_writes_nothing_after_everything_was_forgotten() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(2)).await.unwrap();
    talk.scoped().remember(Remember::fact("Aurora is a rose")).await.unwrap();
    let rows = talk.read(&Page::after(Seq(0), 100, View::All)).await.unwrap().messages;
    let records = talk.scoped().records(&Filter::All, None, 10).await.unwrap();

    let bob = bench.owner("bob");
    bob.session(&session("first")).restore(&rows).await.unwrap();
    assert!(bench.owner("bob").forget(&Forget::Everything).await.unwrap().complete);
    let first = bob.session(&session("first")).restore(&rows).await;
    assert!(matches!(first, Err(Error::Fenced)), "{first:?}");
    let second = bob.session(&session("second")).restore(&rows).await;
    assert!(matches!(second, Err(Error::Fenced)), "{second:?}");
    let said = bob.session(&session("third")).append(bench.chatter(1)).await;
    assert!(matches!(said, Err(Error::Fenced)), "{said:?}");
    let records_too = bob.restore(&records).await;
    assert!(matches!(records_too, Err(Error::Fenced)), "{records_too:?}");

    let anew = bench.owner("bob");
    assert!(anew.sessions(None, 10).await.unwrap().is_empty());
    assert!(anew.records(&Filter::All, None, 10).await.unwrap().is_empty());
    anew.restore(&records).await.unwrap();
    anew.session(&session("first")).restore(&rows).await.unwrap();
}

#[tokio::test]
async fn s1_14_a_session_that_was_forgotten_is_not_restored_by_an_older_handle() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(2)).await.unwrap();
    let rows = talk.read(&Page::after(Seq(0), 100, View::All)).await.unwrap().messages;
    talk.scoped().forget(&Forget::Session(session("talk"))).await.unwrap();
    let late = talk.restore(&rows).await;
    assert!(matches!(late, Err(Error::Fenced)), "{late:?}");
    bench.session("ada").restore(&rows).await.unwrap();
}
