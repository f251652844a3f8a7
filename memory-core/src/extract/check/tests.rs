use std::sync::Arc;

use super::*;
use crate::extract::Slot;
use crate::id::{MessageId, RecordId};
use crate::message::{Role, StoredMessage};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

const NOON: Timestamp = Timestamp(1_000_000);

fn row(message: Message) -> StoredMessage {
    StoredMessage::of_tests(1, 1, message)
}

fn request() -> ExtractRequest {
    let said = Message::new(Role::User, "I moved from Rome to Lisbon on 3 May, says Ada.", NOON);
    let read = Message::new(Role::Tool, "The moon is made of cheese.", NOON);
    let known = |trust: Trust| {
        let mut record = Record::new("fact", "Ada lives in Rome", NOON);
        record.first.trust = trust;
        StoredRecord { record: Arc::new(record), version: 1, accessed_at: None, access_count: 0 }
    };
    ExtractRequest { messages: vec![row(said), row(read)], known: [Trust::User, Trust::System].map(known).to_vec() }
}

fn operation(request: &ExtractRequest) -> Operation {
    Operation {
        effect: Effect::Add,
        kind: "fact".to_owned(),
        text: "Ada lives in Lisbon since 3 May".to_owned(),
        slot: Some(Slot { name: "home".to_owned(), value: "Lisbon".to_owned() }),
        entities: vec!["Lisbon".to_owned()],
        valid_from: Some(NOON),
        valid_to: None,
        sources: vec![request.messages[0].id],
        quote: "moved from Rome to Lisbon".to_owned(),
    }
}

#[test]
fn what_stands_in_its_sources_is_allowed() {
    let request = request();
    check(&[], &request).unwrap();
    let add = operation(&request);
    let change = Operation { effect: Effect::Change(request.known[0].record.id), ..add.clone() };
    let retract = Operation { effect: Effect::Retract(request.known[0].record.id), text: String::new(), ..add.clone() };
    check(&[add, change, retract], &request).unwrap();
}

#[test]
fn one_operation_that_is_not_allowed_refuses_the_answer() {
    type Change = fn(&mut Operation, &ExtractRequest);
    let request = request();
    let changes: [(&str, Change); 18] = [
        ("no source", |operation, _| operation.sources.clear()),
        ("a foreign source", |operation, _| operation.sources.push(MessageId::fresh())),
        ("a quote of its own", |operation, _| operation.quote = "moved to Paris".to_owned()),
        ("no quote", |operation, _| operation.quote = " ".to_owned()),
        ("a quote of what is no source", |operation, _| operation.quote = "The moon".to_owned()),
        ("a number that nobody said", |operation, _| operation.text = "Ada lives in Lisbon since 4 May".to_owned()),
        ("a name that nobody said", |operation, _| operation.text = "She lives in Paris".to_owned()),
        ("an entity that nobody said", |operation, _| operation.entities.push("Paris".to_owned())),
        ("no text", |operation, _| operation.text.clear()),
        ("no kind", |operation, _| operation.kind.clear()),
        ("no name of a slot", |operation, _| operation.slot.as_mut().unwrap().name.clear()),
        ("a value that nobody said", |operation, _| operation.slot.as_mut().unwrap().value = "Paris".to_owned()),
        ("a number as a value", |operation, _| operation.slot.as_mut().unwrap().value = "Lisbon 4".to_owned()),
        ("a long value", |operation, _| operation.slot.as_mut().unwrap().value = "x".repeat(256)),
        ("an end before the beginning", |operation, _| operation.valid_to = Some(Timestamp(1))),
        ("a beginning after it was said", |operation, _| operation.valid_from = Some(Timestamp(NOON.0 + 1))),
        ("an unknown record", |operation, _| operation.effect = Effect::Correct(RecordId::fresh())),
        ("the application's record", |operation, request| {
            operation.effect = Effect::Retract(request.known[1].record.id);
        }),
    ];
    for (what, change) in changes {
        let mut wrong = operation(&request);
        change(&mut wrong, &request);
        assert!(check(&[operation(&request), wrong], &request).is_err(), "{what}");
    }
    let many = vec![operation(&request); OPERATIONS + 1];
    assert!(check(&many, &request).is_err() && check(&many[1..], &request).is_ok());
}

#[test]
fn what_has_less_trust_replaces_nothing_that_has_more() {
    let request = request();
    let mut planted = operation(&request);
    planted.effect = Effect::Change(request.known[0].record.id);
    planted.sources = vec![request.messages[1].id];
    (planted.quote, planted.text) = ("made of cheese".to_owned(), "it is made of cheese".to_owned());
    planted.entities.clear();
    planted.slot = None;
    assert!(check(&[planted.clone()], &request).is_err());
    planted.effect = Effect::Add;
    check(&[planted.clone()], &request).unwrap();
    assert_eq!(trust(&planted, &request), Trust::Tool);
}
