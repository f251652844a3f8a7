//! The profile `graph`: the answers of the reference memory server, and nothing lost where clients write at once. Here a model of the
//! reference is asked; `scripts/server_kits.sh` asks the reference itself.

use memory::window::CounterKind;
use memory::{Remember, Scope};
use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

async fn bed() -> Bed {
    Bed::with(Config { agents: Agents { profile: Profile::Graph, ..Agents::default() }, ..Config::default() }).await
}

/// What the reference keeps in its file, and does in its nine calls.
#[derive(Default)]
struct Reference {
    entities: Vec<Value>,
    relations: Vec<Value>,
}

impl Reference {
    fn entity(&mut self, name: &Value) -> Option<&mut Value> {
        self.entities.iter_mut().find(|entity| entity["name"] == *name)
    }

    fn graph(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let entities: Vec<&Value> = self.entities.iter().filter(|entity| is_wanted(entity)).collect();
        let is_end = |name: &Value| entities.iter().any(|entity| entity["name"] == *name);
        let relations: Vec<&Value> =
            self.relations.iter().filter(|relation| is_end(&relation["from"]) || is_end(&relation["to"])).collect();
        json!({ "entities": entities, "relations": relations })
    }

    /// Returns the structured answer; none for an error.
    fn call(&mut self, name: &str, arguments: &Value) -> Option<Value> {
        let list = |name: &str| arguments[name].as_array().cloned().unwrap_or_default();
        let done = |what: &str| Some(json!({ "success": true, "message": format!("{what} deleted successfully") }));
        match name {
            "create_entities" => {
                let made: Vec<Value> =
                    list("entities").into_iter().filter(|new| self.entity(&new["name"]).is_none()).collect();
                self.entities.extend(made.clone());
                Some(json!({ "entities": made }))
            }
            "create_relations" => {
                let made: Vec<Value> =
                    list("relations").into_iter().filter(|new| !self.relations.contains(new)).collect();
                self.relations.extend(made.clone());
                Some(json!({ "relations": made }))
            }
            "add_observations" => {
                let before = self.entities.clone();
                let mut results = Vec::new();
                for added in list("observations") {
                    let Some(entity) = self.entity(&added["entityName"]) else {
                        self.entities = before;
                        return None;
                    };
                    let known = entity["observations"].as_array_mut().unwrap();
                    let fresh: Vec<Value> = added["contents"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter(|one| !known.contains(one))
                        .cloned()
                        .collect();
                    known.extend(fresh.clone());
                    results.push(json!({ "entityName": added["entityName"], "addedObservations": fresh }));
                }
                Some(json!({ "results": results }))
            }
            "delete_entities" => {
                let names = list("entityNames");
                self.entities.retain(|entity| !names.contains(&entity["name"]));
                self.relations
                    .retain(|relation| !names.contains(&relation["from"]) && !names.contains(&relation["to"]));
                done("Entities")
            }
            "delete_observations" => {
                for taken in list("deletions") {
                    let gone = taken["observations"].as_array().unwrap();
                    if let Some(entity) = self.entity(&taken["entityName"]) {
                        entity["observations"].as_array_mut().unwrap().retain(|one| !gone.contains(one));
                    }
                }
                done("Observations")
            }
            "delete_relations" => {
                let gone = list("relations");
                self.relations.retain(|relation| !gone.contains(relation));
                done("Relations")
            }
            "read_graph" => Some(json!({ "entities": self.entities, "relations": self.relations })),
            "search_nodes" => {
                let query = arguments["query"].as_str().unwrap().to_lowercase();
                let holds = |value: &Value| value.as_str().unwrap().to_lowercase().contains(&query);
                Some(self.graph(|entity| {
                    holds(&entity["name"])
                        || holds(&entity["entityType"])
                        || entity["observations"].as_array().unwrap().iter().any(holds)
                }))
            }
            _ => {
                let names = list("names");
                Some(self.graph(|entity| names.contains(&entity["name"])))
            }
        }
    }
}

/// Returns a call that chance makes of few names, so that they meet.
fn call(chance: &mut impl FnMut(usize) -> usize) -> (&'static str, Value) {
    let name = |chance: &mut dyn FnMut(usize) -> usize| ["Ada", "Bob", "ada", "Größe 🦀", "x y"][chance(5)].to_owned();
    let one = name(chance);
    let other = name(chance);
    let kind = ["knows", "Likes"][chance(2)];
    let relation = json!({ "from": one, "to": other, "relationType": kind });
    let observation = format!("fact {}", chance(6));
    match chance(9) {
        0 | 1 => {
            // A call of the reference that names an entity twice makes two of them: that is not followed.
            let mut entities = vec![json!({ "name": one, "entityType": "person", "observations": [observation] })];
            if one != other {
                entities.push(json!({ "name": other, "entityType": "Place", "observations": [] }));
            }
            ("create_entities", json!({ "entities": entities }))
        }
        2 => ("create_relations", json!({ "relations": [relation] })),
        3 => (
            "add_observations",
            json!({ "observations": [{ "entityName": one, "contents": [observation, "fact 0"] }, { "entityName": other, "contents": ["both"] }] }),
        ),
        4 if chance(3) == 0 => ("delete_entities", json!({ "entityNames": [one] })),
        5 => ("delete_observations", json!({ "deletions": [{ "entityName": one, "observations": [observation] }] })),
        6 if chance(2) == 0 => ("delete_relations", json!({ "relations": [relation] })),
        7 => {
            let query = ["ADA", "fact 3", "größe", "place", "nothing"][chance(5)];
            ("search_nodes", json!({ "query": query }))
        }
        8 => ("open_nodes", json!({ "names": [one, other] })),
        _ => ("read_graph", json!({})),
    }
}

#[tokio::test]
async fn sequences_of_calls_are_answered_as_the_reference_answers_them() {
    let bed = bed().await;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut chance = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 20).unwrap() % bound
    };
    for sequence in 0..crate::bed::rounds(50) {
        let (token, mut reference) = (if sequence % 2 == 0 { &bed.ada } else { &bed.bob }, Reference::default());
        for _ in 0..12 {
            let (name, arguments) = call(&mut chance);
            let answer = bed.rpc(token, "tools/call", &json!({ "name": name, "arguments": arguments })).await;
            match reference.call(name, &arguments) {
                Some(promised) => {
                    assert_eq!(answer["result"]["structuredContent"], promised, "{sequence}: {name} {arguments}");
                    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
                    let bare = promised.as_object().unwrap();
                    let told = match name {
                        "create_entities" | "create_relations" | "add_observations" => {
                            serde_json::to_string_pretty(bare.values().next().unwrap())
                        }
                        _ if bare.contains_key("message") => Ok(bare["message"].as_str().unwrap().to_owned()),
                        _ => serde_json::to_string_pretty(&promised),
                    };
                    let (told, text): (Value, Value) = (json!(told.unwrap()), json!(text));
                    assert_eq!(normal(&text), normal(&told), "{name}");
                }
                None => assert_eq!(answer["result"]["isError"], true, "{name} {arguments}"),
            }
        }
        let names: Vec<Value> = reference.entities.iter().map(|entity| entity["name"].clone()).collect();
        let relations = json!({ "relations": reference.relations });
        bed.tool_by(token, "delete_relations", &relations).await.unwrap();
        bed.tool_by(token, "delete_entities", &json!({ "entityNames": names })).await.unwrap();
    }
}

