//! Input that is wrong, too large, or made to do harm.

use axum::body::Body;
use axum::http::{Method, Request};
use futures_util::stream;
use memory_server::Config;
use serde_json::json;

use crate::bed::{Bed, Call};

const TALK: &str = "/v1/sessions/talk/messages";

fn raw(body: impl Into<Vec<u8>>) -> Call {
    Call::new(Method::POST, TALK).header("content-type", "application/json").body(body)
}

#[tokio::test]
async fn what_is_no_json_of_ours_is_refused_and_stores_nothing() {
    let bed = Bed::new().await;
    let deep = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"x\",\"meta\":{}{}}}]}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let nested = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"x\",\"meta\":{}{}}}]}}",
        "[".repeat(64),
        "]".repeat(64)
    );
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"messages\":[]}",
        "{\"messages\":{}}",
        "{\"messages\":[1]}",
        "{\"messages\":[{}]}",
        "{\"messages\":[{\"role\":\"user\"}]}",
        "{\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":NaN}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"subject\":\"bob\"}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"at\":\"soon\"}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]} {}",
        "[{\"messages\":[]}]",
        &deep,
        &nested,
    ] {
        assert_eq!(bed.status(raw(body)).await, 400, "{body}");
    }
    assert_eq!(bed.status(raw([b'"', 0xff, b'"'])).await, 400);
    // Nor are the members in their order without their names.
    for (path, body) in
        [("/v1/sessions/a/context", json!([])), ("/v1/search", json!(["x"])), ("/v1/records", json!(["Ada has a cat"]))]
    {
        assert_eq!(bed.status(Call::post(path, &body)).await, 400, "{path}");
    }
    let right = "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    assert_eq!(bed.status(Call::new(Method::POST, TALK).body(right)).await, 415);
    assert_eq!(bed.status(Call::new(Method::POST, TALK).header("content-type", "text/plain").body(right)).await, 415);
    assert_eq!(bed.status(raw(right).header("content-encoding", "gzip")).await, 415);
    assert_eq!(bed.status(Call::get(TALK)).await, 404);
}

