//! The shapes of the reference memory server.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) entity_type: String,
    pub(super) observations: Vec<String>,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Relation {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) relation_type: String,
}

/// All of it, or a part, in the order in which it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Graph {
    pub(super) entities: Vec<Entity>,
    pub(super) relations: Vec<Relation>,
}

/// What is to be added to an entity.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Added {
    pub(super) entity_name: String,
    pub(super) contents: Vec<String>,
}

/// What is to be taken from an entity.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Taken {
    pub(super) entity_name: String,
    pub(super) observations: Vec<String>,
}

/// Adds the observations that are not known, and returns them.
pub(super) fn add(known: &mut Vec<String>, observations: &[String]) -> Vec<String> {
    let there: HashSet<&String> = known.iter().collect();
    let fresh: Vec<String> = observations.iter().filter(|one| !there.contains(one)).cloned().collect();
    drop(there);
    known.extend(fresh.iter().cloned());
    fresh
}

/// Returns the JSON as the reference writes it.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
