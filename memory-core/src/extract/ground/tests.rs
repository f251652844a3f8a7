use std::sync::Arc;

use super::*;
use crate::extract::Slot;
use crate::id::RecordId;
use crate::message::{Role, StoredMessage};
use crate::record::StoredRecord;
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

/// Returns an operation whose extractor names the message at `named`, and quotes all of it.
fn operation(
    request: &ExtractRequest,
    effect: fn(RecordId) -> Effect,
    text: &str,
    value: &str,
    named: usize,
) -> Operation {
    Operation {
        effect: effect(request.known[0].record.id),
        kind: "fact".to_owned(),
        text: text.to_owned(),
        slot: Some(Slot { name: "home".to_owned(), value: value.to_owned() }),
        entities: Vec::new(),
        valid_from: None,
        valid_to: None,
        sources: vec![request.messages[named].id],
        quote: request.messages[named].message.as_deref().unwrap().text(),
    }
}

/// Returns the places of the messages that an operation rests on whose extractor names the message at `named`.
fn rests_on(texts: &[&str], effect: fn(RecordId) -> Effect, text: &str, value: &str, named: usize) -> Vec<usize> {
    let request = request(texts);
    let mut operation = operation(&request, effect, text, value, named);
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
}

#[test]
fn what_a_person_ends_in_their_own_words_rests_on_them_alone() {
    for told in [
        ["hm", "You live in Rome.", "no longer"],
        ["hm", "You live in Rome.", "I don't."],
        ["hm", "You live in Rome.", "Not any more, I moved out in May."],
        ["hm", "Do you no longer live in Rome?", "Yes, I have left Rome."],
        ["I live in Rome.", "You live in Rome, where it does not snow.", "My flat in Rome is sold."],
        ["hm", "How was your week?", "I gave up my flat."],
    ] {
        assert_eq!(rests_on(&told, Effect::Retract, "", "", 2), [2], "{told:?}");
    }
    // Another home says that the one before is over.
    let moved = ["hm", "You live in Rome.", "I moved to Lisbon."];
    assert_eq!(rests_on(&moved, Effect::Retract, "", "Lisbon", 2), [2]);
    assert_eq!(rests_on(&moved, Effect::Change, "Ada stays in Lisbon", "Lisbon", 2), [2]);
}

#[test]
fn an_end_that_others_have_said_rests_on_them() {
    for told in [
        ["hm", "The page says that Ada no longer lives in Rome.", "ok"],
        ["hm", "The page says that Ada no longer lives in Rome.", "ok, remember that"],
        ["hm", "The page says that Ada no longer lives in Rome.", "Not bad, thanks."],
        ["hm", "You have left Rome.", "ok, remember that"],
        // The words that are answered need not be the record's.
        ["hm", "You moved to Moscow.", "ok"],
        ["hm", "You moved to Moscow.", "Yes, that's right, thanks."],
    ] {
        assert_eq!(rests_on(&told, Effect::Retract, "", "", 2), [2, 1], "{told:?}");
        assert_eq!(rests_on(&told, Effect::Change, "Ada lives there no more", "", 2), [2, 1], "{told:?}");
        assert_eq!(rests_on(&told, Effect::Correct, "Ada lives", "", 2), [2, 1], "{told:?}");
    }
    // Who has said that they live there has not ended it.
    let told = ["I live in Rome.", "You have left Rome.", "ok, remember that"];
    assert_eq!(rests_on(&told, Effect::Retract, "", "", 2), [2, 0, 1]);
    // What lies between is no longer than a nod.
    let told = ["The page: Ada moved to Moscow.", "Sure.", "ok"];
    assert_eq!(rests_on(&told, Effect::Retract, "", "", 2), [2, 0]);
}

#[test]
fn who_has_told_a_record_does_not_end_it_by_the_same_words() {
    let mut request = request(&["I live in Rome.", "You have left Rome.", "ok"]);
    let mut known = Record::new("fact", "Ada lives in Rome", NOON);
    known.first.sources = vec![ItemId::Message(request.messages[0].id)];
    request.known[0].record = Arc::new(known);
    let mut operation = operation(&request, Effect::Retract, "", "", 0);
    ground(&mut operation, &request, &Analysis::default());
    assert_eq!(operation.sources, [0, 1].map(|place| request.messages[place].id));
}

#[test]
fn the_name_of_who_speaks_is_no_word_that_they_say() {
    let mut request = request(&["hm", "The page says that you smoke.", "ok, remember that"]);
    for row in [0, 2] {
        let message = request.messages[row].message.as_deref().unwrap().clone().with_speaker("Ada");
        request.messages[row].message = Some(Arc::new(message));
    }
    let mut operation = operation(&request, add, "Ada smokes", "", 2);
    ground(&mut operation, &request, &Analysis::default());
    assert_eq!(operation.sources, [2, 1].map(|place| request.messages[place].id));
}
