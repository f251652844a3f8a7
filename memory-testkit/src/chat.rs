//! What conversation stores promise.

mod append;
mod delete;
mod fences;
mod fold;
mod get;
mod read;
mod redact;
mod restore;
mod sessions;
pub(crate) mod talk;

use crate::{Chat, Scenario};

/// Returns the scenarios of conversation stores and their upkeep.
pub fn table() -> Vec<Scenario<Chat>> {
    [
        append::TABLE,
        delete::TABLE,
        fences::TABLE,
        fold::TABLE,
        get::TABLE,
        read::TABLE,
        redact::TABLE,
        restore::TABLE,
        sessions::TABLE,
    ]
    .concat()
}
