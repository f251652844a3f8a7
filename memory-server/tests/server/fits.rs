//! Whatever is stored, and whatever is asked, what an agent is answered has at most the tokens that it may have: the results and refusals
//! of the tools of each profile, resources, and the prompt.

use std::collections::BTreeMap;

use memory::RecordId;
use memory::window::CounterKind;
use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};
use crate::chance::{Random, escaped};

/// How many texts and sessions are stored first.
const STORED: usize = 60;

/// What is answered, and what is refused too: tools, kinds of resources, and prompts.
const ANSWERED: [&str; 22] = [
    "search_memories",
    "get_context",
    "add_memory",
    "update_memory",
    "list_memories",
    "delete_memory",
    "sessions",
    "session",
    "item",
    "recall",
    "search",
    "fetch",
    "create_entities",
    "create_relations",
    "add_observations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "read_graph",
    "search_nodes",
    "open_nodes",
    "memory",
];
const REFUSED: [&str; 13] = [
    "search_memories",
    "get_context",
    "add_memory",
    "update_memory",
    "list_memories",
    "delete_memory",
    "session",
    "item",
    "</memory>",
    "fetch",
    "add_observations",
    "open_nodes",
    "memory",
];

/// Texts that cost many tokens for what they are, or that look like marks.
fn hostile(number: usize) -> String {
    let pieces = [
        "🦀",
        "</item></memory>",
        "\u{202e}ab",
        "word ",
        "日本語",
        "\u{0}",
        "<item id=\"x\">",
        "a",
        "\n\n",
        "e\u{301}",
    ];
    pieces[number % pieces.len()].repeat(1 + (number * 7_919) % 3_000)
}

/// Names that do: those of sessions and tags have at most 255 bytes, others any number.
fn name(random: &mut Random) -> String {
    let number = random.below(100);
    match random.below(4) {
        0 => "\u{13000}".repeat(1 + number % 63),
        1 => hostile(number),
        _ => hostile(number).chars().take(1 + number % 60).collect(),
    }
}

fn plain_session(number: usize) -> String {
    format!("talk {}", "s".repeat(number * 4))
}

fn hostile_session(number: usize) -> String {
    hostile(number).chars().take(60).collect()
}

/// What a result is.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Blocks of data, perhaps with words around them.
    Block,
    Json,
    /// Words, and texts as they are stored.
    Words,
}

/// A request of MCP, and how many tokens its answer may have.
struct Asked {
    method: &'static str,
    params: Value,
    shape: Shape,
    most: usize,
}

impl Asked {
    fn tool(name: &str, arguments: &Value, shape: Shape, most: usize) -> Self {
        Self { method: "tools/call", params: json!({ "name": name, "arguments": arguments }), shape, most }
    }

    /// Returns the kind of what is asked for.
    fn kind(&self) -> String {
        match self.params["name"].as_str() {
            Some(name) => name.to_owned(),
            None => self.params["uri"].as_str().unwrap().split('/').nth(2).unwrap_or_default().to_owned(),
        }
    }
}

/// A server with the tools of a profile, and how many tokens a result has there.
struct Place {
    bed: Bed,
    profile: Profile,
    most: usize,
}

fn places(bed: &Bed) -> Vec<Place> {
    let mut places = Vec::new();
    for profile in [Profile::Core, Profile::Chatgpt, Profile::Graph, Profile::Files] {
        let usual = if profile == Profile::Graph { 20_000 } else { 1_500 };
        for max_tokens in [None, Some(200), Some(700)] {
            let agents = Agents { profile, max_tokens, ..Agents::default() };
            let bed = Bed::over(bed.memory.clone(), Config { agents, ..Config::default() });
            places.push(Place { bed, profile, most: max_tokens.map_or(usual, |most| usize::try_from(most).unwrap()) });
        }
    }
    places
}

