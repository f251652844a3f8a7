//! Records over HTTP: remembered, changed over the version that was read, superseded, forgotten.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

const ID: &str = "0190b0a0-0000-7000-8000-00000000000b";

#[tokio::test]
async fn what_says_the_same_is_one_record() {
    let bed = Bed::new().await;
    let told = json!({ "text": "Ada has a cat", "kind": "fact", "tags": ["pets"], "importance": 0.5, "ttl_seconds": 60.0,
        "metadata": { "source": "form" }, "agent": "planner", "session": "talk", "trust": "assistant" });
    let first = bed.ok(Call::post("/v1/records", &told)).await;
    let again = bed.ok(Call::post("/v1/records", &told)).await;
    assert_eq!((&first["outcome"], &again["outcome"]), (&json!("stored"), &json!("reinforced")));
    assert_eq!(first["id"], again["id"]);
    assert!(["committed", "volatile"].contains(&first["durability"].as_str().unwrap()), "{first}");
    let record = bed.ok(Call::get(format!("/v1/records/{}", first["id"].as_str().unwrap()))).await;
    assert_eq!(
        (&record["trust"], &record["tags"], &record["current"]),
        (&json!("assistant"), &json!(["pets"]), &json!(true))
    );
    assert_eq!(record["metadata"], json!({ "source": "form" }));
}

#[tokio::test]
async fn a_record_is_changed_over_the_version_that_was_read_and_no_other() {
    let bed = Bed::new().await;
    let path = format!("/v1/records/{ID}");
    let put = |text: &str| Call::put(&path, &json!({ "text": text, "kind": "note" }));
    assert_eq!(bed.status(put("green")).await, 428);
    let over_nothing = bed.send(put("green").header("if-match", "\"1\"").by(&bed.ada)).await;
    assert_eq!((over_nothing.status, &over_nothing.json()["detail"]), (412, &json!("nothing is stored under this id")));
    let fresh = put("green").header("if-none-match", "*");
    let answer = bed.send(fresh.clone().by(&bed.ada)).await;
    assert_eq!((answer.status, answer.headers["etag"].to_str().unwrap()), (200, "\"1\""));
    // The answer was lost, and the request is repeated.
    assert_eq!(bed.ok(fresh).await["version"], 1);
    assert_eq!(bed.status(put("blue").header("if-none-match", "*")).await, 412);
    let blue = put("blue").header("if-match", "\"1\"");
    assert_eq!(bed.ok(blue.clone()).await["version"], 2);
    assert_eq!(bed.ok(blue).await["version"], 2);
    let over_another = bed.send(put("red").header("if-match", "\"1\"").by(&bed.ada)).await;
    let why = json!("another version is stored: read it, then decide");
    assert_eq!((over_another.status, &over_another.json()["detail"]), (412, &why));
    let read = bed.send(Call::get(&path).by(&bed.ada)).await;
    assert_eq!((read.headers["etag"].to_str().unwrap(), &read.json()["text"]), ("\"2\"", &json!("blue")));
    for tag in ["2", "\"x\"", "W/\"2\"", "*", "\"1\", \"2\""] {
        assert_eq!(bed.status(put("red").header("if-match", tag)).await, 400, "{tag}");
    }
    // Another owner has no such record, and can have one of the same id.
    assert_eq!(bed.send(Call::get(&path).by(&bed.bob)).await.status, 404);
    assert_eq!(bed.send(put("mine").header("if-match", "\"2\"").by(&bed.bob)).await.status, 412);
    assert_eq!(bed.send(put("mine").header("if-none-match", "*").by(&bed.bob)).await.status, 200);
}

