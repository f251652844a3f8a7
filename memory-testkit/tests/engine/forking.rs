//! What a branch costs, by the calls of the store and the rows that it reads.

use memory_core::engine::{ContextRequest, Forget};
use memory_core::{Message, Role, Seq};

use crate::bench::{Bench, session};

#[tokio::test]
async fn a_branch_of_100_000_messages_costs_what_one_of_ten_does() {
    let bench = Bench::new().await;
    let long = bench.session("ada");
    let at = bench.memory.now();
    for part in 0..10 {
        let said = (0..10_000).map(|n| Message::new(Role::User, format!("Water plant {part} {n}, please."), at));
        long.append(said.collect()).await.unwrap();
    }
    let mut costs = Vec::new();
    for at in [10, 100_000] {
        bench.chat.reset();
        let branch = long.fork(Seq(at), &session(&format!("at {at}"))).await.unwrap();
        let forked = (bench.chat.total(), bench.chat.rows("read"));
        bench.chat.reset();
        let context = branch.assemble(&ContextRequest::new("And in winter?", 60).recall(0)).await.unwrap();
        assert!(context.receipt.history.inherited > 1, "{}", context.receipt);
        costs.push((forked, bench.chat.total(), bench.chat.rows("read")));
    }
    assert_eq!(costs[0], costs[1]);
    assert!(costs[0].0.0 <= 4 && costs[0].0.1 <= 2 && costs[0].2 <= 20, "{costs:?}");
}

#[tokio::test]
async fn a_branch_of_a_past_without_a_summary_looks_for_one_no_further_than_a_few_contexts_reach() {
    let bench = Bench::new().await;
    let long = bench.session("ada");
    let said = |n: usize| bench.user(&format!("Plant {n}: {}", "water it well, ".repeat(60)));
    let said: Vec<Message> = (0..1_000).map(said).collect();
    let first = said[0].id;
    long.append(said).await.unwrap();
    // From now on a summary may stand for several messages.
    bench.owner("ada").forget(&Forget::Messages(vec![first])).await.unwrap();
    let branch = long.fork(Seq(1_000), &session("branch")).await.unwrap();
    bench.chat.reset();
    let context = branch.assemble(&ContextRequest::new("And in winter?", 2_000).recall(0)).await.unwrap();
    assert!(context.receipt.history.inherited > 1, "{}", context.receipt);
    assert!(bench.chat.rows("read") < 250, "{} rows", bench.chat.rows("read"));
}
