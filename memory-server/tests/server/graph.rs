//! The profile `graph`: the answers of the reference memory server, and nothing lost where clients write at once.

use memory_server::{Agents, Config, Profile};
use serde_json::{Value, json};

use crate::bed::Bed;

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
