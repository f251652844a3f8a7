//! Conversations over HTTP: appended, read by pages, asked for a context, forgotten.

use memory::{Scope, Seq, SessionId};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

const TALK: &str = "/v1/sessions/talk/messages";

fn said(texts: &[&str]) -> Value {
    let messages: Vec<Value> = texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    json!({ "messages": messages })
}

fn outcomes(answer: &Value) -> Vec<&str> {
    answer["stored"].as_array().unwrap().iter().map(|stored| stored["outcome"].as_str().unwrap()).collect()
}

fn texts(answer: &Value) -> Vec<&str> {
    answer["shown"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_append_is_repeatable_by_a_key_or_by_ids_and_another_content_is_refused() {
    let bed = Bed::new().await;
    let append = |texts: &[&str]| Call::post(TALK, &said(texts)).header("idempotency-key", "first");
    assert_eq!(outcomes(&bed.ok(append(&["one", "two"])).await), ["added", "added"]);
    let repeated = bed.ok(append(&["one", "two"])).await;
    assert_eq!(outcomes(&repeated), ["already", "already"]);
    assert_eq!(bed.status(append(&["one", "three"])).await, 409);
    // The same key means something else in another session.
    let other = Call::post("/v1/sessions/other/messages", &said(&["one"])).header("idempotency-key", "first");
    assert_eq!(outcomes(&bed.ok(other).await), ["added"]);
    let id = "0190b0a0-0000-7000-8000-00000000000a";
    let with_id =
        |text: &str| Call::post(TALK, &json!({ "messages": [{ "role": "user", "content": text, "id": id }] }));
    assert_eq!(outcomes(&bed.ok(with_id("three")).await), ["added"]);
    assert_eq!(outcomes(&bed.ok(with_id("three")).await), ["already"]);
    assert_eq!(bed.status(with_id("four")).await, 409);
    assert_eq!(texts(&bed.ok(Call::get(TALK)).await), ["one", "two", "three"]);
    assert_eq!(bed.status(append(&["x"]).header("idempotency-key", "")).await, 409);
}

#[tokio::test]
async fn repeats_that_come_at_once_store_once() {
    let bed = Bed::new().await;
    let repeats =
        (0..16).map(|_| bed.send(Call::post(TALK, &said(&["one", "two"])).header("idempotency-key", "k").by(&bed.ada)));
    for answer in futures_util::future::join_all(repeats).await {
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(texts(&bed.ok(Call::get(TALK)).await), ["one", "two"]);
}

#[tokio::test]
async fn members_of_messages_that_nobody_knows_are_kept() {
    let bed = Bed::new().await;
    let message = json!({ "role": "assistant", "content": [{ "type": "text", "text": "Hm.", "mood": "fair" }],
        "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }],
        "id": "msg_of_another", "weather": [1, 2.5, null] });
    bed.ok(Call::post(TALK, &json!({ "messages": [message] }))).await;
    assert_eq!(bed.ok(Call::get(TALK)).await["shown"][0]["message"], message);
}

#[tokio::test]
async fn pages_go_through_a_conversation_both_ways() {
    let bed = Bed::new().await;
    let all: Vec<String> = (1..=25).map(|number| number.to_string()).collect();
    bed.ok(Call::post(TALK, &said(&all.iter().map(String::as_str).collect::<Vec<_>>()))).await;
    let (mut read, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let page = bed.ok(Call::get(format!("{TALK}?limit=10&after={after}"))).await;
        read.extend(texts(&page).into_iter().map(str::to_owned));
        after = page["next"].clone();
    }
    assert_eq!(read, all);
    assert_eq!(texts(&bed.ok(Call::get(format!("{TALK}?limit=2"))).await), ["24", "25"]);
    assert_eq!(texts(&bed.ok(Call::get(format!("{TALK}?limit=2&before=3"))).await), ["1", "2"]);
    for wrong in ["limit=0", "limit=1001", "limit=x", "after=1&before=2", "after=-1", "unknown=1"] {
        assert_eq!(bed.status(Call::get(format!("{TALK}?{wrong}"))).await, 400, "{wrong}");
    }
    assert_eq!(bed.status(Call::get("/v1/sessions/nothing/messages")).await, 404);
}

#[tokio::test]
async fn sessions_are_listed_by_pages_with_their_titles() {
    let bed = Bed::new().await;
    for number in 0..7 {
        let path = format!("/v1/sessions/talk%20{number}%2Fx/messages");
        bed.ok(Call::post(path, &said(&[&format!("Title {number}")]))).await;
    }
    let (mut titles, mut next) = (Vec::new(), json!(""));
    while let Some(after) = next.as_str() {
        let after = after.replace(' ', "%20").replace('/', "%2F");
        let after = if after.is_empty() { after } else { format!("&after={after}") };
        let page = bed.ok(Call::get(format!("/v1/sessions?limit=3{after}"))).await;
        let sessions = page["sessions"].as_array().unwrap();
        titles.extend(sessions.iter().map(|session| session["title"].as_str().unwrap().to_owned()));
        next = page["next"].clone();
    }
    assert_eq!(titles, (0..7).map(|number| format!("Title {number}")).collect::<Vec<_>>());
    let one = bed.ok(Call::get("/v1/sessions/talk%203%2Fx")).await;
    assert_eq!((one["session"].as_str(), one["messages"].as_u64()), (Some("talk 3/x"), Some(1)));
    let gone = bed.ok(Call::delete("/v1/sessions/talk%203%2Fx")).await;
    assert_eq!((&gone["removed"], &gone["complete"]), (&json!(1), &json!(true)));
    assert_eq!(bed.status(Call::get("/v1/sessions/talk%203%2Fx")).await, 404);
}

#[tokio::test]
async fn a_context_is_what_a_model_is_sent_with_its_receipt() {
    let bed = Bed::new().await;
    bed.ok(Call::post("/v1/sessions/old/messages", &said(&["My dentist is Dr. Marsh."]))).await;
    bed.ok(Call::post(TALK, &said(&["Good morning."]))).await;
    let ask = |more: Value| {
        let mut ask = json!({ "query": "Who is my dentist?", "budget": 2000.0 });
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Call::post("/v1/sessions/talk/context", &ask)
    };
    let context = bed.ok(ask(json!({}))).await;
    let sent = context["messages"].to_string();
    assert!(sent.contains("Dr. Marsh") && sent.contains("Good morning"), "{sent}");
    assert_eq!(context["receipt"]["complete"], true);
    assert!(context["pending"].is_null());
    assert!(bed.ok(ask(json!({ "pending": true }))).await["pending"].is_u64());
    let anthropic = bed.ok(ask(json!({ "as": "anthropic", "recall": 0 }))).await;
    assert!(!anthropic["messages"].to_string().contains("Marsh"));
    assert_eq!(bed.status(ask(json!({ "budget": 1 }))).await, 422);
    let refused = bed.send(ask(json!({ "budget": 2, "reserve": 1 })).by(&bed.ada)).await.json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("the question, or the turn that begins with it, is too long: ")
            && detail.contains("of the budget of 2: "),
        "{detail}"
    );
    assert_eq!(bed.status(ask(json!({ "budget": 0.5 }))).await, 400);
    let found =
        bed.ok(Call::post("/v1/search", &json!({ "query": "dentist", "explain": true, "pending": true }))).await;
    assert_eq!(found["hits"][0]["session"], "old");
    assert_eq!(found["receipt"]["terms"], json!(["dentist"]));
    assert!(found["pending"].is_u64());
    let passage = &found["hits"][0]["passage"];
    assert_eq!((&passage["text"], &passage["matches"]), (&json!("My dentist is Dr. Marsh."), &json!([[3, 10]])));
}

#[tokio::test]
async fn a_search_of_a_branch_looks_at_the_past_that_it_shares() {
    let bed = Bed::new().await;
    bed.ok(Call::post(TALK, &said(&["My dentist is Dr. Marsh.", "The dentist has moved."]))).await;
    let talk = bed.memory.of(&Scope::new("acme", "ada").unwrap()).session(&SessionId::new("talk").unwrap());
    talk.fork(Seq(1), &SessionId::new("branch").unwrap()).await.unwrap();
    let found = bed.ok(Call::post("/v1/search", &json!({ "query": "dentist", "session": "branch" }))).await;
    let texts: Vec<&str> = found["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["My dentist is Dr. Marsh."]);
}

#[tokio::test]
async fn who_may_write_alone_is_told_nothing_of_a_session() {
    let bed = Bed::new().await;
    let append = |texts: &[&str]| Call::post(TALK, &said(texts)).header("idempotency-key", "first");
    bed.ok(Call::post(TALK, &said(&["zero"]))).await;
    let known = bed.ok(append(&["one", "two"])).await;
    let told = bed.send(append(&["one", "two"]).by(&bed.writer)).await;
    assert_eq!(told.status, 200, "{}", told.text());
    // What was said before, and how much, stays with those who may read.
    let ids = known["stored"].as_array().unwrap().iter().map(|stored| stored["id"].clone());
    let stored: Vec<Value> = ids.map(|id| json!({ "id": id, "outcome": "added" })).collect();
    let expected = json!({ "stored": stored, "tokens": known["tokens"], "durability": known["durability"] });
    assert_eq!(told.json(), expected);
    assert_eq!(bed.send(append(&["one", "three"]).by(&bed.writer)).await.status, 409);
}
