//! What conversation stores promise.

mod append;
mod content;
mod counters;
mod delete;
mod erase;
mod fences;
mod fold;
mod get;
mod histories;
pub(crate) mod model;
mod notes;
mod read;
mod redact;
mod repeats;
mod restart;
mod restore;
mod sessions;
mod storm;
pub(crate) mod talk;
mod together;

use crate::{Chat, Scenario, closing, filters, upkeep};

/// Returns the scenarios of conversation stores and their upkeep.
pub fn table() -> Vec<Scenario<Chat>> {
    [
        append::TABLE,
        closing::CHAT,
        closing::TALK,
        content::TABLE,
        counters::DURABLE,
        counters::TABLE,
        delete::TABLE,
        erase::TABLE,
        fences::TABLE,
        filters::CHAT,
        fold::TABLE,
        get::TABLE,
        histories::TABLE,
        notes::DURABLE,
        notes::TABLE,
        read::TABLE,
        redact::TABLE,
        repeats::TABLE,
        restart::BESIDE,
        restart::TABLE,
        restore::TABLE,
        sessions::TABLE,
        storm::TABLE,
        together::TABLE,
        &upkeep::of_chat(),
    ]
    .concat()
}