#[tokio::test]
async fn a_record_that_is_changed_is_forgotten_with_every_session_that_told_it_as_before() {
    let bed = Bed::new().await;
    let told = |session: &str| {
        let told = json!({ "text": "Ada has a cat", "session": session, "run": "first", "tags": ["pets"], "trust": "assistant" });
        Call::post("/v1/records", &told)
    };
    let id = bed.ok(told("a")).await["id"].as_str().unwrap().to_owned();
    assert_eq!(bed.ok(told("b")).await["id"], json!(id));
    let path = format!("/v1/records/{id}");
    let whole = json!({ "text": "Ada has two cats", "tags": ["cats"], "importance": 0.5 });
    let read = bed.send(Call::get(&path).by(&bed.ada)).await;
    let put = Call::put(&path, &whole).header("if-match", read.headers["etag"].to_str().unwrap());
    let version = bed.ok(put.clone()).await["version"].clone();
    assert_eq!(bed.ok(put).await["version"], version, "a repeat changes nothing");
    let forget = |session: &str| Call::post("/v1/forget", &json!({ "session": session }));
    for session in ["a", "b"] {
        let record = bed.ok(Call::get(&path)).await;
        assert_eq!((&record["trust"], &record["tags"]), (&json!("assistant"), &json!(["cats"])));
        let (text, importance) = (&record["text"], &record["importance"]);
        assert_eq!((text, importance), (&json!("Ada has two cats"), &json!(0.5)));
        bed.ok(forget(session)).await;
    }
    assert_eq!(bed.status(Call::get(&path)).await, 404);
}

