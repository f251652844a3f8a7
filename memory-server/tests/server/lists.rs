//! Lists of answers end at a bound of bytes, and tell where they go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory::analysis::Analysis;
use memory::rank::Ranking;
use memory::store::reference::{MemChat, MemRecords, MemText};
use memory::store::{Stores, Truth};
use memory::{BufferConfig, MemoryBuilder, Remember, Scope};
use memory_server::{Agents, Config};
use memory_testkit::doubles::{Counting, Tap, Tapped};
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
async fn pages_of_a_history_of_long_records_go_through_all_also_behind_one_that_was_forgotten() {
    let bed = bed().await;
    let told = |number: usize| json!({ "text": long(number) });
    let id = |answer: &Value| answer["id"].as_str().unwrap().to_owned();
    let mut current = id(&bed.ok(Call::post("/v1/records", &told(0))).await);
    for number in 1..5 {
        let path = format!("/v1/records/{current}/supersede");
        current = id(&bed.ok(Call::post(path, &told(number))).await);
    }
    let page = |after: &str| Call::get(format!("/v1/records/{current}/history{after}"));
    for forgets in [false, true] {
        let (mut read, mut after) = (Vec::new(), String::new());
        loop {
            let shown = bed.ok(page(&after)).await;
            let some = numbers(&shown["records"]);
            assert!((1..=2).contains(&some.len()), "{some:?}");
            read.extend(some);
            let Some(next) = shown["next"].as_str() else { break };
            after = format!("?after={next}");
            if forgets {
                let last = shown["records"].as_array().unwrap().last().unwrap();
                bed.ok(Call::post("/v1/forget", &json!({ "ids": [last["id"]] }))).await;
            }
        }
        assert_eq!(read, [0, 1, 2, 3, 4], "{forgets}");
    }
    for wrong in ["?after=x", "?after=1.x", "?after=0190b0a0-0000-7000-8000-000000000000", "?limit=1"] {
        assert_eq!(bed.status(page(wrong)).await, 400, "{wrong}");
    }
}

/// The most rows that a call of a store was answered with.
#[derive(Debug, Default)]
struct Most(AtomicUsize);

impl Tap for Most {
    fn enter(&self, _: &'static str) -> memory::Result<()> {
        Ok(())
    }

    fn leave(&self, _: &'static str, rows: usize) -> memory::Result<()> {
        self.0.fetch_max(rows, Ordering::SeqCst);
        Ok(())
    }
}

/// Returns a bed over stores whose calls are watched.
async fn watched(most: &Arc<Most>, config: Config) -> Bed {
    let chat = Tapped::new(Arc::new(MemChat::default()), most.clone());
    let records = Tapped::new(Arc::new(MemRecords::default()), most.clone());
    let stores = Stores {
        chat: Some(Truth::chat(Arc::new(chat))),
        records: Some(Truth::records(Arc::new(records))),
        ..Stores::default()
    };
    Bed::over(MemoryBuilder::over(stores).build().await.unwrap(), config)
}

#[tokio::test]
async fn of_a_session_of_long_messages_no_more_is_read_than_may_fit() {
    let most = Arc::new(Most::default());
    let agents = Agents { max_tokens: Some(200), ..Agents::default() };
    let bed = watched(&most, Config { agents, ..Config::default() }).await;
    let message = json!({ "role": "user", "content": "word ".repeat(5_000) });
    bed.ok(Call::post("/v1/sessions/talk/messages", &json!({ "messages": vec![message; 10] }))).await;
    most.0.store(0, Ordering::SeqCst);
    let read = bed.rpc(&bed.ada, "resources/read", &json!({ "uri": "memory://session/talk" })).await;
    assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    let rows = most.0.load(Ordering::SeqCst);
    assert!((1..=4).contains(&rows), "{rows}");
}

#[tokio::test]
async fn a_page_of_many_records_is_read_in_small_parts() {
    let most = Arc::new(Most::default());
    let bed = watched(&most, Config::default()).await;
    for number in 0..100 {
        bed.ok(Call::post("/v1/records", &json!({ "text": format!("number {number}") }))).await;
    }
    most.0.store(0, Ordering::SeqCst);
    for limit in [100, 1_000] {
        let page = bed.ok(Call::get(format!("/v1/records?limit={limit}"))).await;
        assert_eq!(page["records"].as_array().unwrap().len(), 100);
    }
    assert_eq!(most.0.load(Ordering::SeqCst), 32, "each record may have megabytes");
}

