//! The profile `core`: six tools.

use std::sync::Arc;

use memory::model::HashEmbedder;
use memory::{Defaults, Gate};
use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

fn id_in(text: &str) -> String {
    text.split_whitespace()
        .find_map(|word| word.trim_end_matches(['.', ',']).parse::<memory::RecordId>().ok())
        .unwrap()
        .to_string()
}

#[tokio::test]
async fn what_an_agent_adds_is_found_replaced_listed_and_deleted() {
    let bed = Bed::new().await;
    let stored = bed
        .tool("add_memory", &json!({ "text": "Ada lives in Lyon", "kind": "fact", "tags": ["home"] }))
        .await
        .unwrap();
    let id = id_in(&stored);
    let again = bed.tool("add_memory", &json!({ "text": "Ada lives in Lyon." })).await.unwrap();
    assert_eq!((again.starts_with("Known already"), id_in(&again)), (true, id.clone()));
    let record = bed.ok(Call::get(format!("/v1/records/{id}"))).await;
    assert_eq!((&record["trust"], &record["origin"]), (&json!("assistant"), &json!("mcp")));
    let found = bed.tool("search_memories", &json!({ "query": "Where does Ada live?", "limit": 3.0 })).await.unwrap();
    assert!(
        found.contains(&format!("id=\"{id}\"")) && found.contains("trust=\"assistant\"") && found.contains("UTC\""),
        "{found}"
    );
    let updated = bed.tool("update_memory", &json!({ "id": id, "text": "Ada lives in Porto" })).await.unwrap();
    assert!(updated.contains(&id));
    let found = bed.tool("search_memories", &json!({ "query": "Where does Ada live?" })).await.unwrap();
    assert!(found.contains("Porto") && !found.contains("Lyon"), "{found}");
    let new = bed.ok(Call::get("/v1/records?tag=home")).await;
    assert_eq!(
        (&new["records"][0]["text"], &new["records"][0]["trust"]),
        (&json!("Ada lives in Porto"), &json!("assistant"))
    );
    let listed = bed.tool("list_memories", &json!({ "tag": "home" })).await.unwrap();
    assert!(listed.contains("Porto") && !listed.contains("Lyon"));
    let context = bed.tool("get_context", &json!({ "query": "Where do I live now?" })).await.unwrap();
    assert!(context.contains("Porto"), "{context}");
    let new = id_in(&updated);
    assert!(bed.tool("delete_memory", &json!({ "id": new })).await.unwrap().starts_with("Deleted 1"));
    assert_eq!(bed.tool("list_memories", &json!({})).await.unwrap(), "Nothing was found.");
    assert!(bed.tool("delete_memory", &json!({ "id": new })).await.unwrap_err().contains("no memory"));
}

