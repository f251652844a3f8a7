//! A member that may be missing may be `null`, which says nothing.

use serde_json::{Map, Value, json};

use crate::bed::{Bed, Call, DOCUMENT};

/// Returns the schema of a body, and the names of the members that it may lack.
fn optional(body: &str) -> Vec<(&'static String, &'static Value)> {
    let schema = &DOCUMENT["components"]["schemas"][body];
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let members = schema["properties"].as_object().unwrap().iter();
    members.filter(|(name, _)| !required.contains(&json!(name))).collect()
}

#[tokio::test]
async fn a_member_that_may_be_missing_may_be_null_in_each_body_and_in_the_document() {
    let bed = Bed::new().await;
    let id = "0190b0a0-0000-7000-8000-00000000000c";
    let message = json!({ "messages": [{ "role": "user", "content": "Ada has a cat" }] });
    bed.ok(Call::post("/v1/sessions/talk/messages", &message)).await;
    for (body, count, said) in [
        ("Ask", 8, json!({})),
        ("Question", 8, json!({})),
        ("Told", 15, json!({ "text": "x" })),
        ("Whole", 12, json!({ "text": "x" })),
    ] {
        let members = optional(body);
        assert!(members.len() >= count, "{body}: {members:?}");
        for (name, schema) in &members {
            let is_null = |kind: &Value| kind == "null" || kind["type"] == "null";
            let kinds = [&schema["type"], &schema["oneOf"]].into_iter().filter_map(Value::as_array).flatten();
            assert!(kinds.into_iter().any(is_null), "{body}: {name}: {schema}");
        }
        let mut nulls: Map<String, Value> = members.iter().map(|(name, _)| ((*name).clone(), json!(null))).collect();
        nulls.extend(said.as_object().unwrap().clone());
        let nulls = json!(nulls);
        let call = match body {
            "Ask" => Call::post("/v1/sessions/talk/context", &nulls),
            "Question" => Call::post("/v1/search", &nulls),
            "Told" => Call::post("/v1/records", &nulls),
            _ => Call::put(format!("/v1/records/{id}"), &nulls).header("if-none-match", "*"),
        };
        bed.ok(call).await;
    }
    assert_eq!(bed.ok(Call::get(format!("/v1/records/{id}"))).await["kind"], "fact");
}
