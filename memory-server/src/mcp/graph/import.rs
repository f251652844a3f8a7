//! Reading the file of the reference memory server: a line of JSON for each entity and relation.

use std::io::{self, BufRead};

use memory::{Error, Scoped};
use serde::Deserialize;

use super::shapes::{Entity, Relation, add};
use super::shelf;

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity(Entity),
    Relation(Relation),
}

/// What an import of a graph did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphImport {
    /// Entities that are new.
    pub entities: u64,
    /// Relations that are new.
    pub relations: u64,
    /// Observations that entities gained which were known.
    pub observations: u64,
    /// Entities and relations that were known.
    pub already: u64,
    /// Lines that are neither.
    pub rejected: u64,
}

/// Reads the file of the reference memory server into the graph of an owner. An entity that is known gains the observations that
/// it lacks, so the same file may be read again.
///
/// # Errors
/// The file cannot be read, or the memory fails; what was read before is stored.
pub async fn import_graph(ada: &Scoped, file: impl BufRead) -> io::Result<GraphImport> {
    let mut done = GraphImport::default();
    for (place, line) in file.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line) {
            Ok(line) => match take(ada, line, place, &mut done).await {
                Err(Error::Invalid { .. }) => done.rejected += 1,
                taken => taken.map_err(io::Error::other)?,
            },
            Err(_) => done.rejected += 1,
        }
    }
    Ok(done)
}

async fn take(ada: &Scoped, line: Line, place: usize, done: &mut GraphImport) -> Result<(), Error> {
    match line {
        Line::Entity(entity) if shelf::make_entity(ada, &entity, place).await? => done.entities += 1,
        Line::Relation(relation) if shelf::make_relation(ada, &relation, place).await? => done.relations += 1,
        Line::Relation(_) => done.already += 1,
        Line::Entity(entity) => {
            done.already += 1;
            let added = shelf::change(ada, &entity.name, |known| add(known, &entity.observations)).await?;
            done.observations += added.unwrap_or_default().len() as u64;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use memory::Scope;

    use super::*;

    #[tokio::test]
    async fn a_file_of_the_reference_is_read_and_read_again() {
        let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let file = concat!(
            "{\"type\":\"entity\",\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"likes tea\"]}\n",
            "{\"type\":\"relation\",\"from\":\"Ada\",\"to\":\"Porto\",\"relationType\":\"lives in\"}\n\nnot json\n{\"type\":\"other\"}",
        );
        let first = import_graph(&ada, file.as_bytes()).await.unwrap();
        assert_eq!((first.entities, first.relations, first.already, first.rejected), (1, 1, 0, 2));
        let more = file.replace("likes tea", "sails");
        let again = import_graph(&ada, more.as_bytes()).await.unwrap();
        assert_eq!((again.entities, again.relations, again.already, again.observations), (0, 0, 2, 1));
        let graph = shelf::read(&ada, shelf::MOST).await.unwrap();
        assert_eq!(graph.entities[0].observations, ["likes tea", "sails"]);
        assert_eq!(graph.relations[0].to, "Porto");
    }
}
