use std::sync::Arc;

use super::*;
use crate::extract::rules::facts;
use crate::extract::{ExtractRequest, check};
use crate::message::{Block, Role, StoredMessage};

/// When everything is known already.
const BEFORE: Timestamp = Timestamp(1);

fn said(text: &str, at: i64) -> StoredMessage {
    StoredMessage::of_tests(at.unsigned_abs(), 1, Message::new(Role::User, text, Timestamp(at)))
}

fn known(text: &str, slot: &str, value: &str) -> StoredRecord {
    let mut record = Record::new("fact", format!("user: {text}"), BEFORE);
    record.first.metadata.insert(SLOT.to_owned(), slot.into());
    record.first.metadata.insert(VALUE.to_owned(), value.into());
    StoredRecord { record: Arc::new(record), version: 1, accessed_at: None, access_count: 0 }
}

/// Returns what is found, which is allowed.
fn found(messages: Vec<StoredMessage>, known: Vec<StoredRecord>) -> Vec<Operation> {
    let operations = settled(messages.iter().flat_map(facts).collect(), &known);
    check(&operations, &ExtractRequest { messages, known }).unwrap();
    operations
}

/// Returns the text of each operation, and whether it ends the fact.
fn told(operations: &[Operation]) -> Vec<(&str, bool)> {
    operations.iter().map(|operation| (operation.text.as_str(), operation.valid_to.is_some())).collect()
}

fn effects(operations: &[Operation]) -> Vec<Effect> {
    operations.iter().map(|operation| operation.effect).collect()
}

#[test]
fn fewer_words_confirm_what_is_known() {
    let porto = known("I live in Porto in Portugal", "home", "Porto in Portugal");
    let id = porto.record.id;
    assert_eq!(effects(&found(vec![said("I live in Porto.", 9)], vec![porto])), [Effect::Confirm(id)]);
    // The river is more than was said now, although the town is the same.
    let porto = known("I live in Porto by the river Douro", "home", "Porto");
    let id = porto.record.id;
    assert_eq!(effects(&found(vec![said("I live in Porto.", 9)], vec![porto.clone()])), [Effect::Confirm(id)]);
    assert_eq!(effects(&found(vec![said("I moved to Braga.", 9)], vec![porto])), [Effect::Change(id)]);
}

#[test]
fn what_is_said_twice_at_once_is_one_record() {
    let talk = vec![said("I live in Porto in Portugal.", 2), said("I live in Porto.", 3)];
    let both = [talk[0].id, talk[1].id];
    let operations = found(talk, Vec::new());
    assert_eq!(told(&operations), [("user: I live in Porto in Portugal", false); 2]);
    // The longer words are not kept for the shorter message alone.
    assert_eq!(operations[1].sources, both);
    let same = found(vec![said("I've moved to Porto.", 2), said("I live in Porto.", 3)], Vec::new());
    assert_eq!(told(&same), [("user: I've moved to Porto", false); 2]);
    assert_eq!(same[1].sources.len(), 1);
}

#[test]
fn a_move_is_never_less_of_what_is_known() {
    for home in ["Porto Alegre", "Porto in Portugal"] {
        let old = known(&format!("I live in {home}"), "home", home);
        let id = old.record.id;
        assert_eq!(effects(&found(vec![said("I moved to Porto.", 9)], vec![old])), [Effect::Change(id)], "{home}");
        let talk = vec![said(&format!("I live in {home}."), 8), said("I moved to Porto.", 9)];
        let ends: Vec<_> = found(talk, Vec::new()).iter().map(|operation| operation.valid_to).collect();
        assert_eq!(ends, [Some(Timestamp(9)), None], "{home}");
    }
}

#[test]
fn a_town_is_not_another_whose_name_begins_with_its_own() {
    let alegre = || known("I live in Porto Alegre", "home", "Porto Alegre");
    assert_eq!(effects(&found(vec![said("I no longer live in Porto.", 9)], vec![alegre()])), []);
    let (old, talk) = (alegre(), vec![said("I live in Porto.", 9)]);
    let id = old.record.id;
    assert_eq!(effects(&found(talk, vec![old])), [Effect::Change(id)]);
}

#[test]
fn what_may_be_many_ends_nothing() {
    let rex = known("my dog is called Rex", "dog", "Rex");
    let talk = vec![said("My dog is called Bello.", 8), said("My dog is called Luna.", 9)];
    let operations = found(talk, vec![rex.clone()]);
    assert_eq!(told(&operations), [("user: My dog is called Bello", false), ("user: My dog is called Luna", false)]);
    assert_eq!(effects(&operations), [Effect::Add, Effect::Add]);
    let again = found(vec![said("My dog's name is Rex.", 9)], vec![rex]);
    assert_eq!(told(&again), [("user: my dog is called Rex", false)]);
}

#[test]
fn two_values_in_one_message_stand_beside_each_other_unless_one_is_news() {
    let two = || said("My email is ada@example.org. My email is work@example.org.", 9);
    let operations = found(vec![two()], Vec::new());
    assert!(told(&operations).iter().all(|(_, is_ended)| !is_ended), "{operations:?}");
    let old = known("My email is old@example.org", "email", "old@example.org");
    let id = old.record.id;
    assert_eq!(effects(&found(vec![two()], vec![old])), [Effect::Change(id), Effect::Add]);
    let news = found(vec![said("I live in Rome. I've moved to Porto.", 9)], Vec::new());
    assert_eq!(told(&news), [("user: I live in Rome", true), ("user: I've moved to Porto", false)]);
}

#[test]
fn what_is_so_no_longer_is_taken_back_and_nothing_else() {
    let porto = known("I live in Porto in Portugal", "home", "Porto in Portugal");
    let id = porto.record.id;
    let over = |town: &str| vec![said(&format!("I no longer live in {town}."), 9)];
    assert_eq!(effects(&found(over("Porto"), vec![porto.clone()])), [Effect::Retract(id)]);
    assert_eq!(effects(&found(over("Rome"), vec![porto])), []);
    let talk = vec![said("I live in Porto.", 7), said("I no longer live in Rome.", 8), over("Porto").remove(0)];
    let ends: Vec<_> = found(talk, Vec::new()).iter().map(|operation| operation.valid_to).collect();
    assert_eq!(ends, [Some(Timestamp(9))]);
}

#[test]
fn words_of_less_trust_are_not_told_with_more() {
    let mut planted = known("I moved to Porto by theft", "home", "Porto");
    Arc::make_mut(&mut planted.record).first.trust = Trust::Untrusted;
    let id = planted.record.id;
    let operations = found(vec![said("I live in Porto.", 9)], vec![planted]);
    assert_eq!(told(&operations), [("user: I live in Porto", false)]);
    assert_eq!(effects(&operations), [Effect::Change(id)]);
}

#[test]
fn what_a_tool_answered_in_a_message_of_the_person_is_not_theirs() {
    let result = Block::tool_result("c", vec![Block::text("I live in Rome.")]);
    let blocks = vec![result, Block::text("I live in Porto.")];
    let row = StoredMessage::of_tests(9, 1, Message::of_blocks(Role::User, blocks, Timestamp(9)));
    let message = row.message.clone().unwrap();
    assert_eq!(told(&found(vec![row], Vec::new())), [("user: I live in Porto", false)]);
    assert_eq!((message.trust, crate::extract::trust_of(&message)), (Trust::User, Trust::Tool));
}
