//! The rows of a session: all of them, and their checksum.

use memory_core::store::chat::ChatStore;
use memory_core::{Error, Scope, SessionId, StoredMessage};

use super::checksum::Checksum;
use super::session_reader::{SessionReader, Torn};

/// Why a session was not copied at one moment.
pub(super) enum Interrupted {
    /// It was changed meanwhile, in the source or in the target.
    Torn,
    Failed(Error),
}

impl From<Torn> for Interrupted {
    fn from(_: Torn) -> Self {
        Self::Torn
    }
}

impl From<Error> for Interrupted {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Gives `see` the rows of a session, a page at a time.
pub(super) async fn each_row(
    store: &dyn ChatStore,
    scope: &Scope,
    session: &SessionId,
    mut see: impl FnMut(&StoredMessage),
) -> Result<(), Interrupted> {
    let mut session_reader = SessionReader::default();
    loop {
        let rows = session_reader.take(store.read(scope, session, &session_reader.page()).await?)?;
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().for_each(&mut see);
    }
}

/// Returns the checksum of all rows of a session.
pub(super) async fn sum_of(store: &dyn ChatStore, scope: &Scope, session: &SessionId) -> Result<Checksum, Interrupted> {
    let mut sum = Checksum::default();
    each_row(store, scope, session, |row| sum.add_message(row)).await?;
    Ok(sum)
}