#[tokio::test]
async fn what_a_model_may_not_do_is_told_in_words_it_can_act_on() {
    let bed = Bed::new().await;
    let kept = json!({ "text": "Never name prices", "trust": "system" });
    let id = bed.ok(Call::post("/v1/records", &kept)).await["id"].clone();
    let refused = bed.tool("update_memory", &json!({ "id": id, "text": "Name prices" })).await.unwrap_err();
    assert!(refused.contains("application"), "{refused}");
    let instruction = json!({ "messages": [{ "role": "system", "content": "Never name prices" }, { "role": "user", "content": "Hello" }] });
    bed.ok(Call::post("/v1/sessions/talk/messages", &instruction)).await;
    let said = bed.ok(Call::get("/v1/sessions/talk/messages")).await["shown"].clone();
    assert_eq!((&said[0]["trust"], &said[1]["trust"]), (&json!("system"), &json!("user")));
    for kept in [&id, &said[0]["id"]] {
        let refused = bed.tool("delete_memory", &json!({ "id": kept })).await.unwrap_err();
        assert!(refused.contains("application"), "{refused}");
    }
    bed.ok(Call::get(format!("/v1/records/{}", id.as_str().unwrap()))).await;
    assert!(bed.tool("delete_memory", &json!({ "id": said[1]["id"] })).await.unwrap().starts_with("Deleted 1"));
    for (tool, arguments, word) in [
        ("add_memory", json!({ "text": 3 }), "expected a string"),
        ("add_memory", json!({}), "missing field `text`"),
        ("add_memory", json!({ "text": "x", "owner": "bob" }), "unknown field `owner`"),
        ("add_memory", json!({ "text": "" }), "text"),
        ("search_memories", json!({ "query": "x", "limit": 51 }), "1 to 50"),
        ("search_memories", json!({ "query": "x", "max_tokens": 3 }), "max_tokens"),
        ("search_memories", json!({ "query": ["x"] }), "expected a string"),
        ("update_memory", json!({ "id": "7", "text": "x" }), "not the id of a record"),
        ("list_memories", json!({ "before": "soon" }), "not a time"),
        ("delete_memory", json!({ "id": "s-talk.0" }), "not the id of a message or record"),
        ("delete_memory", json!({}), "id of one memory"),
        ("delete_memory", json!({ "everything": true }), "not allowed"),
        ("delete_memory", json!({ "session": "talk" }), "not allowed"),
    ] {
        let why = bed.tool(tool, &arguments).await.unwrap_err();
        assert!(why.contains(word), "{tool} {arguments}: {why}");
    }
    assert!(
        bed.tool_by(&bed.reader, "add_memory", &json!({ "text": "x" })).await.unwrap_err().contains("right to write")
    );
    assert!(
        bed.tool_by(&bed.reader, "delete_memory", &json!({ "id": id })).await.unwrap_err().contains("right to forget")
    );
}

#[tokio::test]
async fn who_may_write_alone_is_not_told_what_is_known() {
    let bed = Bed::new().await;
    let fact = |text: &str| json!({ "text": text });
    let id = id_in(&bed.tool("add_memory", &fact("Ada has a cat")).await.unwrap());
    assert_eq!(bed.tool_by(&bed.writer, "add_memory", &fact("Ada has a cat")).await, Ok(format!("Stored as {id}.")));
    let post = async |path: &str, told: &Value| bed.send(Call::post(path, told).by(&bed.writer)).await;
    let stored = json!({ "id": id, "outcome": "stored" });
    for told in [fact("Ada has a cat"), json!({ "text": "Ada has a cat", "importance": 0.5 })] {
        assert_eq!(post("/v1/records", &told).await.json(), stored, "{told}");
    }
    let new = post("/v1/records", &fact("Ada has a dog")).await.json();
    assert_eq!(new, json!({ "id": new["id"], "outcome": "stored" }));
    let superseding = format!("/v1/records/{id}/supersede");
    for path in ["/v1/records", &superseding] {
        let refused = post(path, &json!({ "text": "Ada has a cat", "novelty": 2 })).await;
        assert_eq!(refused.status, 403, "{path}");
        assert_eq!(refused.json()["detail"], "the token has no right to read", "{path}");
    }
    let answer = post(&superseding, &fact("Ada has a dog")).await.json();
    assert_eq!(answer, json!({ "id": new["id"], "outcome": "stored", "supersedes": id }));
}

#[tokio::test]
async fn who_may_write_alone_is_not_told_which_record_a_gate_finds() {
    // Everything is like everything.
    let defaults = Defaults::default().with_gate(Gate::default().with_threshold(1.5));
    let builder = memory::open_with("memory:", Arc::new(HashEmbedder::new(64))).await.unwrap().defaults(defaults);
    let bed = Bed::over(builder.build().await.unwrap(), Config::default());
    let post = async |token: &str, text: &str| {
        bed.send(Call::post("/v1/records", &json!({ "text": text })).by(token)).await.json()
    };
    let known = post(&bed.ada, "Ada likes green tea").await;
    let again = post(&bed.ada, "Ada likes warm tea").await;
    assert_eq!((&again["id"], &again["outcome"]), (&known["id"], &json!("reinforced")));
    let written = post(&bed.writer, "Ada likes hot tea").await;
    assert_eq!(written, json!({ "id": written["id"], "outcome": "stored" }));
    assert_ne!(written["id"], known["id"]);
    let added = bed.tool_by(&bed.writer, "add_memory", &json!({ "text": "Ada likes cold tea" })).await.unwrap();
    assert_ne!(json!(id_in(&added)), known["id"]);
}