/// Returns a call of a tool of the profile `core` that finds something, whatever it is.
fn found(random: &mut Random, most_of_server: usize) -> Asked {
    let most = *random.one(&[200, 201, 350, 700, 1_500, 4_000]);
    let (query, limit) =
        (*random.one(&["garden", "", "the garden 🦀", "about 日本語", "garden 17"]), 1 + random.below(50));
    match random.below(8) {
        0..4 => {
            let search = json!({ "query": query, "limit": limit, "max_tokens": most });
            Asked::tool("search_memories", &search, Shape::Block, most)
        }
        4 | 5 => {
            let mut wanted = json!({ "query": query, "max_tokens": most });
            match random.below(4) {
                0 => {}
                1 => wanted["session"] = json!(hostile_session(random.below(STORED))),
                _ => wanted["session"] = json!(plain_session(random.below(STORED))),
            }
            Asked::tool("get_context", &wanted, Shape::Block, most)
        }
        6 => Asked::tool("list_memories", &json!({ "limit": limit }), Shape::Block, most_of_server),
        _ => {
            let tag = hostile_session(random.below(STORED));
            Asked::tool("list_memories", &json!({ "limit": limit, "tag": tag }), Shape::Block, most_of_server)
        }
    }
}

/// Returns a call of a tool of the profile `core` that changes something, or is refused with what was sent.
fn changed(random: &mut Random, ids: &[String], most: usize) -> Asked {
    let (named, text) = (name(random), hostile(random.below(200)));
    let id = if random.below(3) == 0 { named.clone() } else { random.one(ids).clone() };
    let (tool, arguments) = match random.below(12) {
        0..3 => ("update_memory", json!({ "id": id, "text": format!("garden {text}") })),
        3 => ("delete_memory", json!({ "id": id })),
        4 => ("delete_memory", json!({ "session": named })),
        5 => ("add_memory", json!({ "text": format!("garden {text}"), "kind": "fact", "tags": [named] })),
        6 => ("add_memory", json!({ "text": text, "kind": named })),
        7 => ("list_memories", json!({ "kind": named, "tag": named })),
        8 => ("list_memories", json!({ "before": named })),
        9 => ("search_memories", json!({ "query": "garden", "kind": named, "limit": named })),
        10 => ("get_context", json!({ "query": "garden", "session": named, named.as_str(): text })),
        _ => (*random.one(&["update_memory", "delete_memory", "list_memories"]), json!({ named.as_str(): text })),
    };
    // Words: a refusal is no block, and may repeat a mark.
    let shape = if tool == "list_memories" { Shape::Block } else { Shape::Words };
    Asked::tool(tool, &arguments, shape, most)
}

/// Returns a resource or the prompt, which are there in each profile.
fn shared(random: &mut Random, ids: &[String], most: usize) -> Asked {
    let read = |uri: String, shape| Asked { method: "resources/read", params: json!({ "uri": uri }), shape, most };
    match random.below(8) {
        0 => read("memory://sessions".to_owned(), Shape::Json),
        1 => read(format!("memory://session/{}", escaped(&plain_session(random.below(STORED)))), Shape::Block),
        2 => read(format!("memory://session/{}", escaped(&hostile_session(random.below(STORED)))), Shape::Block),
        3 => read(format!("memory://session/{}", name(random)), Shape::Block),
        4 => read(format!("memory://item/{}{}", random.one(&["m-", "r-"]), random.one(ids)), Shape::Block),
        5 => read(format!("memory://item/r-{}", name(random)), Shape::Block),
        place => {
            let words = if place == 6 { "the garden 🦀".to_owned() } else { format!("garden {}", name(random)) };
            let prompt = *random.one(&["recall", "recall", "recall", "</memory>"]);
            let params = json!({ "name": prompt, "arguments": { "query": words, name(random): "x" } });
            Asked { method: "prompts/get", params, shape: Shape::Block, most }
        }
    }
}

/// Returns a call of a tool of the profile `chatgpt`.
fn of_chatgpt(random: &mut Random, ids: &[String], most: usize) -> Asked {
    match random.below(4) {
        0 => Asked::tool("search", &json!({ "query": random.one(&["garden", "", "about 日本語"]) }), Shape::Json, most),
        1 => Asked::tool("fetch", &json!({ "id": name(random) }), Shape::Json, most),
        _ => {
            let id = format!("{}{}", random.one(&["m-", "r-"]), random.one(ids));
            // A title alone may have more than the smallest budget.
            let shape = if most > 200 { Shape::Json } else { Shape::Words };
            Asked::tool("fetch", &json!({ "id": id }), shape, most)
        }
    }
}

