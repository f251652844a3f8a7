//! Twenty owners, and generated calls whose bodies, headers, paths and cursors name others: nobody ever sees a byte of another's, or
//! forgets one, over HTTP and with the tools of each profile.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use memory_server::{Agents, Config, Profile, Server};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::bed::{Bed, Call};
use crate::chance::{Random, escaped};
use crate::reaching::{OWNERS, Owner, call, owners};

const PROFILES: [Profile; 4] = [Profile::Core, Profile::Chatgpt, Profile::Graph, Profile::Files];

/// The kinds of calls that store something, and of those that show an owner what is theirs.
const WRITES: [&str; 7] = ["append", "remember", "derive", "put", "supersede", "import", "forget"];
const READS: [&str; 15] = [
    "search",
    "search in a session",
    "context",
    "records",
    "some records",
    "messages",
    "messages before",
    "record",
    "history after",
    "items",
    "export",
    "export of a session",
    "tool",
    "resource",
    "prompt",
];

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
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    crate::bed::check_documented(&method, &path, status);
    (status, to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec())
}

/// Stores for each owner what others alone will name.
async fn keep_for_all(router: &Router, owners: &[Owner]) {
    for owner in owners {
        let [session, message, record] = &owner.kept;
        let text = format!("{} keeps this", owner.mark);
        let said = json!({ "messages": [{ "id": message, "role": "user", "content": text }] });
        let path = format!("/v1/sessions/{}/messages", escaped(session));
        let told = json!({ "id": record, "text": text, "session": session });
        for (path, body) in [(path.as_str(), said), ("/v1/records", told)] {
            let request = owner.begin(Method::POST, path).header("content-type", "application/json");
            assert_eq!(send(router, request.body(body.to_string().into()).unwrap()).await.0, 200, "{path}");
        }
    }
}

/// Asserts that each owner still has what others alone have named.
async fn check_kept(router: &Router, owners: &[Owner]) {
    for owner in owners {
        let [session, message, record] = &owner.kept;
        let of_session = format!("/v1/sessions/{}/messages", escaped(session));
        for (path, id) in [(of_session, message), (format!("/v1/records/{record}"), record)] {
            let (status, body) = send(router, owner.begin(Method::GET, &path).body(Body::empty()).unwrap()).await;
            let text = String::from_utf8(body).unwrap();
            assert!(status == 200 && text.contains(&owner.mark) && text.contains(id.as_str()), "{path}: {text}");
        }
    }
}

#[tokio::test]
async fn no_call_shows_a_byte_of_another_owner() {
    let (tokens, mut owners) = owners();
    let memory = crate::bed::memory().await;
    let routers = PROFILES.map(|profile| {
        let agents = Agents { profile, allow_forget: true, ..Agents::default() };
        Server::new(memory.clone(), tokens.clone(), Config { agents, ..Config::default() }).router()
    });
    keep_for_all(&routers[0], &owners).await;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut own, mut answered, total) = (0, 0, crate::bed::rounds(10_000));
    // How often a kind of call was answered, and with something of the owner's.
    let (mut by_kind, mut own_by_kind) = (BTreeMap::new(), BTreeMap::new());
    // What tools answered agents of their own, by the profile.
    let mut of_agents = [0; PROFILES.len()];
    for round in 0..total {
        let (number, place) = (random.below(OWNERS), random.below(PROFILES.len()));
        let (kind, request) = call(&mut random, &owners, number, PROFILES[place]);
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
        of_agents[place] += usize::from(kind == "tool" && shows_own);
        *own_by_kind.entry(kind).or_insert(0) += usize::from(shows_own);
        *by_kind.entry(kind).or_insert(0) += usize::from(status == 200);
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
    check_kept(&routers[0], &owners).await;
    // The control: owners do see their own, and most calls are answered, of each kind some.
    assert!(own > total / 20 && answered > total / 3, "{own} {answered} of {total}");
    assert!(of_agents.iter().all(|own| *own > total / 1_000), "{of_agents:?} of {total}");
    assert!(WRITES.iter().all(|kind| by_kind.get(kind) > Some(&0)), "{by_kind:?}");
    assert!(READS.iter().all(|kind| own_by_kind.get(kind) > Some(&0)), "{own_by_kind:?}");
}

