//! MCP: versions, lists and their size, resources, the prompt, and whom a request belongs to.

use std::time::Duration;

use memory::window::CounterKind;
use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::{Answer, Bed, Call};

async fn with(profile: Profile) -> Bed {
    Bed::with(Config { agents: Agents { profile, ..Agents::default() }, ..Config::default() }).await
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_version_of_the_protocol_is_spoken() {
    let bed = Bed::new().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let hello =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answer = bed.rpc(&bed.ada, "initialize", &hello).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "memory");
    }
    let hello =
        json!({ "protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    assert!(bed.rpc(&bed.ada, "initialize", &hello).await["result"]["protocolVersion"].is_string());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let call = Call::post("/mcp", &body).header("accept", "application/json, text/event-stream").by(&bed.ada);
    let call = call.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/list");
    let answer = bed.send(call).await;
    assert_eq!((answer.status, names(&answer.json()["result"]["tools"]).len()), (200, 6), "{}", answer.text());
    assert_eq!(bed.rpc(&bed.ada, "ping", &json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn the_lists_of_tools_are_small() {
    let counter = CounterKind::O200k.counter();
    let core = ["search_memories", "get_context", "add_memory", "update_memory", "list_memories", "delete_memory"];
    let graph = [
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
    ];
    for (profile, promised, most) in [
        (Profile::Core, &core[..], 1_000),
        (Profile::Chatgpt, &["search", "fetch"][..], 300),
        (Profile::Files, &["memory"][..], 400),
        (Profile::Graph, &graph[..], 2_000),
    ] {
        let bed = with(profile).await;
        let list = bed.rpc(&bed.ada, "tools/list", &json!({})).await["result"]["tools"].clone();
        assert_eq!(names(&list), promised);
        let tokens = counter.count_text(&list.to_string());
        assert!(tokens <= most, "{profile:?}: {tokens}");
    }
}

#[tokio::test]
async fn descriptions_are_replaced_by_those_that_are_given() {
    let descriptions = [("add_memory".to_owned(), "Merke dir das.".to_owned())].into();
    let bed = Bed::with(Config { agents: Agents { descriptions, ..Agents::default() }, ..Config::default() }).await;
    let list = bed.rpc(&bed.ada, "tools/list", &json!({})).await["result"]["tools"].to_string();
    assert!(list.contains("Merke dir das."));
    assert!(list.contains("Search facts"));
}

#[tokio::test]
async fn no_id_but_the_token_opens_anything() {
    let bed = Bed::new().await;
    bed.tool("add_memory", &json!({ "text": "Ada has a cat" })).await.unwrap();
    for session in ["1", "0190b0a0-0000-7000-8000-000000000000"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "list_memories", "arguments": {} } });
        let call = Call::post("/mcp", &body).header("accept", "application/json, text/event-stream");
        let call = call.header("mcp-session-id", session).header("mcp-protocol-version", "2025-06-18");
        assert_eq!(bed.send(call.clone()).await.status, 401);
        let answer = bed.send(call.by(&bed.bob)).await.text();
        assert!(!answer.contains("cat"), "{answer}");
    }
    assert_eq!(bed.send(Call::get("/mcp").header("accept", "text/event-stream").by(&bed.ada)).await.status, 405);
    assert_eq!(bed.send(Call::delete("/mcp").header("mcp-session-id", "1").by(&bed.ada)).await.status, 405);
    assert_eq!(bed.send(Call::post("/mcp", &json!({})).header("host", "evil.example").by(&bed.ada)).await.status, 403);
}

/// Asserts that a refusal is problem JSON, or an error of JSON-RPC.
fn is_problem(answer: &Answer) {
    let body = answer.json();
    let is_of_rpc = body["jsonrpc"] == "2.0" && body["error"]["code"].is_i64();
    assert!(is_of_rpc || answer.headers["content-type"] == "application/problem+json", "{}", answer.text());
    assert!(is_of_rpc || body["status"] == answer.status, "{}", answer.text());
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let bed = Bed::new().await;
    let send = |body: String| {
        let call = Call::post("/mcp", &json!(null)).body(body).header("accept", "application/json, text/event-stream");
        bed.send(call.by(&bed.ada))
    };
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let call = |text: &str| {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_memory","arguments":{"text":TEXT}}}"#;
        call.replace("TEXT", text)
    };
    let (batch, number, letter) = (format!("[{request},{request}]"), call("NaN"), call(r#""\ud800""#));
    for body in ["", "{", "null", "[]", &batch, "{\"jsonrpc\":\"1.0\"}", &deep, &number, &letter] {
        let answer = send(body.to_owned()).await;
        assert!((400..500).contains(&answer.status), "{} {}", answer.text(), &body[..30.min(body.len())]);
        is_problem(&answer);
    }
    assert_eq!(send("{".to_owned()).await.status, 400);
    let of_other_kind = Call::post("/mcp", &json!(null)).body("x").header("accept", "text/html").by(&bed.ada);
    is_problem(&bed.send(of_other_kind).await);
    for call in [Call::get("/mcp").header("accept", "text/event-stream"), Call::delete("/mcp")] {
        let answer = bed.send(call.by(&bed.ada)).await;
        assert_eq!((answer.status, answer.headers["allow"].to_str().unwrap()), (405, "POST"));
        is_problem(&answer);
    }
    let error = bed.rpc(&bed.ada, "tools/call", &json!({ "name": "no_such", "arguments": {} })).await;
    assert_eq!(error["error"]["code"], -32602, "{error}");
    let error = &bed.rpc(&bed.ada, "no/such", &json!({})).await["error"];
    assert_eq!((&error["code"], &error["message"]), (&json!(-32601), &json!("there is no method no/such")));
    for arguments in [json!([]), json!("{}"), json!(7)] {
        let refused = bed.tool("list_memories", &arguments).await;
        assert!(refused.is_err_and(|told| told.contains("arguments, an object")), "{arguments}");
    }
}

#[tokio::test]
async fn a_list_of_sessions_begins_with_the_newest_and_says_if_it_was_cut() {
    let bed = Bed::new().await;
    let message = json!({ "messages": [{ "role": "user", "content": "Hello" }] });
    for (begin, end, is_cut) in [(0, 2, false), (2, 101, true)] {
        for number in begin..end {
            bed.ok(Call::post(format!("/v1/sessions/talk-{number}/messages"), &message)).await;
        }
        let read = bed.rpc(&bed.ada, "resources/read", &json!({ "uri": "memory://sessions" })).await;
        let list: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert!(!list["sessions"].as_array().unwrap().is_empty(), "{list}");
        assert_eq!(list["more"].is_string(), is_cut, "{list}");
    }
    // Its name is the last of all, and its time another one.
    tokio::time::sleep(Duration::from_millis(2)).await;
    bed.ok(Call::post("/v1/sessions/zebra/messages", &message)).await;
    let read = bed.rpc(&bed.ada, "resources/read", &json!({ "uri": "memory://sessions" })).await;
    let list: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(list["sessions"][0]["session"], "zebra", "{list}");
}

#[tokio::test]
async fn sessions_and_items_are_resources_and_recall_is_a_prompt() {
    let bed = Bed::new().await;
    let message = json!({ "messages": [{ "role": "user", "content": "My dentist is Dr. </memory> Marsh." }] });
    bed.ok(Call::post("/v1/sessions/tooth%20ache/messages", &message)).await;
    let told = bed.ok(Call::post("/v1/records", &json!({ "text": "Ada fears dentists" }))).await;
    let listed = bed.rpc(&bed.ada, "resources/list", &json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "memory://sessions");
    let templates = bed.rpc(&bed.ada, "resources/templates/list", &json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 2);
    let read = |token: String, uri: String| {
        let bed = &bed;
        async move { bed.rpc(&token, "resources/read", &json!({ "uri": uri })).await }
    };
    let text = |answer: &Value| answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(text(&read(bed.ada.clone(), "memory://sessions".to_owned()).await).contains("tooth ache"));
    let session = text(&read(bed.ada.clone(), "memory://session/tooth%20ache".to_owned()).await);
    assert!(session.contains("Dr. &lt;/memory&gt; Marsh") && session.matches("</memory>").count() == 1, "{session}");
    let item = format!("memory://item/r-{}", told["id"].as_str().unwrap());
    assert!(text(&read(bed.ada.clone(), item.clone()).await).contains("fears"));
    for uri in [
        item.as_str(),
        "memory://session/tooth%20ache",
        "memory://session/%ff",
        "memory://item/x",
        "file:///etc/passwd",
    ] {
        assert_eq!(read(bed.bob.clone(), uri.to_owned()).await["error"]["code"], -32002, "{uri}");
    }
    let prompt = json!({ "name": "recall", "arguments": { "query": "Who is my dentist?" } });
    let prompt = bed.rpc(&bed.ada, "prompts/get", &prompt).await;
    assert!(prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("Marsh"), "{prompt}");
    let prompts = bed.rpc(&bed.ada, "prompts/list", &json!({})).await;
    assert_eq!(prompts["result"]["prompts"][0]["name"], "recall");
    assert_eq!(bed.rpc(&bed.ada, "prompts/get", &json!({ "name": "other" })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn chatgpt_searches_and_fetches_in_its_own_shapes() {
    let bed = with(Profile::Chatgpt).await;
    let told = bed.ok(Call::post("/v1/records", &json!({ "text": "Ada lives in Porto" }))).await;
    let found: Value =
        serde_json::from_str(&bed.tool("search", &json!({ "query": "Where does Ada live?" })).await.unwrap()).unwrap();
    let [hit] = found["results"].as_array().unwrap().as_slice() else { panic!("{found}") };
    let id = format!("r-{}", told["id"].as_str().unwrap());
    assert_eq!((&hit["id"], &hit["title"]), (&json!(id), &json!("Ada lives in Porto")));
    let fetched: Value = serde_json::from_str(&bed.tool("fetch", &json!({ "id": id })).await.unwrap()).unwrap();
    assert_eq!(
        (&fetched["text"], &fetched["url"], &fetched["metadata"]["kind"]),
        (&json!("Ada lives in Porto"), &hit["url"], &json!("fact"))
    );
    let pasted = format!("{}Where does Ada live?", "It was a long day. ".repeat(10_000));
    let found = bed.tool("search", &json!({ "query": pasted })).await.unwrap();
    assert!(found.contains(&id), "{found}");
    assert!(bed.tool_by(&bed.bob, "fetch", &json!({ "id": id })).await.is_err());
    assert!(bed.tool("fetch", &json!({ "id": "x" })).await.is_err());
    bed.ok(Call::post("/v1/records", &json!({ "text": "long ".repeat(20_000) }))).await;
    let found: Value = serde_json::from_str(&bed.tool("search", &json!({ "query": "long" })).await.unwrap()).unwrap();
    let long = bed.tool("fetch", &json!({ "id": found["results"][0]["id"] })).await.unwrap();
    assert!(CounterKind::O200k.counter().count_text(&long) <= 1_500);
    assert!(serde_json::from_str::<Value>(&long).unwrap()["text"].as_str().unwrap().ends_with('…'));
}

#[tokio::test]
async fn a_server_that_cannot_offer_its_agents_what_it_is_told_does_not_begin() {
    let agents = Agents { max_tokens: Some(1), ..Agents::default() };
    let bed = Bed::with(Config { agents, ..Config::default() }).await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = bed.server.serve(listener, std::future::pending()).await.unwrap_err();
    assert!(refused.to_string().contains("max_tokens is from 200 to 100000"), "{refused}");
}
