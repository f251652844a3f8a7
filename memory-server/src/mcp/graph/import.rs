//! Reading the file of the reference memory server: a line of JSON for each entity and relation.

use std::io::{self, BufRead};

use memory::import::mend_surrogates;
use memory::{Error, Scoped};
use serde::{Deserialize, Serialize};

use super::shapes::{Entity, Relation, add};
use super::shelf;

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity(Entity),
    Relation(Relation),
}

/// A line that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphRejection {
    /// Its number; the first line has 1.
    pub line: u64,
    /// Why, as a clause.
    pub why: String,
}

/// Rejections that are told one by one.
const TOLD: usize = 1_000;

/// What an import of a graph did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Lines that are neither, or that the memory refuses.
    pub rejected: u64,
    /// The first thousand of those, in their order.
    pub rejections: Vec<GraphRejection>,
}

impl GraphImport {
    fn reject(&mut self, place: usize, why: String) {
        self.rejected += 1;
        if self.rejections.len() < TOLD {
            self.rejections.push(GraphRejection { line: place as u64 + 1, why });
        }
    }
}

/// Reads the file of the reference memory server into the graph of an owner. An entity that is known gains the observations that
/// it lacks, so the same file may be read again. A line that cannot be read is rejected, and those behind it are read all the same.
///
/// # Errors
/// The file cannot be read, or the memory fails; what was read before is stored.
pub async fn import_graph(ada: &Scoped, file: impl BufRead) -> io::Result<GraphImport> {
    let mut done = GraphImport::default();
    for (place, line) in file.split(b'\n').enumerate() {
        let mut line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        mend_surrogates(&mut line);
        match serde_json::from_slice(&line) {
            Ok(line) => match take(ada, line, place, &mut done).await {
                Err(Error::Invalid { what }) => done.reject(place, what),
                taken => taken.map_err(io::Error::other)?,
            },
            Err(error) => done.reject(place, told(&error)),
        }
    }
    Ok(done)
}

/// Tells why a line is not read, without the number of the line, which is 1 for each.
fn told(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
    // It may quote a word of any length.
    let why: String = why.chars().take(200).collect();
    if error.is_data() {
        format!("neither an entity nor a relation: {why}")
    } else {
        format!("not JSON: {why}, column {}", error.column())
    }
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

    #[tokio::test]
    async fn a_line_that_cannot_be_read_is_told_with_its_number_and_those_behind_it_are_read() {
        let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let entity = |name: &str| {
            let line = r#"{"type":"entity","name":"NAME","entityType":"person","observations":[]}"#;
            [&*line.replace("NAME", name).into_bytes(), b"\n"].concat()
        };
        let bytes = [b'"', 0xff, b'"', b'\n'];
        let other = b"{\"type\":\"other\"}\r\n";
        let part = b"{\"type\":\"relation\",\"from\":\"Ada\",\"to\":\"Bob\"}\n";
        let half = entity("half \\ud83d");
        let file = [&*entity("Ada"), &bytes, b"\n", other, part, &*half, &*entity("Bob")].concat();
        let done = import_graph(&ada, &*file).await.unwrap();
        assert_eq!((done.entities, done.rejected), (3, 3), "{done:?}");
        let told: Vec<(u64, &str)> = done.rejections.iter().map(|one| (one.line, &*one.why)).collect();
        let kind = "neither an entity nor a relation: unknown variant `other`, expected `entity` or `relation`";
        let relation = "neither an entity nor a relation: missing field `relationType`";
        assert_eq!(told, [(2, "not JSON: invalid unicode code point, column 2"), (4, kind), (5, relation)]);
        let graph = shelf::read(&ada, shelf::MOST).await.unwrap();
        let names: Vec<&str> = graph.entities.iter().map(|entity| &*entity.name).collect();
        assert_eq!(names, ["Ada", "half \u{fffd}", "Bob"]);
    }
}