#[tokio::test]
async fn numbers_and_letters_that_json_does_not_have_are_refused_whatever_is_asked_for() {
    let bed = Bed::new().await;
    let record = "/v1/records/0190b0a0-0000-7000-8000-00000000000c";
    let supersede = format!("{record}/supersede");
    let told = [
        r#"{"text":NaN}"#,
        r#"{"text":"x","importance":NaN}"#,
        r#"{"text":"x","importance":-Infinity}"#,
        r#"{"text":"x","importance":1e999}"#,
        r#"{"text":"x","metadata":{"a":NaN}}"#,
        r#"{"text":"\ud800"}"#,
        r#"{"text":"a \udc00 b"}"#,
        r#"{"text":"x","kind":"\ud800"}"#,
        r#"{"text":"x","tags":["\ud83e"]}"#,
        r#"{"text":"x","metadata":{"a":"\ud800\u0061"}}"#,
        r#"{"text":"x","metadata":{"\udfff":1}}"#,
    ];
    let asked = [
        r#"{"query":NaN}"#,
        r#"{"query":"x","mmr":NaN}"#,
        r#"{"query":"x","limit":Infinity}"#,
        r#"{"query":"x","mmr":1e999}"#,
        r#"{"query":"\ud800"}"#,
        r#"{"query":"x","filter":"tag = \udc00"}"#,
        r#"{"query":"x","session":"\ud800"}"#,
    ];
    let context = [r#"{"query":"\ud800","budget":500}"#, r#"{"query":"x","budget":NaN}"#];
    let listed = [r#"{"items":["\ud800"]}"#, r#"{"items":[NaN]}"#];
    let forgotten = [r#"{"ids":["\ud800"]}"#, r#"{"session":"\udc00"}"#, r#"{"everything":NaN}"#];
    for (method, path, bodies) in [
        (Method::POST, "/v1/records", &told[..]),
        (Method::PUT, record, &told),
        (Method::POST, &supersede, &told),
        (Method::POST, "/v1/search", &asked),
        (Method::POST, "/v1/sessions/talk/context", &context),
        (Method::POST, "/v1/items", &listed),
        (Method::POST, "/v1/forget", &forgotten),
    ] {
        for body in bodies {
            let call = Call::new(method.clone(), path).header("content-type", "application/json").body(*body);
            let call = if method == Method::PUT { call.header("if-none-match", "*") } else { call };
            let refused = bed.send(call.by(&bed.ada)).await;
            assert_eq!(refused.status, 400, "{method} {path} {body}: {}", refused.text());
            let why = refused.json()["detail"].as_str().unwrap().to_owned();
            assert!(why.starts_with("the body is not right: "), "{method} {path} {body}: {why}");
        }
    }
    assert_eq!(bed.ok(Call::get("/v1/records?all=true")).await["records"], json!([]));
    assert_eq!(bed.ok(Call::get("/v1/sessions")).await["sessions"], json!([]));
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused_unread() {
    let bed = Bed::with(Config { body_bytes: 1_000, import_bytes: 1_000, ..Config::default() }).await;
    // Its bytes never come.
    for path in [TALK, "/v1/import"] {
        let request =
            Request::post(path).header("host", "localhost").header("authorization", format!("Bearer {}", bed.ada));
        let request = request.header("content-type", "application/json").header("content-length", "1001");
        let never = Body::from_stream(stream::pending::<std::io::Result<Vec<u8>>>());
        assert_eq!(bed.send_raw(request.body(never).unwrap()).await.status, 413, "{path}");
    }
    // One that does not say how long it is, is read up to the limit.
    for path in [TALK, "/v1/import"] {
        let request =
            Request::post(path).header("host", "localhost").header("authorization", format!("Bearer {}", bed.ada));
        let request = request.header("content-type", "application/json");
        let endless = Body::from_stream(stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 100])));
        assert_eq!(bed.send_raw(request.body(endless).unwrap()).await.status, 413, "{path}");
    }
    assert_eq!(bed.status(raw(vec![b' '; 1_001])).await, 413);
}

#[tokio::test]
async fn a_token_in_an_address_is_refused_whatever_the_route() {
    let bed = Bed::new().await;
    for path in [format!("/v1/records?token={}", bed.ada), format!("/health?{}", bed.ada), format!("/{}", bed.bob)] {
        assert_eq!(bed.send(Call::get(path).by(&bed.ada)).await.status, 400);
    }
}

#[tokio::test]
async fn conditions_and_numbers_beyond_their_bounds_are_refused() {
    let bed = Bed::new().await;
    let search = |body: serde_json::Value| Call::post("/v1/search", &body);
    let parts = (0..10_000).map(|part| format!("kind = k{part}")).collect::<Vec<_>>().join(" or ");
    let nested = format!("{}kind = a{}", "(".repeat(10_000), ")".repeat(10_000));
    for body in [
        json!({ "filter": parts }),
        json!({ "filter": nested }),
        json!({ "filter": "kind =" }),
        json!({ "limit": 0 }),
        json!({ "limit": 1001 }),
        json!({ "limit": 2147483648_u64 }),
        json!({ "limit": -1 }),
        json!({ "limit": "3" }),
        json!({ "mmr": 7 }),
        json!({ "as_of": "later" }),
        json!({ "kind": "span" }),
        json!({ "query": 3 }),
        json!({ "query": "x".repeat(70_000) }),
        json!({ "tenant": "other" }),
        json!({ "session": "" }),
        json!({ "as_of": "" }),
    ] {
        assert_eq!(
            bed.status(search(body.clone())).await,
            400,
            "{}",
            &body.to_string()[..50.min(body.to_string().len())]
        );
    }
    for path in
        ["/v1/records/x", "/v1/records/..%2f..", "/v1/records/%ff", "/v1/records?after=x", "/v1/records?as_of=x"]
    {
        assert_eq!(bed.status(Call::get(path)).await, 400, "{path}");
    }
    assert_eq!(bed.status(Call::get(format!("/v1/sessions/{}", "x".repeat(256)))).await, 400);
    for (method, path, why) in [
        (Method::PATCH, "/v1/records", "PATCH is not for this address: use GET or POST"),
        (Method::GET, "/v1/search", "GET is not for this address: use POST"),
        (Method::DELETE, "/health", "DELETE is not for this address: use GET"),
    ] {
        let refused = bed.send(Call::new(method, path).by(&bed.ada)).await;
        assert_eq!((refused.status, refused.headers.contains_key("allow")), (405, true), "{path}");
        assert_eq!((&refused.json()["detail"], &refused.json()["retryable"]), (&json!(why), &json!(false)), "{path}");
    }
    assert_eq!(bed.status(Call::get("/v1/nothing")).await, 404);
    let told = |more: serde_json::Value| Call::post("/v1/records", &more);
    for body in [
        json!({ "text": " " }),
        json!({ "text": "x", "importance": 2 }),
        json!({ "text": "x", "ttl_seconds": 0 }),
        json!({ "text": "x", "ttl_seconds": 10_000_000_001_u64 }),
        json!({ "text": "x", "id": "7" }),
        json!({ "text": "x", "trust": "root" }),
        json!({ "text": "x", "owner": "bob" }),
        json!({ "text": "x", "valid_from": "then" }),
        json!({ "text": "x", "novelty": 9 }),
        json!({ "kind": "fact" }),
    ] {
        assert_eq!(bed.status(told(body.clone())).await, 400, "{body}");
    }
}

#[tokio::test]
async fn lists_beyond_their_bounds_are_refused_whatever_they_name() {
    let bed = Bed::new().await;
    let id = "0190b0a0-0000-7000-8000-00000000000c";
    let problem = async |call: Call| {
        let refused = bed.send(call.by(&bed.ada)).await;
        (refused.status, refused.json()["detail"].as_str().unwrap().to_owned())
    };
    let told = |count: usize| json!({ "text": "Ada has a cat", "sources": vec![id; count] });
    let put = |count: usize| Call::put(format!("/v1/records/{id}"), &told(count)).header("if-none-match", "*");
    let more = (400, "more than 4096 sources".to_owned());
    assert_eq!(problem(Call::post("/v1/records", &told(4_097))).await, more);
    assert_eq!(problem(put(4_097)).await, more);
    for call in [Call::post("/v1/records", &told(4_096)), put(4_096)] {
        let (status, detail) = problem(call).await;
        assert!(status == 400 && detail.contains("is not stored"), "{status}: {detail}");
    }
    let said = |count: usize| {
        let message = json!({ "role": "user", "content": "x" });
        Call::post(TALK, &json!({ "messages": vec![message; count] }))
    };
    let more = (400, "an append holds at most 10000 messages".to_owned());
    assert_eq!(problem(said(10_001).header("idempotency-key", "many")).await, more);
    assert_eq!(bed.status(Call::get(TALK)).await, 404);
}

#[tokio::test]
async fn exactly_one_thing_is_forgotten_by_a_request() {
    let bed = Bed::new().await;
    for body in [
        json!({}),
        json!({ "session": null }),
        json!({ "ids": [], "session": "a" }),
        json!({ "session": "a", "everything": true }),
    ] {
        let refused = bed.send(Call::post("/v1/forget", &body).by(&bed.ada)).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json()["detail"], "say exactly one of ids, session and everything", "{body}");
    }
    assert_eq!(bed.status(Call::post("/v1/forget", &json!({ "owner": "bob" }))).await, 400);
}

