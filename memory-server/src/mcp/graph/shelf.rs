//! Entities and relations as records: made once, changed over what was read, and forgotten.

use std::collections::HashSet;

use memory::store::record::Telling;
use memory::store::records::Expect;
use memory::{Error, Forget, Record, RecordId, Scoped, StoredRecord, Timestamp, Trust};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::shapes::{Entity, Graph, Relation};
use crate::mcp::pages::Pages;
use crate::mcp::refusal::Refusal;
use crate::mcp::tool::ORIGIN;

/// The kinds of the records.
const ENTITY: &str = "entity";
const RELATION: &str = "relation";
/// The member of their metadata that holds the shape, and the one that holds the place within a call.
const NODE: &str = "node";
const PLACE: &str = "place";
/// The most bytes of text that an answer is made of.
pub(super) const MOST: usize = 64 << 20;
/// How often a change is tried that loses against others.
const ATTEMPTS: usize = 1_000;

/// The shape of a record.
trait Node: Serialize + DeserializeOwned {
    /// The kind of the records.
    const KIND: &'static str;

    /// Returns the id of its record.
    fn id(&self) -> RecordId;

    /// Returns the text of its record: what is searched for.
    fn words(&self) -> String;
}

impl Node for Entity {
    const KIND: &'static str = ENTITY;

    fn id(&self) -> RecordId {
        id_of_entity(&self.name)
    }

    /// The name, the type, and each observation on a line.
    fn words(&self) -> String {
        let head = format!("{} ({})", self.name, self.entity_type);
        [&[head], self.observations.as_slice()].concat().join("\n")
    }
}

impl Node for Relation {
    const KIND: &'static str = RELATION;

    fn id(&self) -> RecordId {
        id_of_relation(self)
    }

    fn words(&self) -> String {
        let Self { from, to, relation_type } = self;
        format!("{from} {relation_type} {to}")
    }
}

fn id(parts: &[&str]) -> RecordId {
    let mut bytes = b"graph\0".to_vec();
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    RecordId::of_content(&bytes)
}

pub(super) fn id_of_entity(name: &str) -> RecordId {
    id(&[ENTITY, name])
}

pub(super) fn id_of_relation(relation: &Relation) -> RecordId {
    id(&[RELATION, &relation.from, &relation.to, &relation.relation_type])
}

fn record<T: Node>(node: &T, place: usize, now: Timestamp) -> Record {
    let mut first = Telling { origin: Some(ORIGIN.to_owned()), ..Telling::new(now, Trust::Assistant) };
    first.metadata.insert(NODE.to_owned(), json!(node));
    first.metadata.insert(PLACE.to_owned(), json!(place));
    Record { id: node.id(), first, ..Record::new(T::KIND, node.words(), now) }
}

/// Makes a record, and returns false if it is there. One that another record took the place of is made anew.
async fn make(ada: &Scoped, record: &Record) -> Result<bool, Error> {
    let mut expect = Expect::Absent;
    for _ in 0..ATTEMPTS {
        match ada.put(record.clone(), expect).await {
            Ok(_) => return Ok(true),
            Err(Error::IdConflict { .. }) => {}
            Err(Error::Conflict) if expect != Expect::Absent => {}
            Err(error) => return Err(error),
        }
        expect = match ada.get(&[record.id]).await?.pop() {
            None => Expect::Absent,
            Some(stored) if stored.record.superseded.is_some() => Expect::Version(stored.version),
            Some(_) => return Ok(false),
        };
    }
    Err(Error::Conflict)
}

/// Makes an entity, and returns false if one has its name.
pub(super) async fn make_entity(ada: &Scoped, entity: &Entity, place: usize) -> Result<bool, Error> {
    make(ada, &record(entity, place, ada.memory().now())).await
}

/// Makes a relation, and returns false if there is the same.
pub(super) async fn make_relation(ada: &Scoped, relation: &Relation, place: usize) -> Result<bool, Error> {
    make(ada, &record(relation, place, ada.memory().now())).await
}

/// Returns the node that a record is. None is what others made of its kind, and what another record took the place of.
fn node<T: Node>(record: &Record) -> Option<T> {
    let node: T = serde_json::from_value(record.first.metadata.get(NODE)?.clone()).ok()?;
    (record.kind == T::KIND && record.superseded.is_none() && record.id == node.id()).then_some(node)
}

/// Returns whether a record is an entity or a relation, which these tools alone change.
pub(crate) fn owns(record: &Record) -> bool {
    node::<Entity>(record).is_some() || node::<Relation>(record).is_some()
}

/// Returns whether a record is one that these tools might have written: with the words of its node. Others they do not show, and
/// their next change overwrites them.
pub(crate) fn writes(record: &Record) -> bool {
    has_words::<Entity>(record) || has_words::<Relation>(record)
}

fn has_words<T: Node>(record: &Record) -> bool {
    node::<T>(record).is_some_and(|node| node.words() == record.text)
}

/// Returns an entity.
pub(super) async fn entity(ada: &Scoped, name: &str) -> Result<Option<(Entity, StoredRecord)>, Error> {
    let stored = ada.get(&[id_of_entity(name)]).await?.pop();
    Ok(stored.and_then(|stored| Some((node(&stored.record)?, stored))))
}

