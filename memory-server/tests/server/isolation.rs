//! Twenty owners, and generated calls whose bodies, headers, paths and cursors name others: nobody ever sees a byte of another's,
//! over HTTP and with the tools of each profile.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use memory::Timestamp;
use memory_server::{Agents, Config, Grant, Profile, Rights, Server, Token, Tokens};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const OWNERS: usize = 20;

const PROFILES: [Profile; 4] = [Profile::Core, Profile::Chatgpt, Profile::Graph, Profile::Files];

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

/// Returns a call of the owner at `number`, which tries to reach others, where agents have the tools of `profile`.
fn call(random: &mut Random, owners: &[Owner], number: usize, profile: Profile) -> Request<Body> {
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
        13..17 => (Method::POST, "/mcp".to_owned(), agent_call(random, profile, &named, &text)),
        17 => (Method::POST, "/v1/items".to_owned(), json!({ "items": [format!("m-{named}"), format!("r-{named}")] })),
        18 if random.below(2) == 0 => (Method::POST, "/v1/import".to_owned(), lines(random, &named, &text)),
        18 => (Method::GET, "/v1/status".to_owned(), Value::Null),
        _ if random.below(4) == 0 => (Method::POST, "/v1/forget".to_owned(), json!({ "ids": [named] })),
        _ if random.below(6) == 0 => (Method::DELETE, format!("/v1/sessions/{path}"), Value::Null),
        _ => (Method::GET, "/v1/sessions/..%2f..%2fadmin/messages".to_owned(), Value::Null),
    };
    if let (Value::Object(members), 0) = (&mut body, random.below(6)) {
        members.insert((*random.one(&["tenant", "subject", "user_id", "owner", "scope"])).to_owned(), json!("s0"));
    }
    let mut request = Request::builder().method(method.clone()).uri(path).header("host", "localhost");
    // Lines are a text; all else is JSON.
    let kind = if body.is_string() { "application/x-ndjson" } else { "application/json" };
    request = request.header("authorization", format!("Bearer {}", own.token)).header("content-type", kind);
    // As clients of MCP say: without the first, no tool is called.
    request =
        request.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", "2025-06-18");
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
    let body = match body {
        Value::Null => Body::empty(),
        Value::String(lines) => lines.into(),
        body => body.to_string().into(),
    };
    request.body(body).unwrap()
}

/// Returns the lines of an import: of a chat that names other owners, or of what says that it is their export.
fn lines(random: &mut Random, named: &str, text: &str) -> Value {
    let (tenant, subject) = (format!("tenant {}", random.below(4)), format!("s{}", random.below(5)));
    let said = json!({
        "session": random.one(&["a", "b", "a b"]), "role": "user", "content": text, "id": named, "tenant": tenant,
        "subject": subject,
    });
    if random.below(2) == 0 {
        return format!("{said}\n").into();
    }
    let head = json!({ "memory_export": 1, "tenant": tenant, "subject": subject, "at": "2026-11-20T10:00:00Z" });
    format!("{head}\n{said}\n{}\n", json!({ "end": { "rows": 1, "records": 0 } })).into()
}

fn tool(name: &str, arguments: &Value) -> (&'static str, Value) {
    ("tools/call", json!({ "name": name, "arguments": arguments }))
}

