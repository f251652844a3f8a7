//! The profile `graph`: the nine tools of the reference memory server, with its names, shapes and answers. An entity is a record,
//! and so is a relation: what two clients write at once is all there.

mod calls;
mod fit;
mod import;
mod shapes;
mod shelf;

use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use self::fit::{LEFT_OUT, Showing, fitted};
pub use self::import::{GraphImport, GraphRejection, import_graph};
pub(super) use self::shelf::{owns, writes};
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
    // What does not fit says so.
    let answer = |name, of: &Value| object(1, &[(name, list(of)), (LEFT_OUT, text())]);
    let graph = object(2, &[("entities", list(&entity)), ("relations", list(&relation)), (LEFT_OUT, text())]);
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
            answer("entities", &entity),
        ),
        tool(
            "create_relations",
            Adds,
            "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
            Some(("relations", list(&relation))),
            answer("relations", &relation),
        ),
        tool(
            "add_observations",
            Adds,
            "Add new observations to existing entities in the knowledge graph",
            Some(("observations", list(&added))),
            answer("results", &results),
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
        "read_graph" => calls::read_graph(arguments, caller).await,
        "search_nodes" => calls::search_nodes(arguments, caller).await,
        "open_nodes" => calls::open_nodes(arguments, caller).await,
        _ => return None,
    };
    let showing = if name == "open_nodes" { Showing::Named } else { Showing::Newest };
    let fitting = fitting.clone();
    Some(match result {
        // Not on a thread that answers others: of a graph of megabytes, all is looked at again and again.
        Ok(answer) => {
            let fitted = spawn_blocking(move || fitted(answer, showing, &fitting)).await;
            fitted.map_err(|_| Refusal::new("the answer failed"))
        }
        Err(refusal) => Err(refusal),
    })
}