/// Changes the observations of an entity by `change`, again if somebody else changed it meanwhile. Returns what `change` told;
/// none if there is no such entity.
pub(super) async fn change<T>(
    ada: &Scoped,
    name: &str,
    change: impl Fn(&mut Vec<String>) -> T,
) -> Result<Option<T>, Error> {
    for _ in 0..ATTEMPTS {
        let Some((mut entity, stored)) = self::entity(ada, name).await? else { return Ok(None) };
        let told = change(&mut entity.observations);
        let mut record = Record { text: entity.words(), ..(*stored.record).clone() };
        record.first.metadata.insert(NODE.to_owned(), json!(entity));
        match ada.put(record, Expect::Version(stored.version)).await {
            Ok(_) => return Ok(Some(told)),
            Err(Error::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Conflict)
}

/// Forgets records for good.
pub(super) async fn remove(ada: &Scoped, ids: Vec<RecordId>) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    ada.forget(&Forget::Records(ids)).await.map(drop)
}

/// Shows each node of a shape to `see`, until one is refused. A page of them is in memory at once.
async fn each<T: Node>(
    ada: &Scoped,
    mut see: impl FnMut(&StoredRecord, T) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut pages = Pages::of(T::KIND);
    while let Some(page) = pages.read(ada).await? {
        for stored in &page {
            if let Some(node) = node(&stored.record) {
                see(stored, node)?;
            }
        }
    }
    Ok(())
}

/// Returns the nodes that are wanted, in the order in which they were made. Their bytes are taken off `room`.
async fn nodes<T: Node>(ada: &Scoped, room: &mut usize, is_wanted: impl Fn(&T) -> bool) -> Result<Vec<T>, Refusal> {
    let mut found: Vec<(Made, T)> = Vec::new();
    each(ada, |stored, node: T| {
        if is_wanted(&node) {
            *room = room.checked_sub(stored.record.text.len()).ok_or_else(too_large)?;
            found.push((made(stored), node));
        }
        Ok(())
    })
    .await?;
    found.sort_by_key(|(made, _)| *made);
    Ok(found.into_iter().map(|(_, node)| node).collect())
}

/// When a node was made: the time, and the place within the call.
type Made = (Timestamp, Option<u64>, RecordId);

fn made(stored: &StoredRecord) -> Made {
    let place = stored.record.first.metadata.get(PLACE).and_then(Value::as_u64);
    (stored.record.first.at, place, stored.record.id)
}

fn too_large() -> Refusal {
    Refusal::new(format!(
        "This takes more than {} MiB of the graph. search_nodes with rarer words and open_nodes with fewer names take less; \
         delete_entities and delete_observations make the graph smaller.",
        MOST >> 20
    ))
}

/// Returns the whole graph, in the order in which it was made. One of more than `room` bytes is refused.
pub(super) async fn read(ada: &Scoped, mut room: usize) -> Result<Graph, Refusal> {
    let entities = nodes(ada, &mut room, |_: &Entity| true).await?;
    let relations = nodes(ada, &mut room, |_: &Relation| true).await?;
    Ok(Graph { entities, relations })
}

/// Returns the entities that are wanted, and the relations that begin or end in one of them. More than `room` bytes are refused.
pub(super) async fn part(ada: &Scoped, mut room: usize, is_wanted: impl Fn(&Entity) -> bool) -> Result<Graph, Refusal> {
    let entities: Vec<Entity> = nodes(ada, &mut room, is_wanted).await?;
    let names: HashSet<&String> = entities.iter().map(|entity| &entity.name).collect();
    let relations = nodes(ada, &mut room, |relation: &Relation| is_at(relation, &names)).await?;
    drop(names);
    Ok(Graph { entities, relations })
}

/// Returns the ids of the relations that begin or end in one of these entities.
pub(super) async fn relations_at(ada: &Scoped, names: &HashSet<&String>) -> Result<Vec<RecordId>, Refusal> {
    let mut ids = Vec::new();
    each(ada, |stored, relation: Relation| {
        if is_at(&relation, names) {
            ids.push(stored.record.id);
        }
        Ok(())
    })
    .await?;
    Ok(ids)
}

fn is_at(relation: &Relation, names: &HashSet<&String>) -> bool {
    names.contains(&relation.from) || names.contains(&relation.to)
}

#[cfg(test)]
mod tests {
    use memory::Scope;

    use super::*;

    #[test]
    fn the_id_of_a_node_is_the_same_on_every_machine() {
        assert_eq!(id_of_entity("Ada").to_string(), "bbc3fab3-51b6-5bff-a3b6-007581a6e545");
    }

    #[tokio::test]
    async fn a_graph_beyond_its_bound_is_refused_whole_and_given_in_part() {
        let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        for name in ["Ada", "Bob"] {
            let observations = vec!["o".repeat(100)];
            let entity = Entity { name: name.to_owned(), entity_type: "person".to_owned(), observations };
            assert!(make_entity(&ada, &entity, 0).await.unwrap());
        }
        let relation =
            Relation { from: "Ada".to_owned(), to: "Porto".to_owned(), relation_type: "lives in".to_owned() };
        assert!(make_relation(&ada, &relation, 0).await.unwrap());
        let refused = read(&ada, 200).await.unwrap_err();
        assert!(refused.0.contains("open_nodes") && refused.0.contains("delete_entities"), "{refused:?}");
        let is_ada = |entity: &Entity| entity.name == "Ada";
        let near = part(&ada, 200, is_ada).await.unwrap();
        assert_eq!((near.entities.len(), &near.relations), (1, &vec![relation]));
        assert!(part(&ada, 120, is_ada).await.is_err());
        assert_eq!(read(&ada, MOST).await.unwrap().entities.len(), 2);
        assert_eq!(relations_at(&ada, &HashSet::from([&"Porto".to_owned()])).await.unwrap().len(), 1);
    }
}