/// Members have no order.
fn normal(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap_or_else(|_| text.clone())
}

#[tokio::test]
async fn what_many_clients_write_at_once_is_all_there() {
    let bed = bed().await;
    let shared = json!({ "entities": [{ "name": "shared", "entityType": "list", "observations": [] }] });
    bed.tool("create_entities", &shared).await.unwrap();
    let calls: Vec<(&str, Value)> = (0..30)
        .map(|number| match number % 2 {
            0 => (
                "create_entities",
                json!({ "entities": [{ "name": format!("e{number}"), "entityType": "t", "observations": [] }] }),
            ),
            _ => (
                "add_observations",
                json!({ "observations": [{ "entityName": "shared", "contents": [format!("o{number}")] }] }),
            ),
        })
        .collect();
    let all = calls.iter().map(|(name, arguments)| bed.tool(name, arguments));
    for answer in futures_util::future::join_all(all).await {
        answer.unwrap();
    }
    let graph: Value = serde_json::from_str(&bed.tool("read_graph", &json!({})).await.unwrap()).unwrap();
    let entities = graph["entities"].as_array().unwrap();
    assert_eq!(entities.len(), 16);
    assert_eq!(
        entities.iter().find(|entity| entity["name"] == "shared").unwrap()["observations"].as_array().unwrap().len(),
        15
    );
}