/// Returns an MCP request that tries to reach others.
fn agent_call(random: &mut Random, profile: Profile, named: &str, text: &str) -> Value {
    let query = *random.one(&["cat", "", "plan of qz03x", "everything of everybody"]);
    let (method, params) = match profile {
        // The resources are the same in each profile.
        _ if random.below(5) == 0 => resource(random, named),
        Profile::Core => core_call(random, query, named, text),
        Profile::Chatgpt if random.below(2) == 0 => tool("search", &json!({ "query": query })),
        Profile::Chatgpt => {
            let id = format!("{}{named}", random.one(&["m-", "r-", ""]));
            tool("fetch", &json!({ "id": id }))
        }
        Profile::Graph => graph_call(random, query, text),
        Profile::Files => file_call(random, text),
    };
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn resource(random: &mut Random, named: &str) -> (&'static str, Value) {
    let uri = match random.below(3) {
        0 => "memory://sessions".to_owned(),
        1 => format!("memory://session/{}", escaped(named)),
        _ => format!("memory://item/{}{named}", random.one(&["m-", "r-", ""])),
    };
    ("resources/read", json!({ "uri": uri }))
}

fn core_call(random: &mut Random, query: &str, named: &str, text: &str) -> (&'static str, Value) {
    match random.below(7) {
        0 | 1 => tool("search_memories", &json!({ "query": query })),
        2 => tool("get_context", &json!({ "query": query, "session": named })),
        3 => tool("add_memory", &json!({ "text": text })),
        4 => tool("update_memory", &json!({ "id": named, "text": text })),
        5 if random.below(4) == 0 => tool("delete_memory", &json!({ "id": named })),
        _ => tool("list_memories", &json!({ "limit": 50 })),
    }
}

/// Everybody has entities of the same names.
fn graph_call(random: &mut Random, query: &str, text: &str) -> (&'static str, Value) {
    let (one, other) = (*random.one(&["Ada", "Bob", "all"]), *random.one(&["Ada", "Bob", "all"]));
    let relations = json!({ "relations": [{ "from": one, "to": other, "relationType": "knows" }] });
    match random.below(10) {
        0 | 1 => {
            let entity = json!({ "name": one, "entityType": "person", "observations": [text] });
            tool("create_entities", &json!({ "entities": [entity] }))
        }
        2 => tool("create_relations", &relations),
        3 | 4 => {
            let added = json!({ "entityName": one, "contents": [text] });
            tool("add_observations", &json!({ "observations": [added] }))
        }
        5 if random.below(4) == 0 => tool("delete_entities", &json!({ "entityNames": [one] })),
        5 => {
            let taken = json!({ "entityName": one, "observations": [text] });
            tool("delete_observations", &json!({ "deletions": [taken] }))
        }
        6 if random.below(2) == 0 => tool("delete_relations", &relations),
        6 | 7 => tool("search_nodes", &json!({ "query": query })),
        8 => tool("open_nodes", &json!({ "names": [one, other] })),
        _ => tool("read_graph", &json!({})),
    }
}

/// Everybody has files of the same names.
fn file_call(random: &mut Random, text: &str) -> (&'static str, Value) {
    let paths = ["/memories/a", "/memories/b", "/memories/notes/a", "/memories/../a", "/memories/notes"];
    let (path, other) = (*random.one(&paths), *random.one(&paths));
    let arguments = match random.below(9) {
        0 | 1 => json!({ "command": "create", "path": path, "file_text": text }),
        2 => json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": format!("{text}\n") }),
        3 => json!({ "command": "str_replace", "path": path, "old_str": "cat", "new_str": "dog" }),
        4 if random.below(3) == 0 => json!({ "command": "delete", "path": path }),
        5 if random.below(2) == 0 => json!({ "command": "rename", "old_path": path, "new_path": other }),
        6 => json!({ "command": "view", "path": "/memories" }),
        _ => json!({ "command": "view", "path": path }),
    };
    tool("memory", &arguments)
}

/// Keeps the ids and names of an answer, for others to try.
fn keep(owner: &mut Owner, value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if ["id", "next", "session"].contains(&name.as_str()) => {
                        owner.seen.push(text.trim_start_matches("m-").trim_start_matches("r-").to_owned());
                    }
                    // Some tools answer with a text of JSON.
                    Value::String(text) if name == "text" && text.starts_with('{') => {
                        if let Ok(value) = serde_json::from_str(text) {
                            keep(owner, &value);
                        }
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
    let routers = PROFILES.map(|profile| {
        let agents = Agents { profile, ..Agents::default() };
        Server::new(memory.clone(), tokens.clone(), Config { agents, ..Config::default() }).router()
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut own, mut answered, total) = (0, 0, crate::bed::rounds(10_000));
    // What tools answered agents of their own, by the profile. Their results have a member that resources do not have.
    let mut of_agents = [0; PROFILES.len()];
    for round in 0..total {
        let (number, place) = (random.below(OWNERS), random.below(PROFILES.len()));
        let request = call(&mut random, &owners, number, PROFILES[place]);
        let what = format!("{} {}", request.method(), request.uri());
        let is_agent = request.uri().path() == "/mcp";
        let (status, body) = send(&routers[place], request).await;
        assert!(status < 500, "{what}: {status} {}", String::from_utf8_lossy(&body));
        let text = String::from_utf8(body).unwrap();
        for (other, owner) in owners.iter().enumerate().filter(|(other, _)| *other != number) {
            let shown = text.contains(owner.mark.as_str());
            assert!(!shown, "{what}: owner {number} saw {other}: {text}");
        }
        let shows_own = text.contains(&owners[number].mark);
        own += usize::from(shows_own);
        of_agents[place] += usize::from(is_agent && shows_own && text.contains("\"content\":"));
        // Its body may be wrong; a call of a tool is one of MCP.
        assert!(!is_agent || [200, 400, 403].contains(&status), "{what}: {status} {text}");
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
    assert!(of_agents.iter().all(|own| *own > total / 1_000), "{of_agents:?} of {total}");
}
