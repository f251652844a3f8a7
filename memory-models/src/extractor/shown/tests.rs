use std::sync::Arc;

use memory_core::{CounterId, Seq, SeqRange, SessionId};

use super::*;

fn row(message: Message) -> StoredMessage {
    StoredMessage {
        id: message.id,
        session: SessionId::new("s").unwrap(),
        seq: Seq(1),
        tokens: 50,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message: Some(Arc::new(message)),
    }
}

fn said(role: Role, text: &str) -> Message {
    Message::new(role, text, Timestamp(0))
}

fn stored(record: Record) -> StoredRecord {
    StoredRecord { record: Arc::new(record), version: 1, accessed_at: None, access_count: 0 }
}

fn tasks(request: &ExtractRequest, tokens: u64) -> Vec<String> {
    Shown::all(request, tokens).iter().map(Shown::task).collect()
}

#[test]
fn long_messages_are_cut_and_short_ones_are_not() {
    let long = || row(said(Role::User, &"one two three four ".repeat(2_000)));
    let messages = vec![long(), row(said(Role::User, "I live in Lisbon.")), long()];
    let known = (0..500).map(|n| stored(Record::new("fact", format!("Ada knows dish {n}"), Timestamp(0)))).collect();
    let tasks = tasks(&ExtractRequest { messages, known }, 1_000);
    assert_eq!(tasks.len(), 1);
    assert!(tasks[0].contains(">I live in Lisbon.</message>") && tasks[0].contains("Ada knows dish 0<"));
    let tokens = HeuristicCounter.count_text(&tasks[0]);
    assert!((600..=1_100).contains(&tokens), "{tokens}");
}

#[test]
fn what_is_trusted_less_is_shown_apart_and_results_of_tools_not_at_all() {
    let mut foreign = said(Role::User, "imported");
    foreign.trust = Trust::Untrusted;
    let mut beside = said(Role::User, "beside a result");
    beside.blocks.push(Block::tool_result("call", vec![Block::text("a result")]));
    let mut summary = row(said(Role::Assistant, "a summary"));
    summary.covers = Some(SeqRange { first: Seq(1), last: Seq(1) });
    let rows = [
        said(Role::System, "an instruction"),
        said(Role::User, "own"),
        said(Role::Tool, "another result"),
        said(Role::Assistant, "answered"),
        foreign,
        beside,
    ];
    let messages = rows.into_iter().map(row).chain([summary]).collect();
    let tasks = tasks(&ExtractRequest { messages, known: Vec::new() }, 8_000);
    let [own, apart] = tasks.as_slice() else { panic!("{tasks:?}") };
    assert!(own.contains(">own<") && own.contains(">answered<") && !own.contains("imported"), "{own}");
    assert!(apart.contains(">imported<") && apart.contains(">beside a result<") && !apart.contains("own"), "{apart}");
    for hidden in ["an instruction", "a result<", "another result", "a summary"] {
        assert!(!own.contains(hidden), "{hidden}: {own}");
    }
    assert!(!apart.contains("\na result") && !apart.contains(">a result"), "{apart}");
}

#[test]
fn nobody_is_asked_where_no_person_speaks() {
    let rows = [said(Role::Assistant, "Hello."), said(Role::Tool, "I live in Rome."), said(Role::User, " ")];
    let messages = rows.into_iter().map(row).collect();
    assert!(tasks(&ExtractRequest { messages, known: Vec::new() }, 8_000).is_empty());
}

#[test]
fn only_records_that_may_be_replaced_have_numbers_and_those_of_less_trust_are_not_shown() {
    let fact = |text: &str, at| Record::new("fact", text, Timestamp(at));
    let (mut pinned, mut foreign, mut system) = (fact("pinned", 0), fact("foreign", 0), fact("system", 0));
    pinned.first.pinned = true;
    foreign.first.trust = Trust::Untrusted;
    system.first.trust = Trust::System;
    let mut home = fact("Ada <3 Rome", 0);
    home.first.metadata.insert(SLOT.to_owned(), Value::from("home"));
    let known = [pinned, foreign, system, fact("later", 5), home].into_iter().map(stored).collect();
    let request = ExtractRequest { messages: vec![row(said(Role::User, "I like tea."))], known };
    let expected = "<known>\n<record number=\"1\" slot=\"home\">Ada &lt;3 Rome</record>\n<record>pinned</record>\n\
        <record>system</record>\n<record>later</record>\n</known>\n<conversation>\n\
        <message number=\"1\" from=\"user\" at=\"1970-01-01T00:00:00Z\">I like tea.</message>\n</conversation>\n\
        Answer with the JSON list alone.";
    assert_eq!(tasks(&request, 8_000), [expected]);
    let shown = Shown::all(&request, 8_000).remove(0);
    assert!(shown.candidate(1).is_some() && shown.line(1).is_some());
    for number in [0, 2, usize::MAX] {
        assert!(shown.candidate(number).is_none() && shown.line(number).is_none(), "{number}");
    }
}

#[test]
fn a_record_that_is_trusted_more_than_all_that_is_said_has_no_number() {
    let (mut page, mut read) = (said(Role::User, "imported"), Record::new("fact", "Ada was read of", Timestamp(0)));
    (page.trust, read.first.trust) = (Trust::Untrusted, Trust::Untrusted);
    let known = vec![stored(Record::new("fact", "Ada lives in Rome", Timestamp(0))), stored(read)];
    let request = ExtractRequest { messages: vec![row(said(Role::User, "I like tea.")), row(page)], known };
    let tasks = tasks(&request, 8_000);
    let [own, apart] = tasks.as_slice() else { panic!("{tasks:?}") };
    assert!(own.contains("<record number=\"1\">Ada lives in Rome</record>"), "{own}");
    let expected = "<record number=\"1\">Ada was read of</record>\n<record>Ada lives in Rome</record>\n";
    assert!(apart.contains(expected), "{apart}");
}
