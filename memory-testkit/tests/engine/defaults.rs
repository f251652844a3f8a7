//! What calls have that say nothing else, as a memory says it.

use std::sync::Arc;

use memory_core::engine::{Context, ContextRequest, Defaults, Memory, PartKind, Remember, Remembered};
use memory_core::novelty::{Gate, Reason, Repeat};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::window::LimitRule;
use memory_core::{Error, Truth};

use crate::bench::{Bench, Taps, session};

async fn with(defaults: Defaults) -> Bench {
    Bench::with(Taps::default(), |builder| builder.defaults(defaults)).await
}

/// Returns how many items a context recalled, and how many tokens it kept free.
fn told(context: &Context) -> (usize, u64) {
    let recalled = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled);
    (recalled.count(), context.receipt.tokens.reserved)
}

#[tokio::test]
async fn s1_19_a_context_recalls_and_keeps_free_what_its_memory_says() {
    let bench = with(Defaults::default().with_recall(2).with_reserve(100).with_hits(3)).await;
    let (ada, question) = (bench.owner("ada"), "Which rose grows in the garden?");
    for number in 0..6 {
        ada.remember(Remember::fact(format!("Rose number {number} grows in the garden"))).await.unwrap();
    }
    bench.tend().await;
    assert_eq!(told(&ada.context(question, 2_000).await.unwrap()), (2, 100));
    assert_eq!(told(&ada.session(&session("talk")).context(question, 2_000).await.unwrap()), (2, 100));
    assert_eq!(ada.search(&bench.memory.defaults().search("rose")).await.unwrap().hits.len(), 3);
    // A request that is made by hand says everything itself.
    assert_eq!(told(&ada.assemble(&ContextRequest::new(question, 2_000)).await.unwrap()), (5, 0));
}

#[tokio::test]
async fn s3_11_a_memory_may_have_a_gate_for_all_that_is_remembered() {
    // The embedder of the bench adds up vectors of words, so six of seven words in common make texts alike.
    let gate = Gate::default().with_threshold(0.4);
    let bench = with(Defaults::default().with_gate(gate)).await;
    let ada = bench.owner("ada");
    let first = ada.remember(Remember::fact("Ada likes a cup of green tea")).await.unwrap();
    let again = || Remember::fact("Ada still likes a cup of green tea");
    let told = ada.remember(again()).await.unwrap();
    assert_eq!((told.outcome, told.id), (Remembered::Reinforced, first.id));
    let all = ada.remember_all(vec![again(), Remember::fact("Zebras gallop over dry plains")]).await.unwrap();
    assert_eq!([all[0].outcome, all[1].outcome], [Remembered::Reinforced, Remembered::Stored]);
    // Its own gate counts before that of the memory, also one that lets everything through.
    let skipped = ada.remember(again().gated(gate.with_repeat(Repeat::Skip))).await.unwrap();
    assert!(matches!(skipped.outcome, Remembered::Skipped(Reason::Alike { to, .. }) if to == first.id), "{skipped:?}");
    let open = Gate::default().with_threshold(0.0);
    assert_eq!(ada.remember(again().gated(open)).await.unwrap().outcome, Remembered::Stored);
}

#[tokio::test]
async fn s1_19_defaults_that_no_call_may_have_are_refused() {
    let (plain, mut rule) = (Defaults::default(), LimitRule::default());
    rule.share = f64::NAN;
    let gate = Gate::default().with_threshold(2.1);
    for refused in [plain.with_hits(0), plain.with_limit(rule), plain.with_gate(gate)] {
        let (chat, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
        let builder = Memory::builder(Truth::chat(chat), Truth::records(records)).defaults(refused);
        assert!(matches!(builder.build().await, Err(Error::Invalid { .. })), "{refused:?}");
    }
}
