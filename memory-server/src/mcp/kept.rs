//! What the tools of `graph` and `files` keep. They find a record by what it holds, and not what takes its place.

use memory::Record;

use super::{files, graph};

/// Returns why nobody else may take the place of a record: words that say by which tools it is changed. None for any other record.
pub(crate) fn kept_by_tools(record: &Record) -> Option<&'static str> {
    if graph::owns(record) {
        return Some(
            "this memory is of the knowledge graph: change it with the tools of the profile graph, such as add_observations, \
             delete_observations, create_relations and delete_relations",
        );
    }
    files::owns(record).then_some("this memory is a file: change it with the tool memory of the profile files")
}

/// Returns why a record may not be stored over one that these tools keep: they would not find it any more, or not show its words. None if
/// it is as they might have written it, and over any other record.
pub(crate) fn kept_from(record: &Record, stored: &Record) -> Option<&'static str> {
    if graph::writes(record) || files::owns(record) { None } else { kept_by_tools(stored) }
}
