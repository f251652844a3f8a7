//! Twenty owners, and generated calls whose bodies, headers, paths and cursors name others: nobody ever sees a byte of another's.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use memory::Timestamp;
use memory_server::{Config, Grant, Rights, Server, Token, Tokens};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const OWNERS: usize = 20;

/// Numbers that look like chance (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % bound
    }

    fn one<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// An owner: the word that stands in all that is theirs, and how they call.
struct Owner {
    mark: String,
    token: String,
    /// The header of a tenant's token.
    subject: Option<String>,
    /// Ids and cursors that their calls were answered with.
    seen: Vec<String>,
}

fn owners() -> (Tokens, Vec<Owner>) {
    let of_tenant = Token::fresh().unwrap();
    let grant = |token: &Token, tenant: &str, subject: &str| {
        Grant::new(token, tenant, subject, Rights::all(), Timestamp(0)).unwrap()
    };
    let mut tokens = Tokens::default().with(grant(&of_tenant, "tenant 1", "*"));
    let mut owners = Vec::new();
    for number in 0..OWNERS {
        let (tenant, subject) = (format!("tenant {}", number % 4), format!("s{}", number / 4));
        let mark = format!("qz{number:02}x");
        if number % 8 == 1 {
            owners.push(Owner { mark, token: of_tenant.reveal(), subject: Some(subject), seen: Vec::new() });
        } else {
            let token = Token::fresh().unwrap();
            tokens = tokens.with(grant(&token, &tenant, &subject));
            owners.push(Owner { mark, token: token.reveal(), subject: None, seen: Vec::new() });
        }
    }
    (tokens, owners)
}

/// The same sessions and ids for everybody, and some that others were answered with.
fn name(random: &mut Random, owners: &[Owner]) -> String {
    let shared = ["a", "b", "a b", "0190b0a0-0000-7000-8000-000000000001", "0190b0a0-0000-7000-8000-000000000002"];
    let other = random.below(owners.len());
    match random.below(3) {
        0 if !owners[other].seen.is_empty() => random.one(&owners[other].seen).clone(),
        _ => (*random.one(&shared)).to_owned(),
    }
}

