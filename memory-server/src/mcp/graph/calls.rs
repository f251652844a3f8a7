//! The nine calls. Each does what the reference does, for any number of clients at once.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::shapes::{Added, Entity, Graph, Relation, Taken, add, pretty};
use super::shelf;
use crate::caller::Caller;
use crate::mcp::answer::Answer;
use crate::mcp::refusal::{Refusal, read};
use crate::token::Right;

#[derive(Debug, Deserialize)]
struct Entities {
    entities: Vec<Entity>,
}

#[derive(Debug, Deserialize)]
struct Relations {
    relations: Vec<Relation>,
}

#[derive(Debug, Deserialize)]
struct Observations {
    observations: Vec<Added>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntityNames {
    entity_names: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Deletions {
    deletions: Vec<Taken>,
}

#[derive(Debug, Deserialize)]
struct Query {
    query: String,
}

#[derive(Debug, Deserialize)]
struct Names {
    names: Vec<String>,
}

/// Returns a list as the reference does: bare as text, and under a name as JSON.
fn told(name: &str, list: &Value) -> Answer {
    Answer { text: pretty(list), structured: Some(json!({ name: list })) }
}

fn shown(graph: &Graph) -> Answer {
    let value = json!(graph);
    Answer { text: pretty(&value), structured: Some(value) }
}

fn done(message: &str) -> Answer {
    Answer { text: message.to_owned(), structured: Some(json!({ "success": true, "message": message })) }
}

pub(super) async fn create_entities(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Entities { entities } = read(arguments)?;
    let ada = caller.allowed(Right::Write)?;
    let mut made = Vec::new();
    for (place, entity) in entities.iter().enumerate() {
        if shelf::make_entity(ada, entity, place).await? || !caller.may_read() {
            made.push(entity);
        }
    }
    Ok(told("entities", &json!(made)))
}

pub(super) async fn create_relations(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Relations { relations } = read(arguments)?;
    let ada = caller.allowed(Right::Write)?;
    let mut made = Vec::new();
    for (place, relation) in relations.iter().enumerate() {
        if shelf::make_relation(ada, relation, place).await? || !caller.may_read() {
            made.push(relation);
        }
    }
    Ok(told("relations", &json!(made)))
}

pub(super) async fn add_observations(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Observations { observations } = read(arguments)?;
    let ada = caller.allowed(Right::Write)?;
    let unknown = |name: &str| Refusal::new(format!("Entity with name {name} not found"));
    // All of them have to be there before any is changed.
    for added in &observations {
        shelf::entity(ada, &added.entity_name).await?.ok_or_else(|| unknown(&added.entity_name))?;
    }
    let mut results = Vec::new();
    for Added { entity_name, contents } in &observations {
        let fresh = shelf::change(ada, entity_name, |known| add(known, contents)).await?;
        let fresh = fresh.ok_or_else(|| unknown(entity_name))?;
        let added = if caller.may_read() { &fresh } else { contents };
        results.push(json!({ "entityName": entity_name, "addedObservations": added }));
    }
    Ok(told("results", &json!(results)))
}

pub(super) async fn delete_entities(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let EntityNames { entity_names } = read(arguments)?;
    let ada = caller.allowed(Right::Forget)?;
    let mut ids = shelf::relations_at(ada, &entity_names.iter().collect()).await?;
    ids.extend(entity_names.iter().map(|name| shelf::id_of_entity(name)));
    shelf::remove(ada, ids).await?;
    Ok(done("Entities deleted successfully"))
}

pub(super) async fn delete_observations(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Deletions { deletions } = read(arguments)?;
    caller.allowed(Right::Forget)?;
    let ada = caller.allowed(Right::Write)?;
    for Taken { entity_name, observations } in &deletions {
        let gone: HashSet<&String> = observations.iter().collect();
        shelf::change(ada, entity_name, |known| known.retain(|one| !gone.contains(one))).await?;
    }
    Ok(done("Observations deleted successfully"))
}

pub(super) async fn delete_relations(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Relations { relations } = read(arguments)?;
    let ada = caller.allowed(Right::Forget)?;
    shelf::remove(ada, relations.iter().map(shelf::id_of_relation).collect()).await?;
    Ok(done("Relations deleted successfully"))
}

pub(super) async fn read_graph(_: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    Ok(shown(&shelf::read(caller.allowed(Right::Read)?, shelf::MOST).await?))
}

pub(super) async fn search_nodes(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Query { query } = read(arguments)?;
    let query = query.to_lowercase();
    let holds = |text: &String| text.to_lowercase().contains(&query);
    let is_wanted =
        |entity: &Entity| holds(&entity.name) || holds(&entity.entity_type) || entity.observations.iter().any(holds);
    Ok(shown(&shelf::part(caller.allowed(Right::Read)?, shelf::MOST, is_wanted).await?))
}

pub(super) async fn open_nodes(arguments: Map<String, Value>, caller: &Caller) -> Result<Answer, Refusal> {
    let Names { names } = read(arguments)?;
    let names: HashSet<&String> = names.iter().collect();
    let is_wanted = |entity: &Entity| names.contains(&entity.name);
    Ok(shown(&shelf::part(caller.allowed(Right::Read)?, shelf::MOST, is_wanted).await?))
}
