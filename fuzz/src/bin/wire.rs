//! Requests to the server, over HTTP and MCP, without a socket: every answer is one, and none says that the server failed.
//!
//! 0xFF parts one request from the next. A request is a line with method and address, then the body. `/mcp?graph` offers the tools
//! of that profile.

#![no_main]

use std::cell::RefCell;
use std::collections::HashMap;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use libfuzzer_sys::fuzz_target;
use memory::Timestamp;
use memory_fuzz::{memory, run};
use memory_server::{Agents, Config, Grant, Profile, Rights, Server, Token, Tokens};
use tower::ServiceExt as _;

/// Most requests of one input.
const REQUESTS: usize = 8;

/// How many inputs a memory takes, so that it stays small. Each is of an owner of its own.
const INPUTS: usize = 500;

/// A server, and how many inputs it has taken.
struct Place {
    router: Router,
    token: String,
    inputs: usize,
}

fuzz_target!(|data: &[u8]| {
    // The table of routes takes longer to make than most requests, so a server takes many inputs.
    thread_local! {
        static PLACES: RefCell<HashMap<&'static str, Place>> = RefCell::default();
    }
    let profile = profile(data);
    PLACES.with_borrow_mut(|places| {
        let place = places.entry(profile.name()).or_insert_with(|| serve(profile));
        place.inputs += 1;
        let subject = format!("ada-{}", place.inputs);
        for request in data.split(|byte| *byte == 0xff).take(REQUESTS) {
            let Some(request) = read(request, &place.token, &subject) else { continue };
            run(answered(&place.router, request));
        }
        if place.inputs == INPUTS {
            places.remove(profile.name());
        }
    });
});

fn serve(profile: Profile) -> Place {
    let token = Token::fresh().expect("random bytes");
    let grant = Grant::new(&token, "acme", "*", Rights::all(), Timestamp(0)).expect("a tenant");
    let agents = Agents { profile, allow_forget: true, ..Agents::default() };
    let config = Config { agents, ..Config::default() };
    let server = Server::new(run(memory()), Tokens::default().with(grant), config);
    Place { router: server.router(), token: token.reveal(), inputs: 0 }
}

/// Returns the tools that the first address names.
fn profile(data: &[u8]) -> Profile {
    const MARK: &[u8] = b"/mcp?";
    let named = data.windows(MARK.len()).position(|part| part == MARK).and_then(|at| data.get(at + MARK.len()..));
    let name = named.map(|rest| rest.split(|byte| !byte.is_ascii_lowercase()).next().unwrap_or_default());
    name.and_then(|name| str::from_utf8(name).ok()?.parse().ok()).unwrap_or_default()
}

/// Reads a request; none if HTTP has no such address.
fn read(bytes: &[u8], token: &str, subject: &str) -> Option<Request<Body>> {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, body) = bytes.split_at(end);
    let (method, address) = str::from_utf8(line).ok()?.split_once(' ')?;
    let kind = if address.starts_with("/v1/import") { "application/x-ndjson" } else { "application/json" };
    let request = Request::builder().method(method).uri(address);
    let request = request.header("host", "localhost").header("authorization", format!("Bearer {token}"));
    let request = request.header("content-type", kind).header("accept", "application/json, text/event-stream");
    let request = request.header("mcp-protocol-version", "2025-06-18").header("memory-subject", subject);
    request.body(Body::from(body.get(1..).unwrap_or_default().to_vec())).ok()
}

async fn answered(router: &Router, request: Request<Body>) {
    let (shown, has_body) = (format!("{} {}", request.method(), request.uri()), request.method() != Method::HEAD);
    let Ok(answer) = router.clone().oneshot(request).await;
    let (status, is_problem) = (answer.status(), !answer.status().is_success());
    assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{shown}");
    let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap_or_else(|error| panic!("{shown}: {error}"));
    if has_body && kind.contains("json") && !kind.contains("ndjson") {
        let value: serde_json::Value =
            serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{shown}: {status}: {error}"));
        assert!(!is_problem || value.is_object(), "{shown}: {status}: {value}");
    }
}
