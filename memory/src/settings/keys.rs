//! The table of settings: every key that there is, in the order of its documentation.

mod buffer;
mod models;
mod servers;
mod tiers;

use super::key::Key;

pub(super) use buffer::*;
pub(super) use models::*;
pub(super) use servers::*;
pub(super) use tiers::*;

/// Writes keys as a table: a path, the other names, the variables, the kind, the default, the meaning.
macro_rules! keys {
    ($all:ident; $($name:ident $path:literal $others:tt $variables:tt $kind:expr, $default:literal, $what:literal;)*) => {
        $(pub(in super::super) static $name: Key = Key {
            path: $path, others: &$others, variables: &$variables, kind: $kind, default: $default, what: $what,
        };)*
        pub(super) static $all: &[&Key] = &[$(&$name),*];
    };
}
use keys;

/// Returns all keys.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    [buffer::BUFFER, tiers::TIERS, servers::SERVERS, models::MODELS].into_iter().flatten().copied()
}

/// Returns the sections of models: each says where one is asked.
#[cfg(test)]
pub(super) fn sections_of_models() -> Vec<&'static str> {
    models::MODELS.iter().filter(|key| key.name() == "base_url").map(|key| key.section()).collect()
}

/// Returns the sections, in order, and what each is about.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("buffer", "What a conversation's window shows, when its oldest part leaves, and how it is searched."),
    ("working", "The notes of agents, in this process alone."),
    ("persistent", "Where the truth is: conversations and records."),
    ("synopsis", "The synopsis of each owner. Kept of every owner where this section says anything."),
    ("search", "Where the indexes are, and how they are asked."),
    ("context", "What a context has where its request says nothing else."),
    ("gate", "The gate of what is remembered. Only the same words repeat a record where this section says nothing."),
    ("agents", "The ring buffer of an agent, which lives in its process: `Settings::ring_buffer`."),
    ("cache", "A cache before truth."),
    ("blackboard", "The boards that agents share."),
    ("journal", "A journal before conversations: appends go on while the truth is away."),
    ("retention", "How long, and how much, is kept of everybody."),
    ("guard", "What stands before every server."),
    ("elastic", "The Elasticsearch server that the place `elastic:` names. Without a host that place is switched off."),
    ("qdrant", "The Qdrant server that the place `qdrant:` names. Without a URL that place is switched off."),
    ("embedding", "How the server of `buffer.embedding_model` is asked."),
    ("summarizer", "Who writes summaries and synopses."),
    ("reranker", "Who judges the best candidates of a search."),
    ("extractor", "Who finds facts in what people say. It reads every conversation once, also those of before."),
    ("chat", "The model that answers in `memory chat`."),
];
