//! The rows of a session: all of them, their checksum, and whether those of a target are an older copy.

use std::collections::HashMap;

use memory_core::store::chat::ChatStore;
use memory_core::{Error, MessageId, Scope, Seq, SessionId, StoredMessage};

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
async fn each_row(
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

/// Returns whether every row of the target stands in the source at the same place: then the target's session can only
/// be a copy from before the source was summarised further or forgot something, and may be made anew.
pub(super) async fn is_older_copy(
    here: &dyn ChatStore,
    there: &dyn ChatStore,
    scope: &Scope,
    session: &SessionId,
) -> Result<bool, Interrupted> {
    let mut places = HashMap::<MessageId, (Seq, bool)>::new();
    let see = |row: &StoredMessage| {
        places.insert(row.id, (row.seq, row.message.is_some()));
    };
    each_row(here, scope, session, see).await?;
    let mut is_known = true;
    let see = |row: &StoredMessage| {
        is_known &= match places.get(&row.id) {
            // What the target forgot stays forgotten.
            Some((seq, has_content)) => *seq == row.seq && (row.message.is_some() || !has_content),
            None => false,
        };
    };
    each_row(there, scope, session, see).await?;
    Ok(is_known)
}
