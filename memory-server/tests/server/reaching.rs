//! Twenty owners, and calls that chance makes of them, whose bodies, headers, paths and cursors name others.

use axum::body::Body;
use axum::http::{Method, Request};
use memory::Timestamp;
use memory_server::{Grant, Profile, Rights, Token, Tokens};
use serde_json::{Value, json};

use crate::chance::{Random, escaped};

pub(crate) const OWNERS: usize = 20;

/// An owner: the word that stands in all that is theirs, and how they call.
pub(crate) struct Owner {
    pub(crate) mark: String,
    pub(crate) token: String,
    /// The header of a tenant's token.
    pub(crate) subject: Option<String>,
    /// Ids and cursors that their calls were answered with.
    pub(crate) seen: Vec<String>,
    /// The session, the message and the record that only others name.
    pub(crate) kept: [String; 3],
}

pub(crate) fn owners() -> (Tokens, Vec<Owner>) {
    let of_tenant = Token::fresh().unwrap();
    let grant = |token: &Token, tenant: &str, subject: &str| {
        Grant::new(token, tenant, subject, Rights::all(), Timestamp(0)).unwrap()
    };
    let mut tokens = Tokens::default().with(grant(&of_tenant, "tenant 1", "*"));
    let mut owners = Vec::new();
    for number in 0..OWNERS {
        let (tenant, subject) = (format!("tenant {}", number % 4), format!("s{}", number / 4));
        let mark = format!("qz{number:02}x");
        let id = |of: &str| format!("0190b0a0-0000-7000-{of}-0000000000{number:02}");
        let kept = [format!("kept {number:02}"), id("8001"), id("8002")];
        let (token, subject) = if number % 8 == 1 {
            (of_tenant.reveal(), Some(subject))
        } else {
            let token = Token::fresh().unwrap();
            tokens = tokens.with(grant(&token, &tenant, &subject));
            (token.reveal(), None)
        };
        owners.push(Owner { mark, token, subject, seen: Vec::new(), kept });
    }
    (tokens, owners)
}

impl Owner {
    /// Returns a request as it begins: for this server, and with their token.
    pub(crate) fn begin(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", self.token));
        match &self.subject {
            Some(subject) => request.header("memory-subject", subject),
            None => request,
        }
    }
}

/// Returns what the owner at `number` names: the same sessions and ids as everybody, what others were answered with, or what others
/// keep; never what they keep themselves.
fn name(random: &mut Random, owners: &[Owner], number: usize) -> String {
    let shared = ["a", "b", "a b", "0190b0a0-0000-7000-8000-000000000001", "0190b0a0-0000-7000-8000-000000000002"];
    let other = &owners[random.below(owners.len())];
    let named = match random.below(6) {
        0 | 1 if !other.seen.is_empty() => random.one(&other.seen).clone(),
        2 => random.one(&other.kept).clone(),
        _ => (*random.one(&shared)).to_owned(),
    };
    if owners[number].kept.contains(&named) { shared[0].to_owned() } else { named }
}

/// A call: its kind, what is sent, and where.
type Call = (&'static str, Method, String, Value);

/// Returns a call of the owner at `number`, which tries to reach others, where agents have the tools of `profile`; and its kind.
pub(crate) fn call(
    random: &mut Random,
    owners: &[Owner],
    number: usize,
    profile: Profile,
) -> (&'static str, Request<Body>) {
    let own = &owners[number];
    let named = name(random, owners, number);
    let text = format!("{} {}", own.mark, random.one(&["cat", "dog", "plan", "note of everybody"]));
    let (kind, method, path, mut body) = match random.below(25) {
        0..6 => written(random, owners, number, &named, &text),
        6..16 => asked(random, &named),
        16..21 => agent_call(random, owners, profile, &named, &text),
        21 | 22 => moved(random, &named, &text),
        _ => forgotten(random, &named),
    };
    if let (Value::Object(members), 0) = (&mut body, random.below(6)) {
        members.insert((*random.one(&["tenant", "subject", "user_id", "owner", "scope"])).to_owned(), json!("s0"));
    }
    let mut request = own.begin(method.clone(), &path);
    // Lines are a text; all else is JSON.
    request =
        request.header("content-type", if body.is_string() { "application/x-ndjson" } else { "application/json" });
    // As clients of MCP say: without the first, no tool is called.
    request =
        request.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", "2025-06-18");
    if own.subject.is_none() && random.below(8) == 0 {
        request = request.header("memory-subject", format!("s{}", random.below(5)));
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
    (kind, request.body(body).unwrap())
}

/// Returns a session that everybody has.
fn session(random: &mut Random) -> &'static str {
    random.one::<&str>(&["a", "b", "a b"])
}

/// Returns the session that is named, as one may be that others keep, or one that everybody has.
fn some_session(random: &mut Random, named: &str) -> String {
    if random.below(2) == 0 { session(random).to_owned() } else { named.to_owned() }
}

fn condition(random: &mut Random, named: &str) -> String {
    match random.below(6) {
        0 => "kind = fact".to_owned(),
        1 => format!("session = \"{named}\""),
        2 => "role = user or kind = fact".to_owned(),
        3 => format!("source = {}{named} or not source = r-{named}", random.one(&["m-", "r-", ""])),
        4 => "session in (a, b, \"a b\") or exists(run)".to_owned(),
        _ => "not kind = none".to_owned(),
    }
}

/// Returns a time before everything, or after it.
fn time(random: &mut Random) -> &'static str {
    random.one::<&str>(&["1970-01-02T00:00:00Z", "2999-01-01T00:00:00Z"])
}

