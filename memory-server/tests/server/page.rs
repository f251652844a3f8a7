//! The page for people: what its three files may hold, what a browser is told of them, and what feeds it.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

const FILES: [(&str, &str); 3] = [
    ("/", "text/html; charset=utf-8"),
    ("/page.css", "text/css; charset=utf-8"),
    ("/page.js", "text/javascript; charset=utf-8"),
];

/// Returns each file with its headers, for somebody without a token.
async fn files(bed: &Bed) -> Vec<(HeaderMap, String)> {
    let mut files = Vec::new();
    for (path, kind) in FILES {
        let answer = bed.send(Call::get(path)).await;
        assert_eq!((answer.status, answer.headers["content-type"].to_str().unwrap()), (200, kind));
        files.push((answer.headers.clone(), answer.text()));
    }
    files
}

#[tokio::test]
async fn the_page_is_small_and_a_browser_runs_nothing_but_its_files() {
    let files = files(&Bed::new().await).await;
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes <= 150_000, "{bytes}");
    for (headers, _) in &files {
        assert_eq!(
            headers["content-security-policy"],
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
             form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
        );
        assert_eq!(
            (&headers["x-content-type-options"], &headers["referrer-policy"]),
            (&"nosniff".parse().unwrap(), &"no-referrer".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn the_page_has_no_script_in_its_markup_and_names_no_other_place() {
    let files = files(&Bed::new().await).await;
    let [(_, markup), (_, style), (_, script)] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(markup.matches("<script").count(), 1);
    assert!(markup.contains("<script type=\"module\" src=\"page.js\"></script>"));
    // No style and no handler in an attribute, which the policy would refuse anyway.
    for word in ["<style", " style=", " onclick=", " onload=", "javascript:"] {
        assert!(!markup.contains(word), "{word}");
    }
    // What is stored reaches the page as text alone.
    for word in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser", "srcdoc"]
    {
        assert!(!script.contains(word), "{word}");
    }
    // A session of such a name has no address that a browser keeps as it is.
    assert!(script.contains("if (name === '.' || name === '..') return [failure("));
    // The page works behind any path: every address in it is relative, and none is another server's.
    assert_eq!(markup.matches("://").count(), 1, "the namespace of the icon");
    for text in [style, script] {
        assert!(!text.contains("://") && !text.contains("@import"));
    }
    for word in ["src=\"/", "href=\"/"] {
        assert!(!markup.contains(word), "{word}");
    }
}

#[tokio::test]
async fn what_a_receipt_names_is_read_by_its_keys_and_by_its_owner_alone() {
    let bed = Bed::new().await;
    let said = json!({ "messages": [{ "role": "user", "content": "The cat is at the vet" }] });
    let message =
        bed.ok(Call::post("/v1/sessions/a/messages", &said)).await["stored"][0]["id"].as_str().unwrap().to_owned();
    let record =
        bed.ok(Call::post("/v1/records", &json!({ "text": "Ada has a cat" }))).await["id"].as_str().unwrap().to_owned();
    let keys = [format!("r-{record}"), format!("m-{record}"), format!("m-{message}"), format!("r-{record}")];
    let call = || Call::post("/v1/items", &json!({ "items": keys }));
    let items = |answer: &Value| {
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| (item["item"].clone(), item["text"].clone())).collect::<Vec<_>>()
    };
    let (of_record, of_message) =
        ((json!(keys[0]), json!("Ada has a cat")), (json!(keys[2]), json!("The cat is at the vet")));
    assert_eq!(items(&bed.ok(call()).await), [of_record.clone(), of_message.clone(), of_record]);
    assert_eq!(items(&bed.send(call().by(&bed.bob)).await.json()), []);
    bed.ok(Call::post("/v1/forget", &json!({ "ids": [record] }))).await;
    assert_eq!(items(&bed.ok(call()).await), [of_message]);
    for wrong in [json!([]), json!(["x-1"]), json!(["s-a.0"]), json!([message]), json!(vec![&keys[0]; 1_001])] {
        assert_eq!(bed.status(Call::post("/v1/items", &json!({ "items": wrong }))).await, 400, "{wrong}");
    }
}

#[tokio::test]
async fn messages_tell_whether_they_are_in_the_window() {
    let bed = Bed::new().await;
    let said: Vec<Value> =
        (0..4).map(|number| json!({ "role": "user", "content": format!("word {number}") })).collect();
    let stored = bed.ok(Call::post("/v1/sessions/a/messages", &json!({ "messages": said }))).await;
    bed.ok(Call::post("/v1/forget", &json!({ "ids": [stored["stored"][1]["id"]] }))).await;
    let states = |answer: Value| {
        let rows = answer["shown"].as_array().unwrap().iter();
        rows.map(|row| (row["seq"].as_u64().unwrap(), row["state"].as_str().unwrap().to_owned())).collect::<Vec<_>>()
    };
    let row = |seq, state: &str| (seq, state.to_owned());
    let all = [row(1, "active"), row(2, "forgotten"), row(3, "active"), row(4, "active")];
    for view in ["", "?view=log", "?view=all"] {
        assert_eq!(states(bed.ok(Call::get(format!("/v1/sessions/a/messages{view}"))).await), all, "{view}");
    }
    let active = states(bed.ok(Call::get("/v1/sessions/a/messages?view=active")).await);
    assert_eq!(active, [row(1, "active"), row(3, "active"), row(4, "active")]);
    assert_eq!(bed.status(Call::get("/v1/sessions/a/messages?view=none")).await, 400);
}

#[tokio::test]
async fn the_status_tells_whose_memory_it_is_and_nothing_of_others() {
    let bed = Bed::new().await;
    bed.send(Call::post("/v1/records", &json!({ "text": "Bob has a dog" })).by(&bed.bob)).await;
    let status = bed.send(Call::get("/v1/status").by(&bed.reader)).await.json();
    assert_eq!(
        (&status["tenant"], &status["subject"], &status["rights"]),
        (&json!("acme"), &json!("ada"), &json!(["read"]))
    );
    let stores = status["stores"].as_array().unwrap();
    assert!(
        stores.iter().any(|store| store["part"] == "chat") && stores.iter().all(|store| store["answers"] == true),
        "{status}"
    );
    assert_eq!(status["journal"], Value::Null);
    let pending = |status: &Value| {
        status["indexes"].as_array().unwrap().iter().map(|index| index["pending"].clone()).collect::<Vec<_>>()
    };
    assert!(pending(&status).iter().all(|pending| *pending == 0), "{status}");
    let of_bob = bed.send(Call::get("/v1/status").by(&bed.bob)).await.json();
    assert!(pending(&of_bob).contains(&json!(1)), "{of_bob}");
}
