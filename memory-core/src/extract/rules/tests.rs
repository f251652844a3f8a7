use super::*;
use crate::extract::check;
use crate::time::Timestamp;

#[test]
fn a_value_or_name_that_is_too_long_keeps_no_other_fact_back() {
    let long = "N".repeat(300);
    let text = format!("My email is ada@{long}.org. I live in {long}. I like tea.");
    let row = StoredMessage::of_tests(1, 1, Message::new(Role::User, text, Timestamp(9)));
    let operations = settled(facts(&row), &[]);
    let slots: Vec<bool> = operations.iter().map(|operation| operation.slot.is_some()).collect();
    assert_eq!(slots, [false; 3]);
    assert!(operations.iter().flat_map(|operation| &operation.entities).all(|name| name.len() <= 255));
    check(&operations, &ExtractRequest { messages: vec![row], known: Vec::new() }).unwrap();
}
