//! Writes of records that are sent again because their answer was lost.

use serde_json::json;

use crate::bed::{Bed, Call};

#[tokio::test]
async fn a_repeated_request_with_a_key_changes_nothing_unless_its_record_was_forgotten() {
    let bed = Bed::new().await;
    let tell = |text: &str| {
        let told = json!({ "text": text, "ttl_seconds": 3_600 });
        Call::post("/v1/records", &told).header("idempotency-key", "first")
    };
    let first = bed.ok(tell("Ada lives in Lyon")).await;
    assert_eq!(first["outcome"], "stored");
    let path = format!("/v1/records/{}", first["id"].as_str().unwrap());
    let expiry = bed.ok(Call::get(&path)).await["expires_at"].clone();
    assert!(expiry.is_string());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let again = bed.ok(tell("Ada lives in Lyon")).await;
    assert_eq!((&again["id"], &again["outcome"]), (&first["id"], &json!("reinforced")));
    assert_eq!(bed.ok(Call::get(&path)).await["expires_at"], expiry);
    // Other words are another request, under a key that is taken.
    assert_eq!(bed.status(tell("Ada lives in Porto")).await, 409);
    let supersede = || {
        let told = json!({ "text": "Ada lives in Porto" });
        Call::post(format!("{path}/supersede"), &told).header("idempotency-key", "second")
    };
    let new = bed.ok(supersede()).await;
    let told_again = bed.ok(tell("Ada lives in Lyon")).await;
    assert_eq!(told_again["id"], first["id"]);
    let again = bed.ok(supersede()).await;
    assert_eq!((&again["id"], &again["supersedes"]), (&new["id"], &first["id"]));
    let current = bed.ok(Call::get("/v1/records")).await;
    let texts: Vec<&str> =
        current["records"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Ada lives in Porto"]);
    // The same key for another record is another request.
    let tea = bed.ok(Call::post("/v1/records", &json!({ "text": "Ada drinks tea" }))).await;
    let path = format!("/v1/records/{}/supersede", tea["id"].as_str().unwrap());
    let told = json!({ "text": "Ada lives in Porto" });
    let other = bed.ok(Call::post(path, &told).header("idempotency-key", "second")).await;
    assert_ne!(other["id"], new["id"]);
    let current = bed.ok(Call::get("/v1/records")).await;
    let of_tea = current["records"].as_array().unwrap().iter().filter(|one| one["text"] == "Ada drinks tea").count();
    assert_eq!(of_tea, 0, "{current}");
    // Who may only write learns nothing of it.
    let by_writer = bed.send(tell("Ada lives in Lyon").by(&bed.writer)).await.json();
    assert_eq!(by_writer, json!({ "id": first["id"], "outcome": "stored" }));
    assert_eq!(bed.status(Call::post("/v1/records", &json!({ "text": "x" })).header("idempotency-key", "")).await, 400);
    // What was forgotten is told anew.
    let forgotten = bed.ok(Call::post("/v1/forget", &json!({ "ids": [first["id"]] }))).await;
    assert!(!forgotten.is_null());
    assert_eq!(bed.ok(tell("Ada lives in Lyon")).await["outcome"], "stored");
}
