//! The frozen fixture through the engine, by words alone.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Context, ContextRequest, PartKind, Reason, Search, Session};
use memory_core::reference::MemChat;
use memory_core::store::upkeep::IndexName;
use memory_core::{ItemId, Result, SessionId, Truth};
use memory_testkit::Chat;
use memory_testkit::fixture::{Fixture, Ranks, Table, memory, tend};

fn chat() -> Chat {
    Truth::chat(Arc::new(MemChat::default()))
}

async fn run(fixture: &Fixture) -> Result<Ranks> {
    let memory = memory(chat()).await?;
    let owner = fixture.append(&memory).await?;
    fixture.ask(&owner).await
}

#[tokio::test]
async fn o15_reaches_the_frozen_figures_beside_fifty_other_owners() {
    let fixture = Fixture::load().unwrap();
    let table = Table::of(&run(&fixture).await.unwrap(), &fixture).unwrap();
    let differences = table.differences(&Table::frozen().unwrap());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn two_runs_give_the_same_bytes() {
    let fixture = Fixture::load().unwrap();
    let (first, second) = (run(&fixture).await.unwrap(), run(&fixture).await.unwrap());
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

#[tokio::test]
async fn every_question_is_answered_the_same_after_a_rebuild() {
    let fixture = Fixture::load().unwrap();
    let chat = chat();
    let before = memory(chat.clone()).await.unwrap();
    let owner = fixture.append(&before).await.unwrap();
    let answers = fixture.ask(&owner).await.unwrap();
    let index = IndexName::new(&format!("text/{}", Analysis::english().name())).unwrap();
    chat.upkeep().retire(&index).await.unwrap();
    let after = memory(chat).await.unwrap();
    let rebuilt = after.of(owner.scope());
    assert!(fixture.ask(&rebuilt).await.unwrap().is_silent(), "the new index is empty");
    tend(&after).await.unwrap();
    assert_eq!(fixture.ask(&rebuilt).await.unwrap(), answers);
}

/// The context of a new conversation: all that it recalls is from others.
async fn context(session: &Session, turn: &str) -> Context {
    session.assemble(&ContextRequest::new(turn, 40_000)).await.unwrap()
}

#[tokio::test]
async fn small_talk_recalls_nothing_and_no_question_loses_evidence_by_it() {
    let fixture = Fixture::load().unwrap();
    let memory = memory(chat()).await.unwrap();
    let owner = fixture.append(&memory).await.unwrap();
    let session = owner.session(&SessionId::new("new").unwrap());
    let mut recalled = Vec::new();
    for line in Fixture::small_talk().unwrap() {
        if context(&session, &line).await.receipt.tokens.recalled > 0 {
            recalled.push(line);
        }
    }
    assert!(recalled.len() <= 2, "{recalled:?}");
    for question in &fixture.questions {
        let evidence: Vec<ItemId> = fixture.evidence(question).unwrap().into_iter().map(ItemId::Message).collect();
        let found = owner.search(&Search::new(&question.question).limit(5)).await.unwrap();
        let receipt = context(&session, &question.question).await.receipt;
        for hit in found.hits.iter().filter(|hit| evidence.contains(&hit.item)) {
            let is_in = receipt.included.iter().any(|part| part.part == PartKind::Recalled && part.item == hit.item);
            let has_no_room =
                |left: &memory_core::engine::LeftOut| left.item == hit.item && left.reason == Reason::NoRoom;
            assert!(
                is_in || receipt.search.left_out.iter().any(has_no_room),
                "{}: {:?}",
                question.id,
                receipt.search.relevance
            );
        }
    }
}