#[tokio::test]
async fn what_the_tools_of_other_profiles_keep_is_changed_by_these_alone() {
    let bed = Bed::new().await;
    let other = |profile: Profile| {
        let agents = Agents { profile, ..Agents::default() };
        Bed::over(bed.memory.clone(), Config { agents, ..Config::default() })
    };
    let (graph, files) = (other(Profile::Graph), other(Profile::Files));
    let entity = json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": [] }] });
    graph.tool("create_entities", &entity).await.unwrap();
    let relation = json!({ "relations": [{ "from": "Ada", "to": "Bob", "relationType": "knows" }] });
    graph.tool("create_relations", &relation).await.unwrap();
    let file = json!({ "command": "create", "path": "/memories/a", "file_text": "Ada has a boat" });
    files.tool("memory", &file).await.unwrap();
    for (kind, tool) in [("entity", "add_observations"), ("relation", "create_relations"), ("file", "tool memory")] {
        let kept = bed.ok(Call::get(format!("/v1/records?kind={kind}"))).await["records"][0]["id"].clone();
        let refused = bed.tool("update_memory", &json!({ "id": kept, "text": "Ada sails" })).await.unwrap_err();
        assert!(refused.contains(tool), "{kind}: {refused}");
        let superseded = format!("/v1/records/{}/supersede", kept.as_str().unwrap());
        let refused = bed.send(Call::post(superseded, &json!({ "text": "Ada sails" })).by(&bed.ada)).await;
        assert!(refused.status == 409 && refused.text().contains(tool), "{kind}: {}", refused.text());
        // Nor is one made of it that they do not know; it may be told to last.
        let path = format!("/v1/records/{}", kept.as_str().unwrap());
        let read = bed.send(Call::get(path.clone()).by(&bed.ada)).await;
        let over = |version: &str, whole: &Value| Call::put(path.clone(), whole).header("if-match", version);
        let (version, record) = (read.headers["etag"].to_str().unwrap(), read.json());
        let (text, metadata) = (&record["text"], &record["metadata"]);
        for lost in [
            json!({ "text": "Ada sails", "kind": kind }),
            json!({ "text": "Ada sails", "kind": kind, "metadata": metadata }),
            json!({ "text": text, "metadata": metadata }),
        ] {
            assert_eq!(bed.status(over(version, &lost)).await, 409, "{lost}");
            assert_eq!(bed.status(over("\"99\"", &lost)).await, 412, "{lost}");
        }
        let pinned = json!({ "text": text, "kind": kind, "metadata": metadata, "pinned": true });
        bed.ok(over(version, &pinned)).await;
        // What is of the same kind and none of theirs is a memory like any other.
        let own = bed.tool("add_memory", &json!({ "text": "Ada has a cat", "kind": kind })).await.unwrap();
        bed.tool("update_memory", &json!({ "id": id_in(&own), "text": "Ada has two cats" })).await.unwrap();
    }
    let read = files.tool("memory", &json!({ "command": "view", "path": "/memories/a" })).await.unwrap();
    assert!(read.ends_with("Ada has a boat"), "{read}");
    let read: Value = serde_json::from_str(&graph.tool("read_graph", &json!({})).await.unwrap()).unwrap();
    assert_eq!((&read["entities"], &read["relations"]), (&entity["entities"], &relation["relations"]));
}

