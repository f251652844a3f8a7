//! Lists of answers end at a bound of bytes, and tell where they go on.

use memory_server::Config;
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

/// Bytes of a text of which an answer holds two.
const LONG: usize = 3_000;

async fn bed() -> Bed {
    Bed::with(Config { answer_bytes: 2 * LONG, ..Config::default() }).await
}

fn long(number: usize) -> String {
    format!("{number} {}", "word ".repeat(LONG / 5))
}

/// Returns the first words of the texts of a list.
fn numbers(list: &Value) -> Vec<u64> {
    let texts = list.as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap());
    texts.map(|text| text.split(' ').next().unwrap().parse().unwrap()).collect()
}

async fn said(bed: &Bed, count: usize) -> Vec<String> {
    let messages: Vec<Value> = (1..=count).map(|number| json!({ "role": "user", "content": long(number) })).collect();
    let stored = bed.ok(Call::post("/v1/sessions/talk/messages", &json!({ "messages": messages }))).await;
    stored["stored"].as_array().unwrap().iter().map(|one| format!("m-{}", one["id"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn pages_of_long_messages_go_through_a_conversation_both_ways() {
    let bed = bed().await;
    said(&bed, 7).await;
    let page = async |edge: &str| bed.ok(Call::get(format!("/v1/sessions/talk/messages?limit=1000{edge}"))).await;
    let (mut read, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let shown = page(&format!("&after={after}")).await;
        let some = numbers(&shown["shown"]);
        assert!((1..=2).contains(&some.len()), "{some:?}");
        read.extend(some);
        after = shown["next"].clone();
    }
    assert_eq!(read, [1, 2, 3, 4, 5, 6, 7]);
    let (mut read, mut newest) = (Vec::new(), page("").await);
    assert_eq!(newest["next"], Value::Null);
    while let Some(first) = newest["shown"].as_array().unwrap().first().map(|row| row["seq"].clone()) {
        let some = numbers(&newest["shown"]);
        assert!(some.len() <= 2, "{some:?}");
        read.splice(0..0, some);
        newest = page(&format!("&before={first}")).await;
    }
    assert_eq!(read, [1, 2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn short_messages_are_read_in_parts_up_to_the_limit() {
    let bed = Bed::new().await;
    let messages: Vec<Value> =
        (1..=250).map(|number| json!({ "role": "user", "content": number.to_string() })).collect();
    bed.ok(Call::post("/v1/sessions/talk/messages", &json!({ "messages": messages }))).await;
    let page = async |edge: &str| bed.ok(Call::get(format!("/v1/sessions/talk/messages?{edge}"))).await;
    for (edge, first, last) in [
        ("limit=230", 21, 250),
        ("limit=1000", 1, 250),
        ("limit=230&after=5", 6, 235),
        ("limit=130&before=200", 70, 199),
    ] {
        let shown = page(edge).await;
        assert_eq!(numbers(&shown["shown"]), (first..=last).collect::<Vec<u64>>(), "{edge}");
        assert_eq!(shown["next"].as_u64(), (last < 250).then_some(last), "{edge}");
    }
}

#[tokio::test]
async fn pages_of_long_records_go_through_all() {
    let bed = bed().await;
    for number in 0..5 {
        bed.ok(Call::post("/v1/records", &json!({ "text": long(number) }))).await;
    }
    let (mut read, mut next) = (Vec::new(), json!(""));
    while let Some(after) = next.as_str() {
        let after = if after.is_empty() { String::new() } else { format!("&after={after}") };
        let page = bed.ok(Call::get(format!("/v1/records?limit=1000{after}"))).await;
        let some = numbers(&page["records"]);
        assert!(some.len() <= 2, "{some:?}");
        read.extend(some);
        next = page["next"].clone();
    }
    read.sort_unstable();
    assert_eq!(read, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn items_without_room_are_left_and_read_by_the_next_request() {
    let bed = bed().await;
    let keys = said(&bed, 3).await;
    let wanted: Vec<&String> = [0, 0, 0, 1, 2, 1].iter().map(|place| &keys[*place]).collect();
    let (mut read, mut left) = (Vec::new(), json!(wanted));
    while left != json!([]) {
        let answer = bed.ok(Call::post("/v1/items", &json!({ "items": left }))).await;
        let some = numbers(&answer["items"]);
        assert!((1..=2).contains(&some.len()), "{some:?}");
        read.extend(some);
        left = answer["left"].clone();
    }
    assert_eq!(read, [1, 1, 1, 2, 3, 2]);
    let many: Vec<&String> = vec![&keys[0]; 1_000];
    let answer = bed.send(Call::post("/v1/items", &json!({ "items": many })).by(&bed.ada)).await;
    assert!(answer.body.len() < 100_000, "{}", answer.body.len());
}

#[tokio::test]
async fn hits_without_room_are_counted() {
    let bed = bed().await;
    said(&bed, 5).await;
    let found = bed.ok(Call::post("/v1/search", &json!({ "query": "word", "limit": 1_000 }))).await;
    let shown = found["hits"].as_array().unwrap().len();
    assert!((1..=2).contains(&shown), "{shown}");
    assert_eq!(found["left_out"], 5 - shown);
}

#[tokio::test]
async fn the_budget_of_a_context_is_bounded_by_what_an_answer_may_have() {
    for (answer_bytes, most) in [(16 << 20, 4_194_304_u64), (40_000, 10_000), (1, 3_000), (usize::MAX, 1_000_000_000)] {
        let bed = Bed::with(Config { answer_bytes, ..Config::default() }).await;
        said(&bed, 1).await;
        let ask = |member: &str, tokens: u64| {
            let mut ask = json!({ "query": "word", "budget": 3_000 });
            ask[member] = json!(tokens);
            Call::post("/v1/sessions/talk/context", &ask)
        };
        assert_eq!(bed.ok(ask("budget", most)).await["receipt"]["complete"], true, "{most}");
        for member in ["budget", "reserve"] {
            assert_eq!(bed.status(ask(member, most + 1)).await, 400, "{member} {most}");
        }
        let document = bed.ok(Call::get("/v1/openapi.json")).await;
        let tokens = &document["components"]["schemas"]["Ask"]["properties"];
        assert_eq!((&tokens["budget"]["maximum"], &tokens["reserve"]["maximum"]), (&json!(most), &json!(most)));
    }
}
