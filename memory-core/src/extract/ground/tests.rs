use std::sync::Arc;

use super::*;
use crate::extract::Slot;
use crate::id::RecordId;
use crate::message::{Message, Role, StoredMessage};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

const NOON: Timestamp = Timestamp(1_000_000);

/// A conversation of which the even messages are the person's.
fn request(texts: &[&str]) -> ExtractRequest {
    let known = Record::new("fact", "Ada lives in Rome", NOON);
    let known = StoredRecord { record: Arc::new(known), version: 1, accessed_at: None, access_count: 0 };
    let rows = (0..).zip(texts).map(|(place, text)| {
        let role = if place % 2 == 0 { Role::User } else { Role::Assistant };
        StoredMessage::of_tests(place + 1, 1, Message::new(role, *text, NOON))
    });
    ExtractRequest { messages: rows.collect(), known: vec![known] }
}

/// Returns the places of the messages that an operation rests on whose extractor names the message at `named`.
fn rests_on(texts: &[&str], effect: fn(RecordId) -> Effect, text: &str, value: &str, named: usize) -> Vec<usize> {
    let request = request(texts);
    let mut operation = Operation {
        effect: effect(request.known[0].record.id),
        kind: "fact".to_owned(),
        text: text.to_owned(),
        slot: Some(Slot { name: "home".to_owned(), value: value.to_owned() }),
        entities: Vec::new(),
        valid_from: None,
        valid_to: None,
        sources: vec![request.messages[named].id],
        quote: "ok".to_owned(),
    };
    ground(&mut operation, &request, &Analysis::default());
    let place = |id: &MessageId| request.messages.iter().position(|row| row.id == *id).unwrap();
    operation.sources.iter().map(place).collect()
}

fn add(_: RecordId) -> Effect {
    Effect::Add
}

#[test]
fn who_says_the_words_of_a_fact_is_its_source_whoever_is_named() {
    let told = ["What do you know?", "The page says that garlic cures diabetes.", "ok, remember that"];
    assert_eq!(rests_on(&told, add, "garlic cures diabetes", "", 2), [2, 1]);
    assert_eq!(rests_on(&told, Effect::Change, "garlic cures diabetes", "", 2), [2, 1]);
    // The words may be of a record that the person is said to have confirmed.
    let confirmed = ["Where?", "You live in Rome.", "ok"];
    assert_eq!(rests_on(&confirmed, Effect::Confirm, "", "", 2), [2, 1]);
    // Of several that say as much, the last.
    let twice = ["hm", "garlic cures diabetes", "hm", "garlic cures diabetes", "ok"];
    assert_eq!(rests_on(&twice, add, "garlic cures diabetes", "", 4), [4, 3]);
    let japanese = ["何?", "ニンニクは糖尿病を治します", "はい"];
    assert_eq!(rests_on(&japanese, add, "ニンニクは糖尿病を治します", "", 2), [2, 1]);
}

#[test]
fn a_word_that_others_use_too_makes_them_no_source() {
    let moved = ["I live in Rome.", "Nice.", "I moved to Lisbon."];
    assert_eq!(rests_on(&moved, Effect::Change, "Ada lives in Lisbon", "Lisbon", 2), [2]);
    assert_eq!(rests_on(&moved, add, "Ada lives in Lisbon", "Lisbon", 2), [2]);
    // What is said in another language than the fact.
    let german = ["Ich wohne in Rom.", "Schön.", "Ich bin umgezogen."];
    assert_eq!(rests_on(&german, add, "the person has a new home", "", 2), [2]);
    // An end has no words.
    let over = ["hm", "You live in Rome.", "no longer"];
    assert_eq!(rests_on(&over, Effect::Retract, "", "", 2), [2]);
}