#[tokio::test]
async fn a_node_that_a_record_took_the_place_of_is_none_and_is_made_anew() {
    let bed = bed().await;
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["likes tea"] });
    let entities = json!({ "entities": [ada] });
    bed.tool("create_entities", &entities).await.unwrap();
    let id = bed.ok(Call::get("/v1/records?kind=entity")).await["records"][0]["id"].as_str().unwrap().to_owned();
    // Neither HTTP nor MCP does that.
    let newer = Remember::new("entity", "Ada sails").with_metadata("node", ada.clone()).with_metadata("place", 0);
    let owner = bed.memory.of(&Scope::new("acme", "ada").unwrap());
    owner.supersede(id.parse().unwrap(), newer).await.unwrap();
    let graph = async || {
        let told = bed.tool("read_graph", &json!({})).await.unwrap();
        serde_json::from_str::<Value>(&told).unwrap()["entities"].clone()
    };
    assert_eq!(graph().await, json!([]));
    let added = json!({ "observations": [{ "entityName": "Ada", "contents": ["sails"] }] });
    assert!(bed.tool("add_observations", &added).await.unwrap_err().contains("not found"));
    let made = bed.tool("create_entities", &entities).await.unwrap();
    assert_eq!((serde_json::from_str::<Value>(&made).unwrap(), graph().await), (json!([ada]), json!([ada])));
    bed.tool("add_observations", &added).await.unwrap();
    bed.tool("delete_entities", &json!({ "entityNames": ["Ada"] })).await.unwrap();
    assert_eq!(graph().await, json!([]));
}

#[tokio::test]
async fn a_graph_that_is_too_large_is_shown_without_its_oldest_part() {
    let agents = Agents { profile: Profile::Graph, max_tokens: Some(1_000), ..Agents::default() };
    let bed = Bed::with(Config { agents, ..Config::default() }).await;
    let entities: Vec<Value> = (0..200)
        .map(|number| json!({ "name": format!("e{number}"), "entityType": "t", "observations": ["o"] }))
        .collect();
    bed.tool("create_entities", &json!({ "entities": entities })).await.unwrap();
    let graph: Value = serde_json::from_str(&bed.tool("read_graph", &json!({})).await.unwrap()).unwrap();
    let shown = graph["entities"].as_array().unwrap();
    assert!(!shown.is_empty() && shown.len() < 200);
    assert_eq!(shown.last().unwrap()["name"], "e199");
}

/// Calls a tool of Ada's whose answer has to fit into so many tokens, as text and as JSON. Returns the JSON.
async fn fitted(bed: &Bed, most: u64, name: &str, arguments: &Value) -> Value {
    let answer = bed.rpc(&bed.ada, "tools/call", &json!({ "name": name, "arguments": arguments })).await;
    let (structured, text) = (&answer["result"]["structuredContent"], &answer["result"]["content"][0]["text"]);
    let counter = CounterKind::O200k.counter();
    for told in [&structured.to_string(), text.as_str().unwrap()] {
        assert!(counter.count_text(told) <= most, "{name}: {told}");
    }
    assert_eq!(serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(), *structured);
    structured.clone()
}

