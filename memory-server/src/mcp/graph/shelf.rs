//! Entities and relations as records: made once, changed over what was read, and forgotten.

use memory::store::record::Telling;
use memory::store::records::Expect;
use memory::{Error, Field, Filter, Forget, Record, RecordId, Scoped, StoredRecord, Timestamp, Trust};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::shapes::{Entity, Graph, Relation};
use crate::mcp::tool::ORIGIN;

/// The kinds of the records.
const ENTITY: &str = "entity";
const RELATION: &str = "relation";
/// The member of their metadata that holds the shape, and the one that holds the place within a call.
const NODE: &str = "node";
const PLACE: &str = "place";
/// How many are read at once.
const PAGE: usize = 500;
/// How often a change is tried that loses against others.
const ATTEMPTS: usize = 1_000;

fn id(parts: &[&str]) -> RecordId {
    let mut bytes = b"graph\0".to_vec();
    for part in parts {
        bytes.extend(part.len().to_le_bytes());
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

/// Returns what is searched for: the name, the type, and each observation on a line.
fn words(entity: &Entity) -> String {
    let head = format!("{} ({})", entity.name, entity.entity_type);
    [&[head], entity.observations.as_slice()].concat().join("\n")
}

fn record(id: RecordId, kind: &str, text: String, node: Value, place: usize, now: Timestamp) -> Record {
    let mut first = Telling { origin: Some(ORIGIN.to_owned()), ..Telling::new(now, Trust::Assistant) };
    first.metadata.insert(NODE.to_owned(), node);
    first.metadata.insert(PLACE.to_owned(), json!(place));
    Record { id, first, ..Record::new(kind, text, now) }
}

async fn make(ada: &Scoped, record: Record) -> Result<bool, Error> {
    match ada.put(record, Expect::Absent).await {
        Ok(_) => Ok(true),
        Err(Error::IdConflict { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes an entity, and returns false if one has its name.
pub(super) async fn make_entity(ada: &Scoped, entity: &Entity, place: usize) -> Result<bool, Error> {
    let now = ada.memory().now();
    make(ada, record(id_of_entity(&entity.name), ENTITY, words(entity), json!(entity), place, now)).await
}

/// Makes a relation, and returns false if there is the same.
pub(super) async fn make_relation(ada: &Scoped, relation: &Relation, place: usize) -> Result<bool, Error> {
    let Relation { from, to, relation_type } = relation;
    let (text, now) = (format!("{from} {relation_type} {to}"), ada.memory().now());
    make(ada, record(id_of_relation(relation), RELATION, text, json!(relation), place, now)).await
}

fn node<T: DeserializeOwned>(stored: &StoredRecord) -> Option<T> {
    serde_json::from_value(stored.record.first.metadata.get(NODE)?.clone()).ok()
}

/// Returns an entity.
pub(super) async fn entity(ada: &Scoped, name: &str) -> Result<Option<(Entity, StoredRecord)>, Error> {
    let stored = ada.get(&[id_of_entity(name)]).await?.pop();
    Ok(stored.and_then(|stored| Some((node(&stored)?, stored))))
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
        let mut record = Record { text: words(&entity), ..(*stored.record).clone() };
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

/// Returns the whole graph, in the order in which it was made.
pub(super) async fn read(ada: &Scoped) -> Result<Graph, Error> {
    let filter = Filter::In(Field::Kind, vec![ENTITY.into(), RELATION.into()]);
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = ada.records(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        all.extend(page);
    }
    all.sort_by_key(|stored| {
        let place = stored.record.first.metadata.get(PLACE).and_then(Value::as_u64);
        (stored.record.first.at, place, stored.record.id)
    });
    // Records of these kinds that others made have no shape of the graph, and are left out.
    let of = |kind| all.iter().filter(move |stored| stored.record.kind == kind);
    Ok(Graph { entities: of(ENTITY).filter_map(node).collect(), relations: of(RELATION).filter_map(node).collect() })
}
