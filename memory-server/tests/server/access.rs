//! Who may do what: every operation of the table needs a token and a right, and every route a name of this server.

use std::net::TcpListener;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use memory_server::{Config, Grant, TokenFile, Tokens};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::bed::{Bed, Call, memory, token};

/// Returns the method and path of every operation that the document names.
async fn operations(bed: &Bed) -> Vec<(Method, String)> {
    let document = bed.ok(Call::get("/v1/openapi.json")).await;
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace("{session}", "talk").replace("{record}", "0190b0a0-0000-7000-8000-000000000000");
        for method in item.as_object().unwrap().keys() {
            let Ok(method) = method.to_uppercase().parse() else { continue };
            operations.push((method, path.clone()));
        }
    }
    assert!(operations.len() >= 16, "{operations:?}");
    operations
}

/// Returns a bed whose server runs, and a token of its file that opened it and is revoked since.
async fn revoked() -> (Bed, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::at(folder.path().join("tokens.json"));
    let (revoked, grant) = token("ada", "read,write,forget");
    file.add(grant.clone()).unwrap();
    let bed = Bed::beside(Tokens::of_file(file.clone()).unwrap(), memory().await, Config::default());
    revoke(&bed, &file, &revoked, &grant).await;
    (bed, revoked)
}

/// Lets the server of a bed run, revokes a token that opens it, and returns once it opens nothing.
async fn revoke(bed: &Bed, file: &TokenFile, token: &str, grant: &Grant) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    tokio::spawn(bed.server.clone().serve(listener, std::future::pending::<()>()));
    let status = async || bed.send(Call::get("/v1/sessions").by(token)).await.status;
    assert_eq!(status().await, 200);
    assert!(file.remove(grant.id()).unwrap());
    // A server that runs looks at its file again and again.
    let refused = timeout(Duration::from_secs(60), async {
        while status().await != 401 {
            sleep(Duration::from_millis(20)).await;
        }
    });
    refused.await.unwrap();
}

#[tokio::test]
async fn every_operation_answers_401_in_the_same_bytes_whatever_is_wrong_with_the_token() {
    let (bed, revoked) = revoked().await;
    let (unknown, _) = token("ada", "read");
    let wrong = format!("{}{}", &bed.ada[..21], &bed.bob[21..]);
    let header = |value: &str| ("authorization".to_owned(), value.to_owned());
    let bad = [
        None,
        Some(header(&format!("Bearer {unknown}"))),
        Some(header(&format!("Bearer {wrong}"))),
        Some(header(&format!("Bearer {}", bed.expired))),
        Some(header(&format!("Bearer {revoked}"))),
        Some(header(&format!("Basic {}", bed.ada))),
        Some(header(&bed.ada)),
        Some(header(&format!("Bearer  {}", bed.ada))),
        Some(("cookie".to_owned(), format!("token={}", bed.ada))),
    ];
    let mut first = None;
    let agents = [Method::GET, Method::POST, Method::DELETE].map(|method| (method, "/mcp".to_owned()));
    for (method, path) in operations(&bed).await.into_iter().chain(agents) {
        for bad in &bad {
            let mut call = Call::new(method.clone(), &path).json(&json!({}));
            if let Some((name, value)) = bad {
                call = call.header(name, value);
            }
            let answer = bed.send(call).await;
            assert_eq!(answer.status, 401, "{method} {path} {bad:?}");
            assert_eq!(&answer, first.get_or_insert(answer.clone()), "{method} {path} {bad:?}");
        }
        let twice = Call::new(method, &path).json(&json!({})).by(&bed.ada).by(&bed.ada);
        assert_eq!(Some(bed.send(twice).await), first);
    }
    assert_eq!(first.unwrap().headers["www-authenticate"], "Bearer realm=\"memory\"");
}

#[tokio::test]
async fn an_answer_under_way_is_cut_off_once_its_token_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::at(folder.path().join("tokens.json"));
    let (stolen, grant) = token("ada", "read");
    file.add(grant.clone()).unwrap();
    let bed = Bed::beside(Tokens::of_file(file.clone()).unwrap(), memory().await, Config::default());
    for session in ["a", "b", "c", "d"] {
        let message = json!({ "role": "user", "content": "word ".repeat(40_000) });
        bed.ok(Call::post(format!("/v1/sessions/{session}/messages"), &json!({ "messages": [message] }))).await;
    }
    let request = Request::get("/v1/export").header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {stolen}")).body(Body::empty()).unwrap();
    let export = bed.begin(request).await;
    assert_eq!(export.status(), 200);
    revoke(&bed, &file, &stolen, &grant).await;
    assert!(to_bytes(export.into_body(), usize::MAX).await.is_err(), "it was sent to its end");
}