/// Returns a call of a tool of the profile `graph`, on few names, so that they meet.
fn of_graph(random: &mut Random, most: usize) -> Asked {
    let some = |random: &mut Random| -> String { hostile(random.below(20)).chars().take(400).collect() };
    let (one, other, said) = (some(random), some(random), some(random));
    let relation = json!({ "from": one, "to": other, "relationType": said });
    let (tool, arguments) = match random.below(12) {
        0..3 => {
            let entity = json!({ "name": one, "entityType": other, "observations": [said, "garden"] });
            ("create_entities", json!({ "entities": [entity] }))
        }
        3 => {
            ("create_relations", json!({ "relations": [relation, { "from": other, "to": one, "relationType": "x" }] }))
        }
        4 => ("add_observations", json!({ "observations": [{ "entityName": one, "contents": [said, other] }] })),
        5 => ("delete_observations", json!({ "deletions": [{ "entityName": one, "observations": [said] }] })),
        6 => ("delete_relations", json!({ "relations": [relation] })),
        7 => ("delete_entities", json!({ "entityNames": [one] })),
        8 => ("search_nodes", json!({ "query": random.one(&["garden", "🦀", "", "nothing of it"]) })),
        9 => ("open_nodes", json!({ "names": [one, other, said] })),
        10 => ("open_nodes", json!({ one.as_str(): [other] })),
        _ => ("read_graph", json!({})),
    };
    let shape = if tool.starts_with("delete") { Shape::Words } else { Shape::Json };
    Asked::tool(tool, &arguments, shape, most)
}

/// Returns a call of the tool of the profile `files`, on few paths.
fn of_files(random: &mut Random, most: usize) -> Asked {
    let path = |random: &mut Random| match random.below(6) {
        0 => name(random),
        1 => format!("/memories/{}", name(random)),
        _ => format!("/memories/{}/{}", random.one(&["🦀", "日本語", "</memory>"]), random.below(4)),
    };
    let (one, other, text) = (path(random), path(random), hostile(random.below(200)));
    let arguments = match random.below(9) {
        0 | 1 => json!({ "command": "create", "path": one, "file_text": text }),
        2 => json!({ "command": "insert", "path": one, "insert_line": random.below(2), "insert_text": text }),
        3 => json!({ "command": "str_replace", "path": one, "old_str": "🦀", "new_str": text }),
        4 => json!({ "command": "str_replace", "path": one, "old_str": text, "new_str": "" }),
        5 => json!({ "command": "delete", "path": one }),
        6 => json!({ "command": "rename", "old_path": one, "new_path": other }),
        7 => json!({ "command": "view", "path": one }),
        _ => json!({ "command": "view", "path": "/memories" }),
    };
    Asked::tool("memory", &arguments, Shape::Words, most)
}

fn asked(random: &mut Random, place: &Place, ids: &[String]) -> Asked {
    let most = place.most;
    match place.profile {
        _ if random.below(6) == 0 => shared(random, ids, most),
        Profile::Core if random.below(3) == 0 => changed(random, ids, most),
        Profile::Core => found(random, most),
        Profile::Chatgpt => of_chatgpt(random, ids, most),
        Profile::Graph => of_graph(random, most),
        Profile::Files => of_files(random, most),
    }
}

/// Returns what an agent reads of an answer, as texts that each have to fit; and whether it is a refusal.
fn read(answer: &Value) -> (Vec<String>, bool) {
    if let Some(error) = answer.get("error") {
        return (vec![error["message"].as_str().unwrap().to_owned()], true);
    }
    let result = &answer["result"];
    let list = |name: &str| result[name].as_array().into_iter().flatten();
    let parts = list("content").chain(list("contents")).map(|part| &part["text"]);
    let texts = parts.chain(list("messages").map(|message| &message["content"]["text"]));
    let mut texts: Vec<String> = texts.map(|text| text.as_str().unwrap().to_owned()).collect();
    assert_eq!(texts.len(), 1, "{answer}");
    texts.extend(result.get("structuredContent").map(Value::to_string));
    (texts, result["isError"] == true)
}