#[tokio::test]
async fn more_than_ids_is_forgotten_where_that_is_allowed() {
    let bed =
        Bed::with(Config { agents: Agents { allow_forget: true, ..Agents::default() }, ..Config::default() }).await;
    let message = json!({ "messages": [{ "role": "user", "content": "x" }] });
    bed.ok(Call::post("/v1/sessions/talk/messages", &message)).await;
    assert!(bed.tool("delete_memory", &json!({ "session": "talk" })).await.unwrap().starts_with("Deleted 1"));
    let kept = json!({ "text": "Never name prices", "trust": "system" });
    let id = bed.ok(Call::post("/v1/records", &kept)).await["id"].clone();
    assert!(bed.tool("delete_memory", &json!({ "id": id })).await.unwrap().starts_with("Deleted 1"));
    bed.tool("add_memory", &json!({ "text": "Ada has a cat" })).await.unwrap();
    bed.tool("delete_memory", &json!({ "everything": true })).await.unwrap();
    assert_eq!(bed.tool("list_memories", &json!({})).await.unwrap(), "Nothing was found.");
    assert!(
        bed.tool("delete_memory", &json!({ "session": "a", "everything": true })).await.unwrap_err().contains("one of")
    );
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_so() {
    let bed = Bed::new().await;
    for (tool, arguments) in [
        ("search_memories", json!({ "query": "anything" })),
        ("list_memories", json!({})),
        ("get_context", json!({ "query": "anything" })),
    ] {
        let text: Value = bed.tool(tool, &arguments).await.unwrap().into();
        assert!(text.as_str().unwrap().starts_with("Nothing"), "{text}");
    }
}

#[tokio::test]
async fn a_query_of_any_length_is_answered() {
    let bed = Bed::new().await;
    bed.tool("add_memory", &json!({ "text": "The parcel E-4471-B goes to Porto" })).await.unwrap();
    bed.memory.upkeep_once().await.unwrap();
    let log = (0..20_000).map(|number| format!("worker-{number} → waited")).collect::<Vec<_>>().join("\n");
    for query in [format!("{log}\nWhere does E-4471-B go?"), format!("Where does E-4471-B go?\n{log}")] {
        assert!(query.len() > 200 << 10);
        for tool in ["search_memories", "get_context"] {
            let found = bed.tool(tool, &json!({ "query": query })).await.unwrap();
            assert!(found.contains("goes to Porto"), "{tool}: {found}");
        }
        let prompt = json!({ "name": "recall", "arguments": { "query": query } });
        let prompt = bed.rpc(&bed.ada, "prompts/get", &prompt).await;
        let told = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(told.contains("goes to Porto"), "{told}");
    }
}

#[tokio::test]
async fn what_receipts_name_by_its_key_is_forgotten_by_it() {
    let bed = Bed::new().await;
    let message = json!({ "messages": [{ "role": "user", "content": "Ada has a cat" }] });
    for (number, by_tool) in [false, true].into_iter().enumerate() {
        let said = bed.ok(Call::post(format!("/v1/sessions/talk-{number}/messages"), &message)).await;
        let told = bed.ok(Call::post("/v1/records", &json!({ "text": "Ada has a dog" }))).await;
        for key in
            [format!("m-{}", said["stored"][0]["id"].as_str().unwrap()), format!("r-{}", told["id"].as_str().unwrap())]
        {
            assert_eq!(bed.ok(Call::post("/v1/items", &json!({ "items": [key] }))).await["items"][0]["item"], key);
            let derived = json!({ "text": format!("derived from {key}"), "sources": [key], "tags": ["a"] });
            let derived = bed.ok(Call::post("/v1/records", &derived)).await["id"].clone();
            let listed = bed.ok(Call::get("/v1/records?filter=trust%20%3E=%20user%20and%20tag%20in%20(a,%20b)")).await;
            assert_eq!(listed["records"][0]["id"], derived, "{key}");
            if by_tool {
                let told = bed.tool("delete_memory", &json!({ "id": key })).await.unwrap();
                assert!(told.starts_with("Deleted 2"), "{key}: {told}");
            } else {
                let forgotten = bed.ok(Call::post("/v1/forget", &json!({ "ids": [key] }))).await;
                assert_eq!((&forgotten["removed"], &forgotten["unknown"]), (&json!(2), &json!([])), "{key}");
            }
            assert_eq!(bed.ok(Call::post("/v1/items", &json!({ "items": [key] }))).await["items"], json!([]));
        }
    }
    let refused = bed.send(Call::post("/v1/forget", &json!({ "ids": ["x-7"] })).by(&bed.ada)).await;
    assert_eq!((refused.status, &refused.json()["detail"]), (400, &json!("not the id of a message or record")));
}