#[tokio::test]
async fn a_token_that_may_read_changes_nothing() {
    let bed = Bed::new().await;
    let mut allowed = Vec::new();
    for (method, path) in operations(&bed).await {
        let answer = bed.send(Call::new(method.clone(), &path).json(&json!({})).by(&bed.reader)).await;
        if answer.status != 403 {
            allowed.push(format!("{method} {path}"));
        }
    }
    allowed.sort();
    let record = "/v1/records/0190b0a0-0000-7000-8000-000000000000";
    let history = format!("GET {record}/history");
    let record = format!("GET {record}");
    assert_eq!(
        allowed,
        [
            "GET /v1/export",
            "GET /v1/openapi.json",
            "GET /v1/records",
            &record,
            &history,
            "GET /v1/sessions",
            "GET /v1/sessions/talk",
            "GET /v1/sessions/talk/messages",
            "GET /v1/status",
            "POST /v1/items",
            "POST /v1/search",
            "POST /v1/sessions/talk/context",
        ]
    );
}

#[tokio::test]
async fn every_route_refuses_the_names_of_others() {
    let bed = Bed::new().await;
    let mut routes = operations(&bed).await;
    routes.extend(
        ["/health", "/ready", "/", "/page.css", "/page.js", "/nothing"].map(|path| (Method::GET, path.to_owned())),
    );
    for (method, path) in routes {
        let call = || Call::new(method.clone(), &path).json(&json!({})).by(&bed.ada);
        for (name, value) in [
            ("host", "evil.example"),
            ("host", "localhost.evil.example"),
            ("origin", "http://evil.example"),
            ("origin", "null"),
        ] {
            assert_eq!(bed.send(call().header(name, value)).await.status, 403, "{method} {path} {name} {value}");
        }
        let own = call().header("host", "127.0.0.1:7777").header("origin", "http://localhost:7777");
        assert_ne!(bed.send(own).await.status, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn the_token_names_the_owner_and_nothing_else_does() {
    let bed = Bed::new().await;
    let remember = |text: &str| Call::post("/v1/records", &json!({ "text": text }));
    let texts = |answer: Value| {
        let records = answer["records"].as_array().unwrap().iter();
        records.map(|record| record["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    bed.ok(remember("Ada has a cat")).await;
    let as_bob = remember("Bob has a dog").by(&bed.tenant).header("memory-subject", "bob");
    assert_eq!(bed.send(as_bob).await.status, 200);
    let list = || Call::get("/v1/records");
    assert_eq!(texts(bed.ok(list()).await), ["Ada has a cat"]);
    assert_eq!(texts(bed.send(list().by(&bed.bob)).await.json()), ["Bob has a dog"]);
    assert_eq!(texts(bed.ok(list().header("memory-subject", "ada")).await), ["Ada has a cat"]);
    // A header does not make Ada another.
    assert_eq!(bed.status(list().header("memory-subject", "bob")).await, 403);
    // Who holds the token of a tenant says whom it means, once.
    let of_tenant = |call: Call| bed.send(call.by(&bed.tenant));
    assert_eq!(of_tenant(list()).await.status, 400);
    assert_eq!(of_tenant(list().header("memory-subject", "ada").header("memory-subject", "bob")).await.status, 400);
    assert_eq!(of_tenant(list().header("memory-subject", "")).await.status, 400);
    assert_eq!(of_tenant(list().header("memory-subject", "*")).await.status, 400);
    assert_eq!(texts(of_tenant(list().header("memory-subject", "größe")).await.json()), [""; 0]);
}

#[tokio::test]
async fn health_readiness_and_the_files_of_the_page_are_for_everybody() {
    let bed = Bed::new().await;
    for path in ["/health", "/ready", "/", "/page.css", "/page.js"] {
        assert_eq!(bed.send(Call::get(path)).await.status, 200);
    }
}