#[tokio::test]
async fn a_record_of_many_sources_is_forgotten_with_any_of_them() {
    let bed = Bed::new().await;
    let messages: Vec<Value> =
        (0..70).map(|number| json!({ "role": "user", "content": format!("message {number}") })).collect();
    let said = bed.ok(Call::post("/v1/sessions/talk/messages", &json!({ "messages": messages }))).await;
    let mut sources: Vec<Value> = said["stored"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    sources.push(bed.ok(Call::post("/v1/records", &json!({ "text": "Ada has a cat" }))).await["id"].clone());
    let forget = async |ids: &[Value]| bed.ok(Call::post("/v1/forget", &json!({ "ids": ids }))).await;
    // The record behind all messages, then the last message.
    for last in [71, 70] {
        let derived = json!({ "text": "Ada likes animals", "sources": &sources[..last] });
        bed.ok(Call::post("/v1/records", &derived)).await;
        assert_eq!(forget(&sources[last - 1..last]).await["complete"], true);
        assert_eq!(bed.ok(Call::get("/v1/records?all=true")).await["records"], json!([]));
    }
    assert_eq!(forget(&sources[..]).await["unknown"], json!(&sources[69..]));
}

#[tokio::test]
async fn what_is_superseded_stays_in_the_history() {
    let bed = Bed::new().await;
    let remember = |text: &str| json!({ "text": text });
    let old =
        bed.ok(Call::post("/v1/records", &remember("Ada lives in Lyon"))).await["id"].as_str().unwrap().to_owned();
    let supersede = || Call::post(format!("/v1/records/{old}/supersede"), &remember("Ada lives in Porto"));
    let new = bed.ok(supersede()).await;
    assert_eq!((&new["supersedes"], &new["outcome"]), (&json!(old), &json!("stored")));
    assert_eq!(bed.ok(supersede()).await["id"], new["id"]);
    let texts = |answer: &Value| {
        let records = answer["records"].as_array().unwrap().iter();
        records.map(|record| record["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let history = bed.ok(Call::get(format!("/v1/records/{old}/history"))).await;
    assert_eq!(texts(&history), ["Ada lives in Lyon", "Ada lives in Porto"]);
    assert_eq!(texts(&bed.ok(Call::get("/v1/records")).await), ["Ada lives in Porto"]);
    assert_eq!(texts(&bed.ok(Call::get("/v1/records?all=true")).await).len(), 2);
    assert_eq!(bed.status(Call::get(format!("/v1/records/{ID}/history"))).await, 404);
    assert_eq!(bed.status(Call::post(format!("/v1/records/{ID}/supersede"), &remember("x"))).await, 404);
}

#[tokio::test]
async fn a_text_in_the_place_of_another_is_forgotten_with_every_session_that_told_that_one() {
    let bed = Bed::new().await;
    let told = |session: &str, run: &str| {
        Call::post("/v1/records", &json!({ "text": "Ada has a cat", "session": session, "run": run, "tags": ["pets"] }))
    };
    let id = bed.ok(told("a", "first")).await["id"].clone();
    assert_eq!(bed.ok(told("b", "second")).await["id"], id);
    bed.tool("update_memory", &json!({ "id": id, "text": "Ada has two cats" })).await.unwrap();
    for session in ["a", "b"] {
        let records = bed.ok(Call::get("/v1/records")).await["records"].clone();
        assert_eq!(records[0]["text"], "Ada has two cats", "{session}");
        assert_eq!((&records[0]["trust"], &records[0]["tags"]), (&json!("assistant"), &json!(["pets"])));
        bed.ok(Call::post("/v1/forget", &json!({ "session": session }))).await;
    }
    assert_eq!(bed.ok(Call::get("/v1/records")).await["records"], json!([]));
}

#[tokio::test]
async fn a_text_in_the_place_of_another_is_true_from_now_or_from_when_that_one_was_to_be() {
    const PAST: &str = "2001-01-01T00:00:00Z";
    const OVER: &str = "2002-01-01T00:00:00Z";
    const LATER: &str = "2199-01-01T00:00:00Z";
    let bed = Bed::new().await;
    let read = async |id: &Value| bed.ok(Call::get(format!("/v1/records/{}", id.as_str().unwrap()))).await;
    let times = [(Some(PAST), Some(OVER)), (Some(PAST), Some(LATER)), (None, Some(LATER)), (Some(LATER), None)];
    for (number, (from, to)) in times.into_iter().enumerate() {
        let told = json!({ "text": format!("Ada is in Porto {number}"), "valid_from": from, "valid_to": to });
        let id = bed.ok(Call::post("/v1/records", &told)).await["id"].clone();
        let berlin = json!({ "id": id, "text": format!("Ada has moved to Berlin {number}") });
        bed.tool("update_memory", &berlin).await.unwrap();
        let new = read(&read(&id).await["superseded_by"]).await;
        assert_eq!((&new["valid_to"], &new["current"]), (&Value::Null, &json!(from != Some(LATER))), "{number}");
        let begins = new["valid_from"].as_str();
        let is_right = match from {
            None => begins.is_none(),
            Some(LATER) => begins == Some(LATER),
            Some(_) => begins.is_some_and(|begins| begins > OVER),
        };
        assert!(is_right, "{number}: {begins:?}");
    }
}

#[tokio::test]
async fn records_are_listed_by_pages_and_conditions() {
    let bed = Bed::new().await;
    for number in 0..25 {
        let (kind, tag) = if number % 5 == 0 { ("fact", "five") } else { ("note", "other") };
        let told = json!({ "text": format!("number {number}"), "kind": kind, "tags": [tag] });
        bed.ok(Call::post("/v1/records", &told)).await;
    }
    let (mut count, mut next) = (0, json!(""));
    while let Some(after) = next.as_str() {
        let after = if after.is_empty() { String::new() } else { format!("&after={after}") };
        let page = bed.ok(Call::get(format!("/v1/records?limit=10{after}"))).await;
        count += page["records"].as_array().unwrap().len();
        next = page["next"].clone();
    }
    assert_eq!(count, 25);
    for condition in ["kind=fact", "tag=five", "filter=kind%20%3D%20fact%20and%20tag%20in%20(five%2C%20x)"] {
        let found = bed.ok(Call::get(format!("/v1/records?{condition}"))).await;
        assert_eq!(found["records"].as_array().unwrap().len(), 5, "{condition}");
    }
}

#[tokio::test]
async fn forgetting_tells_what_every_store_did_and_which_ids_nothing_has() {
    let bed = Bed::new().await;
    let told = bed.ok(Call::post("/v1/records", &json!({ "text": "Ada has a cat" }))).await;
    let source = told["id"].clone();
    let derived = json!({ "text": "Ada likes animals", "sources": [source] });
    bed.ok(Call::post("/v1/records", &derived)).await;
    assert_eq!(bed.status(Call::post("/v1/records", &json!({ "text": "x", "sources": [ID] }))).await, 400);
    let forgotten = bed.ok(Call::post("/v1/forget", &json!({ "ids": [source, ID] }))).await;
    assert_eq!(forgotten["unknown"], json!([ID]));
    assert_eq!(forgotten["complete"], true);
    assert_eq!(bed.ok(Call::get("/v1/records?all=true")).await["records"], json!([]));
    for wrong in
        [json!({}), json!({ "ids": [] }), json!({ "everything": false }), json!({ "ids": [ID], "everything": true })]
    {
        assert_eq!(bed.status(Call::post("/v1/forget", &wrong)).await, 400, "{wrong}");
    }
    bed.ok(Call::post("/v1/sessions/a/messages", &json!({ "messages": [{ "role": "user", "content": "x" }] }))).await;
    let first = bed.ok(Call::post("/v1/forget", &json!({ "session": "a" }))).await;
    assert_eq!((&first["removed"], &first["unknown"]), (&json!(1), &json!([])));
    // A repeat is a success, and so is a name that is mistyped: it is told.
    for call in [Call::post("/v1/forget", &json!({ "session": "a" })), Call::delete("/v1/sessions/a")] {
        let again = bed.ok(call).await;
        assert_eq!((&again["removed"], &again["unknown"]), (&json!(0), &json!(["a"])));
    }
    bed.ok(Call::post("/v1/records", &json!({ "text": "Ada has a dog" }))).await;
    let receipt = bed.ok(Call::post("/v1/forget", &json!({ "everything": true }))).await;
    assert_eq!(receipt["complete"], true);
    let parts: Vec<&str> =
        receipt["stores"].as_array().unwrap().iter().map(|store| store["part"].as_str().unwrap()).collect();
    assert!(parts.contains(&"conversations") || parts.contains(&"chat"), "{parts:?}");
    assert_eq!(bed.ok(Call::get("/v1/records?all=true")).await["records"], json!([]));
    assert_eq!(
        bed.send(Call::post("/v1/forget", &json!({ "session": "a" })).by(&bed.reader)).await.status,
        StatusCode::FORBIDDEN
    );
}

#[tokio::test]
async fn who_may_write_alone_puts_new_records_and_is_told_no_version() {
    let bed = Bed::new().await;
    let put = |text: &str, name: &str, value: &str| {
        let call = Call::put(format!("/v1/records/{ID}"), &json!({ "text": text }));
        bed.send(call.header(name, value).by(&bed.writer))
    };
    // What is stored already is put as what is new.
    for _ in 0..2 {
        let told = put("Ada has a cat", "if-none-match", "*").await;
        assert_eq!((told.status, told.json()), (200, json!({ "id": ID })));
        assert!(!told.headers.contains_key("etag"));
    }
    assert_eq!(put("Ada has a dog", "if-none-match", "*").await.status, 412);
    for (text, version) in [("Ada has a cat", "\"1\""), ("Ada has a cat", "\"2\""), ("Ada has a dog", "\"1\"")] {
        let refused = put(text, "if-match", version).await;
        assert_eq!((refused.status, refused.json()["detail"].clone()), (403, json!("the token has no right to read")));
    }
    assert_eq!(bed.ok(Call::get(format!("/v1/records/{ID}"))).await["text"], "Ada has a cat");
}

#[tokio::test]
async fn a_record_that_has_expired_is_gone_before_upkeep_deletes_it() {
    let bed = Bed::new().await;
    let path = format!("/v1/records/{ID}");
    let put = |expires_at: &str| Call::put(&path, &json!({ "text": "Ada is in Porto", "expires_at": expires_at }));
    let shown = async || {
        let items = bed.ok(Call::post("/v1/items", &json!({ "items": [format!("r-{ID}")] }))).await;
        let item = json!({ "uri": format!("memory://item/r-{ID}") });
        let resource = bed.rpc(&bed.ada, "resources/read", &item).await;
        (
            bed.status(Call::get(&path)).await,
            bed.status(Call::get(format!("{path}/history"))).await,
            items["items"].as_array().unwrap().len(),
            resource["error"].is_null(),
        )
    };
    bed.ok(put("2199-01-01T00:00:00Z").header("if-none-match", "*")).await;
    assert_eq!(shown().await, (200, 200, 1, true));
    bed.ok(put("2001-01-01T00:00:00Z").header("if-match", "\"1\"")).await;
    assert_eq!(shown().await, (404, 404, 0, false));
    let other = json!({ "text": "Ada is in Lyon" });
    assert_eq!(bed.status(Call::post(format!("{path}/supersede"), &other)).await, 404);
    let updated = bed.tool("update_memory", &json!({ "id": ID, "text": "Ada is in Lyon" })).await;
    assert!(updated.unwrap_err().contains("no memory"));
}