#[tokio::test]
async fn a_history_is_read_in_small_parts_until_the_answer_is_full() {
    let most = Arc::new(Most::default());
    let bed = watched(&most, Config { answer_bytes: 20_000, ..Config::default() }).await;
    let ada = bed.memory.of(&Scope::new("acme", "ada").unwrap());
    let mut id = ada.remember(Remember::fact("number 0")).await.unwrap().id;
    for number in 1..100 {
        id = ada.supersede(id, Remember::fact(format!("number {number}"))).await.unwrap().id;
    }
    most.0.store(0, Ordering::SeqCst);
    let (mut texts, mut after) = (Vec::new(), String::new());
    while texts.len() < 100 {
        let page = bed.ok(Call::get(format!("/v1/records/{id}/history{after}"))).await;
        texts.extend(page["records"].as_array().unwrap().iter().map(|record| record["text"].clone()));
        after = format!("?after={}", page["next"].as_str().unwrap_or_default());
        assert_eq!(page["next"].is_null(), texts.len() == 100);
    }
    assert_eq!(texts, (0..100).map(|number| json!(format!("number {number}"))).collect::<Vec<_>>());
    assert_eq!(most.0.load(Ordering::SeqCst), 32, "each record may have megabytes");
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
async fn of_long_hits_no_more_are_read_than_a_hundred() {
    let bed = bed().await;
    said(&bed, 120).await;
    bed.memory.upkeep_once().await.unwrap();
    for query in ["word", ""] {
        let found = bed.ok(Call::post("/v1/search", &json!({ "query": query, "limit": 1_000 }))).await;
        let shown = found["hits"].as_array().unwrap().len();
        assert!((1..=2).contains(&shown), "{query}: {shown}");
        assert_eq!(found["left_out"], 100 - shown, "{query}: of 120");
    }
}

#[tokio::test]
async fn short_hits_are_all_found_up_to_the_limit() {
    let bed = Bed::with(Config { answer_bytes: 400_000, ..Config::default() }).await;
    let messages: Vec<Value> =
        (0..250).map(|number| json!({ "role": "user", "content": format!("word {number}") })).collect();
    bed.ok(Call::post("/v1/sessions/talk/messages", &json!({ "messages": messages }))).await;
    bed.memory.upkeep_once().await.unwrap();
    for (limit, count) in [(10, 10), (32, 32), (33, 33), (100, 100), (101, 101), (249, 249), (1_000, 250)] {
        for query in ["word", ""] {
            let found = bed.ok(Call::post("/v1/search", &json!({ "query": query, "limit": limit }))).await;
            assert_eq!(found["hits"].as_array().unwrap().len(), count, "{query}: {limit}");
            assert_eq!(found["left_out"], 0, "{query}: {limit}");
        }
    }
}

/// Returns a bed over stores in this process, whose index of words counts its calls, and 150 records with the same word: the first 60 are
/// found first, and have a tag.
async fn indexed(calls: &Arc<Counting>, ranking: Ranking) -> (Bed, Vec<String>) {
    let text = Tapped::new(Arc::new(MemText::new(Analysis::english().name())), calls.clone());
    let stores = Stores {
        chat: Some(Truth::chat(Arc::new(MemChat::default()))),
        records: Some(Truth::records(Arc::new(MemRecords::default()))),
        text: Some(Arc::new(text)),
        ..Stores::default()
    };
    let buffer = BufferConfig::default().with_ranking(ranking);
    let bed = Bed::over(MemoryBuilder::over(stores).buffer(buffer).build().await.unwrap(), Config::default());
    let mut ids = Vec::new();
    for number in 0..150 {
        let (words, tags) = if number < 60 { ("zebra zebra zebra", vec!["first"]) } else { ("zebra", Vec::new()) };
        let told = json!({ "text": format!("{words} {number}"), "tags": tags });
        ids.push(bed.ok(Call::post("/v1/records", &told)).await["id"].as_str().unwrap().to_owned());
    }
    bed.memory.upkeep_once().await.unwrap();
    (bed, ids)
}

/// Returns how many hits there are, and how many had no room.
async fn zebras(bed: &Bed, filter: &str, limit: usize) -> (usize, Option<u64>) {
    let ask = json!({ "query": "zebra", "kind": "record", "filter": filter, "limit": limit });
    let found = bed.ok(Call::post("/v1/search", &ask)).await;
    (found["hits"].as_array().unwrap().len(), found["left_out"].as_u64())
}

#[tokio::test]
async fn a_search_is_made_again_only_for_hits_behind_the_first_hundred() {
    let calls = Arc::new(Counting::default());
    let (bed, _) = indexed(&calls, Ranking::default()).await;
    for (filter, limit, hits, searches) in [
        ("kind = fact", 33, 33, 1),
        ("kind = fact", 100, 100, 1),
        ("kind = fact", 1_000, 150, 2),
        ("tag = first", 1_000, 60, 1),
    ] {
        calls.reset();
        assert_eq!(zebras(&bed, filter, limit).await, (hits, Some(0)), "{filter}: {limit}");
        assert_eq!(calls.calls("search"), searches, "{filter}: {limit}");
    }
}

#[tokio::test]
async fn hits_behind_candidates_that_are_gone_are_found() {
    // It takes no more candidates than hits are asked for.
    let (bed, ids) = indexed(&Arc::default(), Ranking::kari()).await;
    let ada = bed.memory.of(&Scope::new("acme", "ada").unwrap());
    for id in &ids[..60] {
        // The index is not told.
        assert!(ada.retire(id.parse().unwrap()).await.unwrap());
    }
    assert_eq!(zebras(&bed, "kind = fact", 1_000).await, (90, Some(0)));
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