#[tokio::test]
async fn what_another_owner_has_is_answered_like_what_nobody_has() {
    let bed = Bed::new().await;
    let message = json!({ "messages": [{ "role": "user", "content": "Ada has a cat" }] });
    let message = bed.ok(Call::post("/v1/sessions/of-ada/messages", &message)).await["stored"][0]["id"].clone();
    let fact = json!({ "text": "Ada has a dog", "session": "of-ada" });
    let record = bed.ok(Call::post("/v1/records", &fact)).await["id"].clone();
    let own = bed.send(Call::post("/v1/records", &json!({ "text": "Bob has a boat" })).by(&bed.bob)).await.json();
    let own = own["id"].as_str().unwrap();
    let by_id = |id: &str| {
        let derived = json!({ "text": "Bob has a ship", "sources": [id] });
        let search = json!({ "query": "cat", "filter": format!("source = r-{id} or source = m-{id}") });
        vec![
            Call::post("/v1/records", &derived),
            Call::post(format!("/v1/records/{own}/supersede"), &derived),
            Call::post(format!("/v1/records/{id}/supersede"), &json!({ "text": "Bob has a ship" })),
            Call::put(format!("/v1/records/{own}"), &derived).header("if-match", "\"1\""),
            Call::put(format!("/v1/records/{id}"), &fact).header("if-match", "\"1\""),
            Call::get(format!("/v1/records/{id}")),
            Call::get(format!("/v1/records/{id}/history?after=0.{id}")),
            Call::get(format!("/v1/records?after={id}&filter=source%20%3D%20r-{id}")),
            Call::post("/v1/search", &search),
            Call::post("/v1/items", &json!({ "items": [format!("m-{id}"), format!("r-{id}")] })),
            Call::post("/v1/forget", &json!({ "ids": [id] })),
        ]
    };
    let by_session = |name: &str| {
        vec![
            Call::get(format!("/v1/sessions/{name}")),
            Call::get(format!("/v1/sessions/{name}/messages?before=9&view=all")),
            Call::get(format!("/v1/export?session={name}")),
            Call::post("/v1/search", &json!({ "query": "cat", "session": name })),
            Call::get(format!("/v1/records?filter=session%20%3D%20%22{name}%22")),
            Call::post("/v1/forget", &json!({ "session": name })),
        ]
    };
    let nobodys = "0190b0a0-0000-7000-8000-0000000000aa";
    let [message, record] = [&message, &record].map(|id| id.as_str().unwrap());
    let told = async |call: Call, name: &str| {
        let answer = bed.send(call.by(&bed.bob)).await;
        (answer.status, answer.text().replace(name, "NAME"))
    };
    let cases = [(by_id(message), by_id(nobodys), message), (by_id(record), by_id(nobodys), record)];
    for (of_ada, of_nobody, id) in cases {
        for (hers, nobody) in of_ada.into_iter().zip(of_nobody) {
            let what = format!("{hers:?}");
            assert_eq!(told(hers, id).await, told(nobody, nobodys).await, "{what}");
        }
    }
    for (hers, nobody) in by_session("of-ada").into_iter().zip(by_session("of-nobody")) {
        let what = format!("{hers:?}");
        assert_eq!(told(hers, "of-ada").await, told(nobody, "of-nobody").await, "{what}");
    }
    bed.ok(Call::get(format!("/v1/records/{record}"))).await;
    let left = bed.ok(Call::get("/v1/sessions/of-ada/messages")).await;
    assert_eq!(left["shown"][0]["id"], message, "{left}");
}