#[tokio::test]
async fn a_node_that_is_too_large_is_shown_shorter_and_the_answer_says_so() {
    let bed = bed().await;
    let long: String = (0..6_000).map(|number| format!("{} 🦀 ", number * 7_919)).collect();
    assert!(long.len() > 60_000);
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": [long, "likes tea"] });
    let bob = json!({ "name": "Bob", "entityType": "person", "observations": ["sails"] });
    let calls = [
        ("create_entities", json!({ "entities": [ada, bob] })),
        ("add_observations", json!({ "observations": [{ "entityName": "Bob", "contents": [long] }] })),
        ("open_nodes", json!({ "names": ["Ada"] })),
        ("search_nodes", json!({ "query": "TEA" })),
        ("read_graph", json!({})),
    ];
    for (name, arguments) in calls {
        let answer = fitted(&bed, 20_000, name, &arguments).await;
        assert!(answer["leftOut"].as_str().unwrap().contains("without all their words"), "{answer}");
        let (list, told) = if name == "add_observations" { ("results", 0) } else { ("entities", 1) };
        let [one, ..] = answer[list].as_array().unwrap().as_slice() else { panic!("{name}: {answer}") };
        if told == 0 {
            assert!(one["addedObservations"][0].as_str().unwrap().ends_with('…'), "{one}");
        } else {
            assert_eq!((&one["name"], &one["observations"][0]), (&json!("Ada"), &json!("likes tea")), "{name}");
        }
    }
    let bob = fitted(&bed, 20_000, "open_nodes", &json!({ "names": ["Bob"] })).await;
    assert!(bob["entities"][0]["observations"][0].as_str().unwrap().ends_with('…'), "{bob}");
}

#[tokio::test]
async fn nodes_that_were_asked_for_by_name_are_all_there_in_the_smallest_room() {
    let agents = Agents { profile: Profile::Graph, max_tokens: Some(1_000), ..Agents::default() };
    let bed = Bed::with(Config { agents, ..Config::default() }).await;
    let names: Vec<String> = (0..15).map(|number| format!("e{number}")).collect();
    let entity = |name: &String| json!({ "name": name, "entityType": "t", "observations": ["日本語".repeat(300)] });
    let relation =
        |(number, name): (usize, &String)| json!({ "from": name, "to": "e0", "relationType": format!("r{number}") });
    let entities: Vec<Value> = names.iter().map(entity).collect();
    let relations: Vec<Value> = names.iter().cycle().take(300).enumerate().map(relation).collect();
    fitted(&bed, 1_000, "create_entities", &json!({ "entities": entities })).await;
    fitted(&bed, 1_000, "create_relations", &json!({ "relations": relations })).await;
    let opened = fitted(&bed, 1_000, "open_nodes", &json!({ "names": names })).await;
    let shown: Vec<&str> =
        opened["entities"].as_array().unwrap().iter().map(|entity| entity["name"].as_str().unwrap()).collect();
    assert_eq!(shown, names);
    let left_out = opened["leftOut"].as_str().unwrap();
    assert!(left_out.contains("relations are left out") && !left_out.contains("entities"), "{left_out}");
    let read = fitted(&bed, 1_000, "read_graph", &json!({})).await;
    assert!(read["leftOut"].as_str().unwrap().contains("relations are left out"), "{read}");
}

#[tokio::test]
async fn who_may_write_alone_is_not_told_what_is_known() {
    let bed = bed().await;
    let entity = |name: &str| json!({ "name": name, "entityType": "person", "observations": ["likes tea"] });
    bed.tool("create_entities", &json!({ "entities": [entity("Ada")] })).await.unwrap();
    let relation = json!({ "relations": [{ "from": "Ada", "to": "Bob", "relationType": "knows" }] });
    bed.tool("create_relations", &relation).await.unwrap();
    let answers = async |known: &str, fresh: &str| {
        let added = json!({ "observations": [{ "entityName": "Ada", "contents": [known, fresh] }] });
        let told = bed.tool_by(&bed.writer, "add_observations", &added).await.unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told[0]["addedObservations"], json!([known, fresh]));
    };
    answers("likes tea", "sails").await;
    answers("likes tea", "sails").await;
    let entities = json!({ "entities": [entity("Ada"), entity("Bob")] });
    let made: Value =
        serde_json::from_str(&bed.tool_by(&bed.writer, "create_entities", &entities).await.unwrap()).unwrap();
    assert_eq!(made, entities["entities"]);
    let made: Value =
        serde_json::from_str(&bed.tool_by(&bed.writer, "create_relations", &relation).await.unwrap()).unwrap();
    assert_eq!(made, relation["relations"]);
}
