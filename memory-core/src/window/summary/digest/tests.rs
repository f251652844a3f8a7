use super::*;
use crate::id::{Seq, SeqRange};
use crate::message::{Message, StoredMessage};
use crate::model::SummaryPurpose;
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// Counts the lines of a text, or its bytes.
#[derive(Debug)]
enum Counter {
    Lines,
    Bytes,
}

impl TokenCounter for Counter {
    fn name(&self) -> &str {
        "of tests"
    }

    fn count(&self, message: &Message) -> u64 {
        self.count_text(&message.text())
    }

    fn count_text(&self, text: &str) -> u64 {
        match self {
            Self::Lines => text.lines().count() as u64,
            Self::Bytes => text.len() as u64,
        }
    }
}

fn said(role: Role, text: &str) -> StoredMessage {
    let message = Message::new(role, text, Timestamp(0));
    StoredMessage::of_tests(1, 1, message)
}

fn request(records: &[&str], messages: Vec<StoredMessage>, max_tokens: u64) -> SummaryRequest {
    let record = |text: &&str| {
        let record = Record::new("fact", *text, Timestamp(0));
        StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 }
    };
    let records = records.iter().map(record).collect();
    SummaryRequest { purpose: SummaryPurpose::Identity, messages, records, max_tokens, keep: Vec::new() }
}

fn persons(texts: &[&str]) -> Vec<StoredMessage> {
    texts.iter().map(|text| said(Role::User, text)).collect()
}

#[test]
fn records_and_messages_go_in_by_turns_and_records_stand_first() {
    let lines = |most: u64| {
        let request = request(&["best", "good", "fair"], persons(&["first", "then", "now"]), most);
        digest(&request, &Counter::Lines).unwrap()
    };
    assert_eq!(lines(1), "- best");
    assert_eq!(lines(2), "- best\n- now");
    assert_eq!(lines(3), "- best\n- good\n- now");
    assert_eq!(lines(4), "- best\n- good\n- then\n- now");
    assert_eq!(lines(5), "- best\n- good\n- fair\n- then\n- now");
    assert_eq!([lines(6), lines(60)], ["- best\n- good\n- fair\n- first\n- then\n- now"; 2]);
    let alone = digest(&request(&[], persons(&["first", "then", "now"]), 2), &Counter::Lines);
    assert_eq!(alone.unwrap(), "- then\n- now");
}

#[test]
fn what_persons_said_and_summaries_tell_and_nothing_twice() {
    let summary = StoredMessage {
        covers: Some(SeqRange { first: Seq(1), last: Seq(1) }),
        ..said(Role::Assistant, "user: I moved to Lisbon.")
    };
    let messages = vec![
        summary,
        said(Role::User, "I have two cats. They are black."),
        said(Role::Assistant, "How nice."),
        said(Role::User, "  "),
    ];
    let found = digest(&request(&["I have two cats."], messages, 60), &Counter::Lines).unwrap();
    assert_eq!(found, "- I have two cats.\n- user: I moved to Lisbon.");
}

#[test]
fn lines_are_shortened_before_all_are_refused() {
    let long = "a".repeat(150);
    let found = |most: u64| digest(&request(&[&long], Vec::new(), most), &Counter::Bytes);
    assert_eq!(found(152).unwrap(), format!("- {long}"));
    assert_eq!(found(151).unwrap(), format!("- {}…", "a".repeat(80)));
    assert!(matches!(found(84), Err(Error::OverBudget { need: 85, budget: 84 })));
    let empty = digest(&request(&[" "], persons(&["\n"]), 9), &Counter::Lines);
    assert!(matches!(empty, Err(Error::Invalid { .. })));
}
