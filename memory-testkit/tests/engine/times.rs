//! Questions about a time, and those that only look like one.

use memory_core::engine::{ContextRequest, Hit, PartKind, Search, SearchResults};
use memory_core::{Message, Role};

use crate::bench::{Bench, day, session};

/// Says the same on three days, each in a session of its own, and asks on 1 March 2025.
async fn ask(search: Search) -> SearchResults {
    let bench = Bench::new().await;
    let owner = bench.owner("ada");
    for at in ["2025-02-15", "2025-02-22", "2024-11-08"] {
        let message = Message::new(Role::User, "I went to a concert.", day(at));
        owner.session(&session(at)).append(vec![message]).await.unwrap();
    }
    bench.tend().await;
    owner.search(&search).await.unwrap()
}

/// Returns the days on which the hits were said, the best first.
fn days(found: &SearchResults) -> Vec<String> {
    let at = |hit: &Hit| hit.content.fields().unwrap().at.to_string();
    found.hits.iter().map(|hit| at(hit).split_once('T').unwrap().0.to_owned()).collect()
}

#[tokio::test]
async fn what_was_said_at_the_time_that_is_asked_for_comes_first() {
    for (question, best) in [
        ("Which concert was it two weeks ago?", "2025-02-15"),
        ("Which concert did I go to last Saturday?", "2025-02-22"),
        ("Which concert did I go to in November?", "2024-11-08"),
    ] {
        let found = ask(Search::new(question)).await;
        assert_eq!(days(&found)[0], best, "{question}");
        assert_eq!(found.hits.len(), 3);
        assert_eq!(found.receipt.times.len(), 1);
    }
}

#[tokio::test]
async fn times_are_counted_from_when_the_question_is_asked() {
    let question = Search::new("Which concert was it yesterday?");
    let found = ask(question.clone().asked_at(day("2024-11-09"))).await;
    assert_eq!(days(&found)[0], "2024-11-08");
    assert_eq!(found.receipt.times, ["2024-11-07 to 2024-11-09"]);
    assert_eq!(ask(question.as_of(day("2025-02-16"))).await.receipt.times, ["2025-02-14 to 2025-02-16"]);
}

#[tokio::test]
async fn a_question_about_no_time_weighs_all_times_the_same() {
    for question in
        ["Which concert did I go to?", "Which concert was it recently?", "How many days ago was the concert?"]
    {
        let found = ask(Search::new(question)).await;
        assert_eq!(found.receipt.times, [""; 0]);
        let text: Vec<_> = found.hits.iter().map(|hit| hit.signals.text).collect();
        assert!(text.iter().all(|score| *score == text[0]), "{question}: {text:?}");
    }
}

#[tokio::test]
async fn a_question_about_nothing_but_a_time_finds_and_recalls_what_was_said_then() {
    let bench = Bench::new().await;
    let owner = bench.owner("ada");
    let deeds = ["painted the fence", "baked rye bread", "mended the bicycle", "sorted old letters", "planted leeks"];
    for number in 1..=28 {
        let at = format!("2025-02-{number:02}");
        let text = format!("I {} again, for the {number}. time.", deeds[number % deeds.len()]);
        owner.session(&session(&at)).append(vec![Message::new(Role::User, text, day(&at))]).await.unwrap();
    }
    bench.tend().await;
    for (question, first) in [
        ("What did I do last Tuesday?", "2025-02-25"),
        ("What happened two weeks ago?", "2025-02-15"),
        ("What did I say yesterday?", "2025-02-28"),
        ("what did we talk about eight days ago?", "2025-02-21"),
    ] {
        let found = owner.search(&Search::new(question)).await.unwrap();
        assert_eq!(days(&found)[0], first, "{question}: {:?}", days(&found));
        let context = owner.session(&session("new")).assemble(&ContextRequest::new(question, 2_000)).await.unwrap();
        let recalled = context.receipt.included.iter().find(|included| included.part == PartKind::Recalled);
        assert_eq!(recalled.map(|included| &included.item), Some(&found.hits[0].item), "{question}");
        // What was said then comes first, and a search returns as many as are asked for.
        assert_eq!(found.hits.len(), 10, "{question}");
    }
}