/// Stores texts, names, sessions and tags that cost many tokens, and returns the ids of what was stored.
async fn store(bed: &Bed) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..STORED {
        let text = hostile(number);
        // A name may cost more tokens than a small budget has.
        let name = if number % 9 == 8 { "\u{13000}".repeat(63) } else { "n".repeat(number) };
        let content = format!("about the garden {text}");
        for session in [plain_session(number), hostile_session(number)] {
            let message = json!({ "messages": [{ "role": "user", "content": content, "name": name }] });
            let path = format!("/v1/sessions/{}/messages", escaped(&session));
            let stored = bed.send(Call::post(path, &message).by(&bed.ada)).await;
            // Some hostile names are none of a session.
            assert!(stored.status == 200 || session == hostile_session(number), "{}", stored.text());
            if stored.status == 200 {
                ids.push(stored.json()["stored"][0]["id"].as_str().unwrap().to_owned());
            }
        }
        let origin: String = text.chars().take(60).collect();
        // One has more tags than any budget.
        let tags: Vec<String> =
            (0..if number % 10 == 3 { 300 } else { 1 }).map(|place| format!("{place} {}", "🦀".repeat(10))).collect();
        let mut record = json!({ "text": format!("garden {number} {text}"), "origin": origin, "tags": tags });
        // A tag holds more than blanks, and at most 255 bytes.
        if number % 4 == 0 && (1..=255).contains(&hostile_session(number).trim().len()) {
            record["tags"] = json!([hostile_session(number)]);
        }
        ids.push(bed.ok(Call::post("/v1/records", &record)).await["id"].as_str().unwrap().to_owned());
    }
    bed.memory.upkeep_once().await.unwrap();
    ids
}

#[tokio::test]
async fn results_fit_into_their_tokens_and_no_text_ends_the_block() {
    let bed = Bed::new().await;
    let counter = CounterKind::O200k.counter();
    let mut ids = store(&bed).await;
    let (places, mut random) = (places(&bed), Random(0x2545_f491_4f6c_dd1d));
    // How many of a kind were answered, and how many refused.
    let mut told: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for number in 0..crate::bed::rounds(1_000) {
        // Half of the calls are of the profile `core`.
        let place = if number % 2 == 0 { random.below(3) } else { random.below(places.len()) };
        let asked = asked(&mut random, &places[place], &ids);
        let Asked { method, params, shape, most } = &asked;
        let answer = places[place].bed.rpc(&places[place].bed.ada, method, params).await;
        let (texts, is_refused) = read(&answer);
        for text in &texts {
            let tokens = counter.count_text(text);
            assert!(tokens <= *most as u64, "{method} {params}: {tokens} of {most}: {text}");
        }
        let text = &texts[0];
        match shape {
            _ if is_refused => {}
            Shape::Words => {}
            Shape::Json => assert!(serde_json::from_str::<Value>(text).is_ok(), "{method} {params}: {text}"),
            Shape::Block => {
                let (begun, ended) = (text.matches("<memory note").count(), text.matches("</memory>").count());
                assert_eq!(begun, ended, "{method} {params}: {text}");
                assert!(ended <= 1 && !text.contains("</item></memory>garden"), "{text}");
            }
        }
        told.entry(asked.kind()).or_default()[usize::from(is_refused)] += 1;
        ids.extend(
            text.split_whitespace()
                .filter_map(|word| word.trim_end_matches('.').parse::<RecordId>().ok())
                .map(|id| id.to_string()),
        );
    }
    // The control: all kinds are answered, and those refused that can be.
    let answered = |kind: &&str| told.get(*kind).is_some_and(|[answered, _]| *answered > 0);
    let refused = |kind: &&str| told.get(*kind).is_some_and(|[_, refused]| *refused > 0);
    let missing: Vec<&str> = ANSWERED.into_iter().filter(|kind| !answered(kind)).collect();
    assert!(missing.is_empty(), "{missing:?} of {told:?}");
    let missing: Vec<&str> = REFUSED.into_iter().filter(|kind| !refused(kind)).collect();
    assert!(missing.is_empty(), "{missing:?} of {told:?}");
}
