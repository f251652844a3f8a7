//! The common parts of text and vector indexes: owners, the keys of items, and the columns for filters.

pub(crate) mod burial;
pub(crate) mod columns;
pub(crate) mod incoming;
pub(crate) mod key;
pub(crate) mod owner;
pub(crate) mod place;

use memory_core::store::text::Deletion;
use memory_core::{Error, Scope};
use sqlx::postgres::PgConnection;

use crate::error::{Attempt, BACKEND, Doing};

pub(crate) use incoming::{Incoming, newest};
pub(crate) use owner::Owner;

/// Returns the error for an index whose tables are inconsistent.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::corrupt(BACKEND, what)
}

/// Lets row-level security show the owner's rows until the transaction ends.
pub(crate) async fn show(connection: &mut PgConnection, scope: &Scope) -> Attempt<()> {
    let sql = "SELECT set_config('memory.scope', $1, true)";
    sqlx::query(sql).bind(scope.key()).execute(connection).await.doing("name the owner").map(|_| ())
}

/// Returns how many items a deletion can affect at most.
pub(crate) fn most(what: &Deletion) -> usize {
    match what {
        Deletion::Items(items) => items.len(),
        Deletion::Session(..) => usize::MAX,
    }
}