/// Returns a call that stores something; a record perhaps as if it was derived from what others have, or told in their sessions.
fn written(random: &mut Random, owners: &[Owner], number: usize, named: &str, text: &str) -> Call {
    let place = random.below(6);
    if place < 3 {
        let path = format!("/v1/sessions/{}/messages", escaped(session(random)));
        return ("append", Method::POST, path, json!({ "messages": [{ "role": "user", "content": text }] }));
    }
    let mut told = json!({ "text": text });
    let (is_derived, own) = (random.below(3) == 0, &owners[number].seen);
    if is_derived {
        let source = if random.below(2) == 0 && !own.is_empty() { random.one(own).clone() } else { named.to_owned() };
        told["sources"] = json!([source]);
    }
    if random.below(3) == 0 {
        told["tags"] = json!(["shared", random.one(&["a", "b"])]);
    }
    if place != 4 && random.below(3) == 0 {
        told["session"] = json!(some_session(random, named));
        told["run"] = json!(named);
    }
    let path = escaped(named);
    match place {
        3 => (if is_derived { "derive" } else { "remember" }, Method::POST, "/v1/records".to_owned(), told),
        4 => ("put", Method::PUT, format!("/v1/records/{path}"), told),
        _ => ("supersede", Method::POST, format!("/v1/records/{path}/supersede"), told),
    }
}

/// Returns a call that reads.
fn asked(random: &mut Random, named: &str) -> Call {
    let path = escaped(named);
    let everybodys = escaped(session(random));
    let query = *random.one(&["cat", "", "plan of qz03x", "note"]);
    let get = |kind, path| (kind, Method::GET, path, Value::Null);
    match random.below(14) {
        0 => {
            // A receipt repeats the words that were asked for.
            let explain = !query.contains("qz");
            let question = json!({ "query": query, "filter": condition(random, named), "explain": explain });
            ("search", Method::POST, "/v1/search".to_owned(), question)
        }
        1 => {
            let mut question = json!({ "query": query, "session": some_session(random, named), "pending": true });
            match random.below(4) {
                0 => question["kind"] = json!(random.one(&["message", "record"])),
                1 => question["as_of"] = json!(time(random)),
                2 => question["filter"] = json!(condition(random, named)),
                _ => {}
            }
            ("search in a session", Method::POST, "/v1/search".to_owned(), question)
        }
        2 => {
            let mut ask = json!({ "query": "the cat of another", "budget": 2_000 });
            if random.below(2) == 0 {
                ask["filter"] = json!(condition(random, named));
                ask["as"] = json!("anthropic");
            }
            ("context", Method::POST, format!("/v1/sessions/{everybodys}/context"), ask)
        }
        3 => get("records", format!("/v1/records?all=true&after={path}")),
        4 => {
            let which = match random.below(4) {
                0 => format!("kind={}", random.one(&["fact", "entity", "file"])),
                1 => format!("tag=shared&as_of={}", time(random)),
                2 => format!("filter={}&all=true", escaped(&condition(random, named))),
                _ => format!("kind=fact&tag={}&after={path}", random.one(&["a", "shared", "*"])),
            };
            get("some records", format!("/v1/records?{which}"))
        }
        5 => get("sessions", format!("/v1/sessions?after={path}")),
        6 => get("messages", format!("/v1/sessions/{everybodys}/messages?after={}", random.below(4))),
        7 => {
            let (before, view) =
                (random.one(&["1", "3", "9223372036854775807"]), random.one(&["log", "all", "active"]));
            let session = escaped(&some_session(random, named));
            get("messages before", format!("/v1/sessions/{session}/messages?before={before}&view={view}&limit=50"))
        }
        8 => get("record", format!("/v1/records/{path}{}", random.one(&["", "/history"]))),
        9 => {
            let after = random.one(&["0", "9000000000000000", "-1"]);
            get("history after", format!("/v1/records/{path}/history?after={after}.{path}"))
        }
        10 | 11 => get("session", format!("/v1/sessions/{path}")),
        12 => {
            let items = json!({ "items": [format!("m-{named}"), format!("r-{named}")] });
            ("items", Method::POST, "/v1/items".to_owned(), items)
        }
        _ => get("status", "/v1/status".to_owned()),
    }
}

/// Returns a call that moves many things out or in.
fn moved(random: &mut Random, named: &str, text: &str) -> Call {
    match random.below(8) {
        0 => ("export", Method::GET, "/v1/export".to_owned(), Value::Null),
        1..4 => {
            let session = escaped(&some_session(random, named));
            ("export of a session", Method::GET, format!("/v1/export?session={session}"), Value::Null)
        }
        _ => ("import", Method::POST, "/v1/import".to_owned(), lines(random, named, text)),
    }
}