fn escaped(name: &str) -> String {
    name.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Returns a call of the owner at `number`, which tries to reach others.
fn call(random: &mut Random, owners: &[Owner], number: usize) -> Request<Body> {
    let own = &owners[number];
    let (mark, named) = (&own.mark, name(random, owners));
    let path = escaped(&named);
    let text = format!("{mark} {}", random.one(&["cat", "dog", "plan", "note of everybody"]));
    let session = escaped(random.one::<&str>(&["a", "b", "a b"]));
    let filter = random.one(&["kind = fact", "session = a", "role = user or kind = fact", "not kind = none"]);
    let (method, path, mut body) = match random.below(20) {
        0..3 => (
            Method::POST,
            format!("/v1/sessions/{session}/messages"),
            json!({ "messages": [{ "role": "user", "content": text }] }),
        ),
        3 => (Method::POST, "/v1/records".to_owned(), json!({ "text": text })),
        4 => (Method::PUT, format!("/v1/records/{path}"), json!({ "text": text })),
        5 => (Method::POST, format!("/v1/records/{path}/supersede"), json!({ "text": text })),
        6 => (
            Method::POST,
            "/v1/search".to_owned(),
            json!({ "query": random.one(&["cat", "", "plan of qz03x", "note"]), "filter": filter }),
        ),
        7 => (
            Method::POST,
            format!("/v1/sessions/{session}/context"),
            json!({ "query": "the cat of another", "budget": 2_000 }),
        ),
        8 => (Method::GET, format!("/v1/records?all=true&after={path}"), Value::Null),
        9 => (Method::GET, format!("/v1/sessions?after={path}"), Value::Null),
        10 => (Method::GET, format!("/v1/sessions/{session}/messages?after={}", random.below(4)), Value::Null),
        11 => (Method::GET, format!("/v1/records/{path}{}", random.one(&["", "/history"])), Value::Null),
        12 if random.below(10) == 0 => (Method::GET, "/v1/export".to_owned(), Value::Null),
        12 => (Method::GET, format!("/v1/sessions/{path}"), Value::Null),
        13..17 => (Method::POST, "/mcp".to_owned(), agent_call(random, &named, &text)),
        17 => (Method::POST, "/v1/items".to_owned(), json!({ "items": [format!("m-{named}"), format!("r-{named}")] })),
        18 => (Method::GET, "/v1/status".to_owned(), Value::Null),
        _ if random.below(4) == 0 => (Method::POST, "/v1/forget".to_owned(), json!({ "ids": [named] })),
        _ => (Method::GET, "/v1/sessions/..%2f..%2fadmin/messages".to_owned(), Value::Null),
    };
    if let (Value::Object(members), 0) = (&mut body, random.below(6)) {
        members.insert((*random.one(&["tenant", "subject", "user_id", "owner", "scope"])).to_owned(), json!("s0"));
    }
    let mut request = Request::builder().method(method.clone()).uri(path).header("host", "localhost");
    request =
        request.header("authorization", format!("Bearer {}", own.token)).header("content-type", "application/json");
    let subject = own.subject.clone().or_else(|| (random.below(8) == 0).then(|| format!("s{}", random.below(5))));
    if let Some(subject) = subject {
        request = request.header("memory-subject", subject);
    }
    if method == Method::PUT {
        request = if random.below(2) == 0 {
            request.header("if-none-match", "*")
        } else {
            request.header("if-match", "\"1\"")
        };
    }
    for forged in ["x-forwarded-user", "x-memory-tenant", "x-real-ip", "cookie", "mcp-session-id"] {
        if random.below(8) == 0 {
            request = request.header(forged, format!("s{}", random.below(5)));
        }
    }
    request.body(if body.is_null() { Body::empty() } else { Body::from(body.to_string()) }).unwrap()
}

/// Returns an MCP request that tries to reach others.
fn agent_call(random: &mut Random, named: &str, text: &str) -> Value {
    let tool = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
    let query = *random.one(&["cat", "", "plan of qz03x", "everything of everybody"]);
    let (method, params) = match random.below(9) {
        0 | 1 => tool("search_memories", json!({ "query": query })),
        2 => tool("get_context", json!({ "query": query, "session": named })),
        3 => tool("add_memory", json!({ "text": text })),
        4 => tool("update_memory", json!({ "id": named, "text": text })),
        5 if random.below(4) == 0 => tool("delete_memory", json!({ "id": named })),
        6 => ("resources/read", json!({ "uri": format!("memory://session/{}", escaped(named)) })),
        7 => ("resources/read", json!({ "uri": format!("memory://item/{}{named}", random.one(&["m-", "r-", ""])) })),
        _ => tool("list_memories", json!({ "limit": 50 })),
    };
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Keeps the ids and names of an answer, for others to try.
fn keep(owner: &mut Owner, value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if ["id", "next", "session"].contains(&name.as_str()) => {
                        owner.seen.push(text.clone());
                    }
                    value => keep(owner, value),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keep(owner, item)),
        _ => {}
    }
    let most = owner.seen.len().saturating_sub(50);
    owner.seen.drain(..most);
}

async fn send(router: &Router, request: Request<Body>) -> (u16, Vec<u8>) {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    (status, to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec())
}

#[tokio::test]
async fn no_call_shows_a_byte_of_another_owner() {
    let (tokens, mut owners) = owners();
    let memory = crate::bed::memory().await;
    let router = Server::new(memory.clone(), tokens, Config::default()).router();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut own, mut answered, total) = (0, 0, crate::bed::rounds(10_000));
    for round in 0..total {
        let number = random.below(OWNERS);
        let request = call(&mut random, &owners, number);
        let what = format!("{} {}", request.method(), request.uri());
        let (status, body) = send(&router, request).await;
        assert!(status < 500, "{what}: {status} {}", String::from_utf8_lossy(&body));
        let text = String::from_utf8(body).unwrap();
        for (other, owner) in owners.iter().enumerate().filter(|(other, _)| *other != number) {
            let shown = text.contains(owner.mark.as_str());
            assert!(!shown, "{what}: owner {number} saw {other}: {text}");
        }
        own += usize::from(text.contains(&owners[number].mark));
        answered += usize::from(status == 200);
        if let Ok(value) = serde_json::from_str(&text) {
            keep(&mut owners[number], &value);
        }
        if round % 500 == 0 {
            memory.upkeep_once().await.unwrap();
        }
    }
    // The control: owners do see their own, and most calls are answered.
    assert!(own > total / 20 && answered > total / 3, "{own} {answered} of {total}");
}
