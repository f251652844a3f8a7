//! A text that was told in more than one place: in which sessions and runs, and what from.

use crate::id::{ItemId, SessionId};
use crate::message::Trust;
use crate::record::{Record, Telling};
use crate::time::Timestamp;

use super::remember::Remember;

impl Remember {
    /// Adds a telling in this session and run and from these sources, in all else like the first. A forget of what the text was told
    /// in or from takes back those tellings alone, and the record stays with the others.
    ///
    /// ```
    /// use memory_core::SessionId;
    /// use memory_core::engine::Remember;
    ///
    /// # fn example() -> memory_core::Result<()> {
    /// let told = Remember::fact("Ada has two cats")
    ///     .with_session(SessionId::new("home")?)
    ///     .also_told(Some(SessionId::new("work")?), None, Vec::new());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn also_told(mut self, session: Option<SessionId>, run: Option<String>, sources: Vec<ItemId>) -> Self {
        // The rest may be set later, and is taken from the first when it is stored.
        let place = Telling { session, run, sources, ..Telling::new(Timestamp(0), Trust::Untrusted) };
        self.record.again.push(place);
        self
    }
}

/// Gives the later tellings of what is to be remembered all that the first one has, but where it was told and what from.
pub(super) fn fill(record: &mut Record) {
    let Record { first, again, .. } = record;
    for telling in again {
        let Telling { session, run, sources, .. } = std::mem::replace(telling, first.clone());
        (telling.session, telling.run, telling.sources) = (session, run, sources);
    }
}