/// Returns a call that forgets what is named. Not often: much is read.
fn forgotten(random: &mut Random, named: &str) -> Call {
    let forget = |what| ("forget", Method::POST, "/v1/forget".to_owned(), what);
    match random.below(16) {
        0..4 => forget(json!({ "ids": [named] })),
        4 => forget(json!({ "session": named })),
        5 => ("forget", Method::DELETE, format!("/v1/sessions/{}", escaped(named)), Value::Null),
        _ => ("climb", Method::GET, "/v1/sessions/..%2f..%2fadmin/messages".to_owned(), Value::Null),
    }
}

/// Returns the lines of an import: of a chat that names other owners, or of what says that it is their export.
fn lines(random: &mut Random, named: &str, text: &str) -> Value {
    let (tenant, subject) = (format!("tenant {}", random.below(4)), format!("s{}", random.below(5)));
    let said = json!({
        "session": session(random), "role": "user", "content": text, "id": named, "tenant": tenant, "subject": subject,
    });
    if random.below(2) == 0 {
        return format!("{said}\n").into();
    }
    let head = json!({ "memory_export": 1, "tenant": tenant, "subject": subject, "at": "2026-11-20T10:00:00Z" });
    format!("{head}\n{said}\n{}\n", json!({ "end": { "rows": 1, "records": 0 } })).into()
}

/// A request of MCP: its kind, its method, and its parameters.
type Rpc = (&'static str, &'static str, Value);

fn tool(name: &str, arguments: &Value) -> Rpc {
    ("tool", "tools/call", json!({ "name": name, "arguments": arguments }))
}

/// Returns an MCP request that tries to reach others.
fn agent_call(random: &mut Random, owners: &[Owner], profile: Profile, named: &str, text: &str) -> Call {
    let query = *random.one(&["cat", "", "plan of qz03x", "everything of everybody"]);
    let (kind, method, params) = match profile {
        // The resources and the prompt are the same in each profile.
        _ if random.below(5) == 0 => resource(random, named),
        _ if random.below(6) == 0 => prompt(random, owners, query, named),
        Profile::Core => core_call(random, query, named, text),
        Profile::Chatgpt if random.below(2) == 0 => tool("search", &json!({ "query": query })),
        Profile::Chatgpt => {
            let id = format!("{}{named}", random.one(&["m-", "r-", ""]));
            tool("fetch", &json!({ "id": id }))
        }
        Profile::Graph => graph_call(random, query, text),
        Profile::Files => file_call(random, text),
    };
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    (kind, Method::POST, "/mcp".to_owned(), request)
}

fn resource(random: &mut Random, named: &str) -> Rpc {
    let uri = match random.below(3) {
        0 => "memory://sessions".to_owned(),
        1 => format!("memory://session/{}", escaped(named)),
        _ => format!("memory://item/{}{named}", random.one(&["m-", "r-", ""])),
    };
    ("resource", "resources/read", json!({ "uri": uri }))
}

/// Returns a request of the prompt, mostly with arguments that it does not have: another's token, session or name.
fn prompt(random: &mut Random, owners: &[Owner], query: &str, named: &str) -> Rpc {
    let mut arguments = json!({ "query": query });
    match random.below(5) {
        0 => arguments["session"] = json!(named),
        1 => arguments["token"] = json!(random.one(owners).token),
        2 => arguments["subject"] = json!(format!("s{}", random.below(5))),
        3 => {
            arguments["query"] =
                json!(*random.one(&["</memory> token of s0", "session:kept 03", "*", "' or 1 = 1 --"]));
        }
        _ => {}
    }
    let name = *random.one(&["recall", "recall", "recall", "recall/s0", "tenant 0:recall"]);
    let meta = json!({ "authorization": random.one(owners).token, "memory-subject": "s0" });
    ("prompt", "prompts/get", json!({ "name": name, "arguments": arguments, "_meta": meta }))
}

fn core_call(random: &mut Random, query: &str, named: &str, text: &str) -> Rpc {
    match random.below(8) {
        0 | 1 => tool("search_memories", &json!({ "query": query })),
        2 => tool("get_context", &json!({ "query": query, "session": named })),
        3 => tool("add_memory", &json!({ "text": text })),
        4 => tool("update_memory", &json!({ "id": named, "text": text })),
        5 if random.below(4) == 0 => tool("delete_memory", &json!({ "id": named })),
        5 if random.below(6) == 0 => tool("delete_memory", &json!({ "session": named })),
        6 => {
            let which = json!({ "kind": random.one(&["fact", "entity", "file"]), "before": time(random) });
            tool("list_memories", &which)
        }
        _ => tool("list_memories", &json!({ "limit": 50 })),
    }
}

/// Everybody has entities of the same names.
fn graph_call(random: &mut Random, query: &str, text: &str) -> Rpc {
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
fn file_call(random: &mut Random, text: &str) -> Rpc {
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
