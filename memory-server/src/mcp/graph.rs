//! The profile `graph`: the nine tools of the reference memory server, with its names, shapes and answers. An entity is a record,
//! and so is a relation: what two clients write at once is all there.

mod calls;
mod import;
mod shapes;
mod shelf;

use serde_json::{Map, Value, json};

pub use self::import::{GraphImport, import_graph};
use self::shapes::{Graph, pretty};
use super::answer::{Answer, Fitting};
use super::describe::{list, object, text, texts};
use super::refusal::Refusal;
use super::tool::{Definition, Effect};
use crate::caller::Caller;

/// Returns the tools.
pub(super) fn definitions() -> Vec<Definition> {
    use Effect::{Adds, Changes, Reads};

    let entity = object(3, &[("name", text()), ("entityType", text()), ("observations", texts())]);
    let relation = object(3, &[("from", text()), ("to", text()), ("relationType", text())]);
    let added = object(2, &[("entityName", text()), ("contents", texts())]);
    let taken = object(2, &[("entityName", text()), ("observations", texts())]);
    let results = object(2, &[("entityName", text()), ("addedObservations", texts())]);
    let graph = object(2, &[("entities", list(&entity)), ("relations", list(&relation))]);
    let done = object(2, &[("success", json!({ "type": "boolean" })), ("message", text())]);
    let tool = |name, effect, what, argument: Option<(&str, Value)>, answers: Value| {
        let schema = object(usize::from(argument.is_some()), argument.as_slice());
        Definition { answers: Some(answers), ..Definition::new(name, effect, what, schema) }
    };
    vec![
        tool(
            "create_entities",
            Adds,
            "Create multiple new entities in the knowledge graph",
            Some(("entities", list(&entity))),
            object(1, &[("entities", list(&entity))]),
        ),
        tool(
            "create_relations",
            Adds,
            "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
            Some(("relations", list(&relation))),
            object(1, &[("relations", list(&relation))]),
        ),
        tool(
            "add_observations",
            Adds,
            "Add new observations to existing entities in the knowledge graph",
            Some(("observations", list(&added))),
            object(1, &[("results", list(&results))]),
        ),
        tool(
            "delete_entities",
            Changes,
            "Delete multiple entities and their associated relations from the knowledge graph",
            Some(("entityNames", texts())),
            done.clone(),
        ),
        tool(
            "delete_observations",
            Changes,
            "Delete specific observations from entities in the knowledge graph",
            Some(("deletions", list(&taken))),
            done.clone(),
        ),
        tool(
            "delete_relations",
            Changes,
            "Delete multiple relations from the knowledge graph",
            Some(("relations", list(&relation))),
            done,
        ),
        tool("read_graph", Reads, "Read the entire knowledge graph", None, graph.clone()),
        tool(
            "search_nodes",
            Reads,
            "Search for nodes in the knowledge graph based on a query",
            Some(("query", text())),
            graph.clone(),
        ),
        tool(
            "open_nodes",
            Reads,
            "Open specific nodes in the knowledge graph by their names",
            Some(("names", texts())),
            graph,
        ),
    ]
}

/// Calls a tool.
pub(super) async fn call(
    name: &str,
    arguments: Map<String, Value>,
    caller: &Caller,
    fitting: &Fitting,
) -> Option<Result<Answer, Refusal>> {
    let result = match name {
        "create_entities" => calls::create_entities(arguments, caller).await,
        "create_relations" => calls::create_relations(arguments, caller).await,
        "add_observations" => calls::add_observations(arguments, caller).await,
        "delete_entities" => calls::delete_entities(arguments, caller).await,
        "delete_observations" => calls::delete_observations(arguments, caller).await,
        "delete_relations" => calls::delete_relations(arguments, caller).await,
        "read_graph" => calls::read_graph(arguments, caller).await.map(|graph| fitted(graph, fitting)),
        "search_nodes" => calls::search_nodes(arguments, caller).await.map(|graph| fitted(graph, fitting)),
        "open_nodes" => calls::open_nodes(arguments, caller).await.map(|graph| fitted(graph, fitting)),
        _ => return None,
    };
    Some(result.map(|answer| clipped(answer, fitting)))
}

/// Returns the graph as it fits: where it does not, without the entities that were made first.
fn fitted(mut graph: Graph, fitting: &Fitting) -> Answer {
    loop {
        let value = json!(graph);
        let text = pretty(&value);
        if fitting.fits(&text) || (graph.entities.is_empty() && graph.relations.is_empty()) {
            return Answer { text, structured: Some(value) };
        }
        // An eighth at a time: each look counts all tokens.
        let cut = |length: usize| length.div_ceil(8);
        graph.entities.drain(..cut(graph.entities.len()));
        let relations = if graph.entities.is_empty() { graph.relations.len() } else { cut(graph.relations.len()) };
        graph.relations.drain(..relations);
    }
}

/// Returns an answer whose text fits: what was made or added is told, or that it is too much to tell.
fn clipped(answer: Answer, fitting: &Fitting) -> Answer {
    if fitting.fits(&answer.text) {
        return answer;
    }
    Answer { text: fitting.clip(&answer.text), structured: answer.structured }
}