#[tokio::test]
async fn a_cursor_of_another_owner_is_only_a_place_in_the_order() {
    let bed = Bed::new().await;
    for (who, names) in [(&bed.ada, ["a", "c"]), (&bed.bob, ["b", "d"])] {
        for name in names {
            let body = json!({ "messages": [{ "role": "user", "content": name }] });
            assert_eq!(bed.send(Call::post(format!("/v1/sessions/{name}/messages"), &body).by(who)).await.status, 200);
        }
    }
    let page = bed.send(Call::get("/v1/sessions?after=b&limit=5").by(&bed.ada)).await.json();
    let names: Vec<&str> =
        page["sessions"].as_array().unwrap().iter().map(|s| s["session"].as_str().unwrap()).collect();
    assert_eq!(names, ["c"]);
}

#[tokio::test]
async fn a_cursor_of_another_owner_shows_nothing_of_theirs_in_lists_of_records_and_messages() {
    let bed = Bed::new().await;
    let read = async |who: &str, path: String| {
        let answer = bed.send(Call::get(path).by(who)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(who == bed.ada, !answer.text().contains("bob"), "{}", answer.text());
        answer.json()
    };
    for (who, name, count) in [(&bed.ada, "ada", 4), (&bed.bob, "bob", 6)] {
        let messages: Vec<_> =
            (0..count).map(|number| json!({ "role": "user", "content": format!("{name} {number}") })).collect();
        let said = Call::post(TALK, &json!({ "messages": messages })).by(who);
        assert_eq!(bed.send(said).await.status, 200);
        for number in 0..count {
            let told = Call::post("/v1/records", &json!({ "text": format!("{name} {number}") })).by(who);
            assert_eq!(bed.send(told).await.status, 200);
        }
    }
    let ids = |page: &serde_json::Value| -> Vec<String> {
        page["records"].as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
    };
    let own = ids(&read(&bed.ada, "/v1/records".to_owned()).await);
    assert_eq!(own.len(), 4);
    let mut after = String::new();
    for _ in 0..3 {
        let page = read(&bed.bob, format!("/v1/records?limit=2{after}")).await;
        assert_eq!(ids(&page).len(), 2);
        let cursor = page["next"].as_str().unwrap();
        let rest: Vec<String> = own.iter().filter(|id| id.as_str() > cursor).cloned().collect();
        assert_eq!(ids(&read(&bed.ada, format!("/v1/records?after={cursor}")).await), rest, "{cursor}");
        after = format!("&after={cursor}");
    }
    let texts = |page: &serde_json::Value| -> Vec<String> {
        page["shown"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    for (limit, rest) in [(3, &["ada 3"][..]), (5, &[""; 0])] {
        let page = read(&bed.bob, format!("{TALK}?after=0&limit={limit}")).await;
        assert_eq!(page["next"], limit);
        assert_eq!(texts(&read(&bed.ada, format!("{TALK}?after={limit}")).await), rest);
        let before = texts(&read(&bed.ada, format!("{TALK}?before={}", limit + 1)).await);
        assert_eq!(before, &["ada 0", "ada 1", "ada 2", "ada 3"][..limit.min(4)]);
    }
}
