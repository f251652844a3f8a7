//! Search: one answer of all indexes.

use std::sync::Arc;

use memory_core::engine::{Reason, Remember, Search, Stage};
use memory_core::reference::MemText;
use memory_core::text::{TextEntry, TextStore, Visibility};
use memory_core::{Analysis, Epoch, Error, Field, Fields, Filter, ItemId, MessageId, Role, Seq, Trust, Unit, Version};
use memory_testkit::doubles::{Faulty, When};

use crate::bench::{Bench, Taps, session};

#[tokio::test]
async fn finds_messages_and_records_of_the_owner_alone() {
    let bench = Bench::new().await;
    for (owner, text) in [("ada", "Ada's rose is called Aurora."), ("bob", "Bob's rose is called Boreas.")] {
        bench.session(owner).append(vec![bench.user(text)]).await.unwrap();
        bench.owner(owner).remember(Remember::fact(format!("{owner} has a rose"))).await.unwrap();
    }
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("roses")).await.unwrap();
    let texts: Vec<String> = found.hits.iter().map(|hit| hit.content.text()).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("ob")));
    assert_eq!(found.receipt.degraded, []);
    assert_eq!(found.receipt.dropped_at_hydration, 0);
    assert!(found.hits.iter().all(|hit| hit.signals.text_rank.is_some()));
}

#[tokio::test]
async fn filters_are_pushed_down_and_never_starve_the_answer() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let roses = (0..500).map(|n| bench.user(&format!("rose rose rose {n}"))).collect();
    talk.append(roses).await.unwrap();
    let one = bench.say(Role::Assistant, "a rose among many words that nobody asked for").with_metadata("bed", 7);
    talk.append(vec![one]).await.unwrap();
    bench.tend().await;
    let ada = bench.owner("ada");
    for filter in [Filter::eq(Field::Role, "assistant"), Filter::eq(Field::Metadata("bed".into()), 7)] {
        let found = ada.search(&Search::new("rose").limit(3).matching(filter)).await.unwrap();
        assert_eq!(found.hits.len(), 1);
    }
    let trusted = ada.search(&Search::new("rose").limit(600).min_trust(Trust::User)).await.unwrap();
    assert_eq!(trusted.hits.len(), 500);
    let records = ada.search(&Search::new("rose").only(Unit::Record)).await.unwrap();
    assert_eq!(records.hits.len(), 0);
}

#[tokio::test]
async fn an_id_whose_content_is_gone_is_counted_and_cleaned() {
    let analysis = Analysis::english();
    let text = Arc::new(MemText::new(analysis.name()));
    let store: Arc<dyn TextStore> = text.clone();
    let bench = Bench::with(Taps::default(), move |builder| builder.text(store)).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let orphan = ItemId::Message(MessageId::fresh());
    let entry = TextEntry {
        item: orphan.clone(),
        version: Version { epoch: Epoch(0), revision: 0 },
        own: analysis.document("Aurora Aurora"),
        near: vec![],
        fields: Fields::of_span(&session("talk"), Seq(1), bench.memory.now()),
    };
    let ada = bench.owner("ada");
    text.put(ada.scope(), &[entry], Visibility::OnReturn).await.unwrap();
    let found = ada.search(&Search::new("Aurora").limit(1)).await.unwrap();
    assert_eq!(found.hits.len(), 1, "the place of the orphan is filled");
    assert_eq!(found.receipt.dropped_at_hydration, 1);
    let gone = found.receipt.left_out.iter().find(|left| left.reason == Reason::Gone).unwrap();
    assert_eq!(gone.item, orphan.key());
    let found = ada.search(&Search::new("Aurora").limit(1)).await.unwrap();
    assert_eq!(found.receipt.dropped_at_hydration, 0);
}

#[tokio::test]
async fn a_failing_index_is_named_and_the_other_answers() {
    let taps = Taps { text: Arc::new(Faulty::at(1, When::Before).of("search").lasting()), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("rose")).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert!(found.hits[0].signals.text.is_none() && found.hits[0].signals.cosine.is_some());
    let stages: Vec<Stage> = found.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
    assert_eq!(stages, [Stage::Text]);
}

#[tokio::test]
async fn s0_14_a_given_vector_is_used_and_its_space_checked() {
    use memory_core::model::{Embedder, Purpose};
    let bench = Bench::new().await;
    bench
        .session("ada")
        .append(vec![bench.user("My rose is called Aurora."), bench.user("The bus is late.")])
        .await
        .unwrap();
    bench.tend().await;
    let vector = bench.embedder.embed(&["late bus"], Purpose::Query).await.unwrap().remove(0);
    let space = bench.embedder.space().clone();
    let ada = bench.owner("ada");
    let found = ada.search(&Search::new("").vector(space.clone(), vector.clone())).await.unwrap();
    assert_eq!(found.hits[0].content.text(), "The bus is late.");
    let other = memory_core::vector::EmbeddingSpace { model: "other".into(), ..space };
    let found = ada.search(&Search::new("").vector(other, vector)).await.unwrap();
    assert_eq!(found.hits.len(), 0);
    assert_eq!(found.receipt.degraded[0].stage, Stage::Vector);
}

#[tokio::test]
async fn a_question_without_words_or_beyond_the_limits_is_invalid() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let bad = [
        Search::new("  "),
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
