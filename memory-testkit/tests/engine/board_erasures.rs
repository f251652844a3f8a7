//! Boards and erasures: nothing of an owner's board outlives the owner, whatever was away or late.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{BoardEntry, Forget};
use memory_core::layer::GuardPolicy;
use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry, BlackboardStats};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, Error, Message, Role};
use memory_testkit::doubles::{Counting, Faulty, Tapped, When};

use crate::bench::{Bench, Taps, session};
use crate::boards::{Ground, found, scope};
use crate::gate::Gate;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn everything_forgotten_is_the_board_too_and_anything_less_leaves_it() {
    let bench = Bench::new().await;
    let [ada, bob] = ["ada", "bob"].map(|subject| bench.owner(subject));
    for owner in [&ada, &bob] {
        let message = bench.user("The plan is the survey.");
        let id = message.id;
        owner.session(&session("talk")).append(vec![message]).await.unwrap();
        owner.blackboard().put(&BoardEntry::new("plan", "the survey").embedded()).await.unwrap();
        owner.forget(&Forget::Messages(vec![id])).await.unwrap();
        owner.forget(&Forget::Session(session("talk"))).await.unwrap();
        assert_eq!(found(&owner.blackboard(), "survey").await, ["plan"]);
    }
    let old = ada.blackboard();
    old.get("plan").await.unwrap();
    let receipt = ada.forget(&Forget::Everything).await.unwrap();
    let board = receipt.stores.iter().find(|store| store.part == "board").unwrap();
    assert_eq!((receipt.complete, board.removed, board.remaining), (true, 1, Some(0)));
    // An older handle is fenced, as that of a session is.
    assert!(matches!(old.put(&BoardEntry::new("plan", "late")).await, Err(Error::Fenced)));
    assert!(matches!(old.get("plan").await, Err(Error::Fenced)));
    let new = ada.blackboard();
    let capacity = new.stats().await.unwrap().board.capacity;
    assert_eq!(new.stats().await.unwrap().board, BlackboardStats { capacity, ..BlackboardStats::default() });
    assert_eq!(found(&new, "survey").await, [""; 0]);
    new.put(&BoardEntry::new("plan", "anew")).await.unwrap();
    let again = ada.forget(&Forget::Everything).await.unwrap();
    assert_eq!((again.complete, ada.blackboard().get("plan").await.unwrap()), (true, None));
    assert_eq!(found(&bob.blackboard(), "survey").await, ["plan"]);
}

#[tokio::test]
async fn a_board_that_is_away_makes_the_receipt_incomplete_and_upkeep_empties_it() {
    // With an index, whose note of the erasure waits for the board; and without, where this process remembers it.
    for is_indexed in [true, false] {
        let (ground, away) = (Ground::new(), Arc::new(Faulty::at(1, When::Before).of("erase")));
        let memory = if is_indexed {
            let board = Arc::new(Tapped::new(ground.board.clone(), away));
            Bench::with(Taps::default(), |builder| builder.blackboard(board)).await.memory
        } else {
            ground.open(Arc::new(Counting::default()), away).await
        };
        let ada = memory.of(&scope("ada"));
        ada.blackboard().put(&BoardEntry::new("plan", "the survey")).await.unwrap();
        let receipt = ada.forget(&Forget::Everything).await.unwrap();
        let board = receipt.stores.iter().find(|store| store.part == "board").unwrap();
        assert!(!receipt.complete && board.remaining.is_none() && board.why.is_some(), "{receipt:?}");
        assert_eq!(ground.held("ada").await, 1);
        assert_eq!(memory.upkeep_once().await.unwrap().failures, [""; 0]);
        assert_eq!(ground.held("ada").await, 0, "indexed: {is_indexed}");
    }
}

#[tokio::test]
async fn the_note_of_an_erasure_waits_until_the_board_is_back_whoever_began_it() {
    let ground = Ground::new();
    let away = Arc::new(Faulty::at(1, When::Before).of("erase"));
    let board = Arc::new(Tapped::new(ground.board.clone(), away));
    let bench = Bench::with(Taps::default(), |builder| builder.blackboard(board)).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    // As a process that was killed leaves it: the erasure has begun, and this process has never used the board.
    ground.board.put(&scope("ada"), Epoch(0), &BlackboardEntry::new("plan", "v")).await.unwrap();
    bench.truth.bury(&scope("ada"), Epoch(0)).await.unwrap();
    assert_eq!(bench.memory.upkeep_once().await.unwrap().failures.len(), 1);
    bench.clock.advance(MINUTE);
    bench.tend().await;
    assert_eq!(ground.held("ada").await, 0);
    let status = bench.memory.status().await;
    assert!(status.indexes.iter().all(|index| index.backlog.clone().unwrap().pending == 0));
}

#[tokio::test]
async fn what_was_put_before_an_erasure_is_never_seen_after_it_also_where_the_erasure_was_cut_off() {
    let ground = Ground::new();
    let memory = ground.plain().await;
    let ada = memory.of(&scope("ada"));
    ada.blackboard().put(&BoardEntry::new("plan", "the survey")).await.unwrap();
    ground.chat.bury(&scope("ada"), Epoch(0)).await.unwrap();
    assert_eq!(ground.held("ada").await, 1);
    assert_eq!(found(&ada.blackboard(), "survey").await, [""; 0]);
    assert_eq!(ground.held("ada").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_put_that_comes_after_the_erasure_changes_nothing() {
    let (ground, gate) = (Ground::new(), Arc::new(Gate::of("epoch")));
    let late = ground.open(gate.clone(), Arc::new(Counting::default())).await.of(&scope("ada")).blackboard();
    gate.shut();
    let put = tokio::spawn(async move { late.put(&BoardEntry::new("plan", "late")).await });
    gate.reached(1).await;
    let here = ground.plain().await;
    assert!(here.of(&scope("ada")).forget(&Forget::Everything).await.unwrap().complete);
    gate.open();
    assert!(matches!(put.await.unwrap(), Err(Error::Fenced)));
    assert_eq!(here.of(&scope("ada")).blackboard().stats().await.unwrap().board.physical(), 0);
}

#[tokio::test]
async fn a_guard_stands_before_the_board_and_repeats_what_may_be_repeated() {
    let (ground, once) = (Ground::new(), Arc::new(Faulty::at(1, When::Before).of("put")));
    let board = Arc::new(Tapped::new(ground.board.clone(), once.clone()));
    let bench = Bench::with(Taps::default(), |builder| builder.blackboard(board).guard(GuardPolicy::default())).await;
    bench.owner("ada").blackboard().put(&BoardEntry::new("plan", "v")).await.unwrap();
    assert!(once.has_failed());
    assert_eq!(ground.held("ada").await, 1);
}

#[tokio::test]
async fn closing_a_memory_closes_its_board() {
    let (ground, board) = (Ground::new(), Arc::new(Counting::default()));
    let memory = ground.open(Arc::new(Counting::default()), board.clone()).await;
    memory.status().await;
    memory.close().await.unwrap();
    assert_eq!((board.calls("ping"), board.calls("close")), (1, 1));
    let said = Message::new(Role::User, "x", memory.now());
    memory.of(&scope("ada")).session(&session("talk")).append(vec![said]).await.unwrap();
    assert_eq!(board.total(), 2, "what is no board's does not ask it");
}
