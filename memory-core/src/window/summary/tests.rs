use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::id::{Seq, SeqRange};
use crate::message::Message;
use crate::model::SummaryPurpose;
use crate::time::Timestamp;

fn request(said: &[(Role, &str)], max_tokens: u64, keep: &[&str]) -> SummaryRequest {
    let row = |(role, text): &(Role, &str)| {
        let message = Message::new(*role, *text, Timestamp(0));
        StoredMessage::of_tests(1, HeuristicCounter.count(&message), message)
    };
    let keep = keep.iter().map(|text| (*text).to_owned()).collect();
    SummaryRequest {
        purpose: SummaryPurpose::Window,
        messages: said.iter().map(row).collect(),
        records: Vec::new(),
        max_tokens,
        keep,
    }
}

fn extract(request: &SummaryRequest) -> Result<String> {
    ExtractiveSummarizer::default().extract(request).map(|summary| summary.text)
}

const TRIP: [(Role, &str); 4] = [
    (Role::User, "I want to see Lisbon. It should be cheap. We are two."),
    (Role::Assistant, "Gladly! Shall I look for flights?"),
    (Role::Tool, "42 flights found.\nline 2\nthe cheapest costs 89.50 euros"),
    (Role::Assistant, "There is one for 89.50 euros."),
];

#[test]
fn s4_4_the_first_and_the_last_sentence_of_each_message_are_taken() {
    let expected = "user: I want to see Lisbon. … We are two.\nassistant: Gladly! Shall I look for flights?\n\
        tool: 42 flights found. … the cheapest costs 89.50 euros\nassistant: There is one for 89.50 euros.";
    assert_eq!(extract(&request(&TRIP, 1_000, &[])).unwrap(), expected);
}

#[test]
fn short_bounds_leave_out_tools_then_the_model_then_the_oldest_person() {
    let bounds = (20..120).rev().map(|bound| extract(&request(&TRIP, bound, &[])).unwrap());
    let mut lines: Vec<_> = bounds.map(|text| text.lines().count()).collect();
    assert!(lines.is_sorted_by(|a, b| a >= b), "{lines:?}");
    lines.dedup();
    assert_eq!(lines, [4, 3, 2, 1]);
    assert_eq!(extract(&request(&TRIP, 20, &[])).unwrap(), "user: I want to see Lisbon.");
}

#[test]
fn texts_that_must_survive_are_added_or_the_bound_is_refused() {
    let kept = extract(&request(&TRIP, 25, &["89.50", "Lisbon"])).unwrap();
    assert!(kept.contains("89.50") && kept.contains("Lisbon"), "{kept}");
    let found = extract(&request(&TRIP, 2, &["89.50", "Lisbon"]));
    assert!(matches!(found, Err(Error::OverBudget { budget: 2, .. })));
}

#[test]
fn earlier_summaries_are_taken_over_line_by_line() {
    let mut request = request(&[(Role::User, "user: one. two. three.\n\nuser: four."), TRIP[3]], 1_000, &[]);
    request.messages[0].covers = Some(SeqRange { first: Seq(1), last: Seq(9) });
    let expected = "user: one. two. three.\nuser: four.\nassistant: There is one for 89.50 euros.";
    assert_eq!(extract(&request).unwrap(), expected);
}

#[test]
fn sentences_end_where_people_end_them() {
    let found = |text| sentences(text).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(found("It costs 3.50 now. Really?  Yes"), ["It costs 3.50 now.", "Really?", "Yes"]);
    assert_eq!(found("今天很好。明天呢？\n\n好"), ["今天很好。", "明天呢？", "好"]);
    assert_eq!(found(" \n "), [""; 0]);
}

#[test]
fn messages_without_words_have_a_summary_too() {
    let mut request = request(&TRIP, 1_000, &[]);
    request.messages.iter_mut().for_each(|row| row.message = None);
    assert_eq!(extract(&request).unwrap(), "(messages without words)");
}

#[test]
fn a_summary_is_completed_with_what_it_lacks() {
    let keep = ["89.50", "Lisbon"].map(str::to_owned);
    assert_eq!(complete_summary("Lisbon for 89.50", &keep), ("Lisbon for 89.50".to_owned(), 0));
    assert_eq!(complete_summary("To Lisbon.\n", &keep), ("To Lisbon.\n89.50".to_owned(), 1));
    assert_eq!(complete_summary("A trip.", &keep), ("A trip.\n89.50; Lisbon".to_owned(), 2));
}

#[test]
fn o5_bad_summaries_are_refused() {
    let request = request(&TRIP, 30, &["89.50"]);
    let check = |text: &str| validate_summary(text, &request, &HeuristicCounter);
    assert_eq!(check("Lisbon for 89.50").unwrap(), HeuristicCounter.count_text("Lisbon for 89.50"));
    for text in ["", " \n\t", "Lisbon for 90"] {
        assert!(matches!(check(text), Err(Error::Invalid { .. })), "{text:?}");
    }
    assert!(matches!(check(&"89.50 ".repeat(30)), Err(Error::OverBudget { budget: 30, .. })));
    assert!(matches!(check(&"89.50 ".repeat(2_000_000)), Err(Error::OverBudget { budget: 30, .. })));
    let wide = SummaryRequest { max_tokens: 1_000, ..request };
    let long = validate_summary(&"89.50 ".repeat(60), &wide, &HeuristicCounter);
    assert!(matches!(long, Err(Error::Invalid { .. })));
}

proptest! {
    #[test]
    fn summaries_keep_their_bound_and_what_must_survive(
        texts in vec("[a-zA-Z0-9 .!?\n。中]{0,300}", 1..12), bound in 0..200_u64, keep in vec("[a-z0-9]{1,6}", 0..4)
    ) {
        let said: Vec<_> = [Role::User, Role::Assistant, Role::Tool].into_iter().cycle().zip(texts.iter().map(String::as_str)).collect();
        let keep: Vec<_> = keep.iter().map(String::as_str).collect();
        let request = request(&said, bound, &keep);
        match extract(&request) {
            Ok(text) => {
                prop_assert!(HeuristicCounter.count_text(&text) <= bound && !text.is_empty());
                prop_assert!(keep.iter().all(|keep| text.contains(keep)));
                prop_assert_eq!(extract(&request).unwrap(), text);
            }
            Err(error) => {
                let over = matches!(error, Error::OverBudget { need, budget } if need > budget);
                prop_assert!(over);
            }
        }
    }
}

/// Counts every text alike.
#[derive(Debug)]
struct Always(u64);

impl TokenCounter for Always {
    fn name(&self) -> &str {
        "always"
    }

    fn count(&self, _: &Message) -> u64 {
        self.0
    }

    fn count_text(&self, _: &str) -> u64 {
        self.0
    }
}

#[test]
fn a_text_too_long_for_any_counter_is_refused_without_counting() {
    let check = |bytes: usize, tokens: u64| bounded(&"a".repeat(bytes), 3, &Always(tokens));
    assert_eq!(check(3 * 256 + 255, 2).unwrap(), 2);
    assert!(matches!(check(4 * 256, 2), Err(Error::OverBudget { need: 4, budget: 3 })));
    assert!(matches!(check(1_000 * 256, 2), Err(Error::OverBudget { need: 1_000, budget: 3 })));
    assert_eq!(check(255, 3).unwrap(), 3);
    assert!(matches!(check(255, 4), Err(Error::OverBudget { need: 4, budget: 3 })));
}
