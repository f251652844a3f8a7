//! The finding of facts, as a reader that follows conversations like an index.

use std::sync::Arc;

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::extract::Extractor;
use crate::recent::RECENT;
use crate::store::upkeep::{Incarnation, IndexName};
use crate::sync::Lock;
use crate::time::Timestamp;

/// Who finds facts, and under which name truth notes conversations for that.
#[derive(Debug)]
pub(crate) struct Extraction {
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) name: IndexName,
    state: Lock<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// When truth was last asked whether it notes conversations; none if it is to be asked anew.
    asked: Option<Timestamp>,
    /// Whether this process has retired it. It is then not enlisted again.
    is_retired: bool,
}

impl Extraction {
    /// Returns the extraction by `extractor`.
    ///
    /// # Errors
    /// `Invalid` if its name is empty, too long or not printable ASCII.
    pub(crate) fn new(extractor: Arc<dyn Extractor>) -> Result<Self> {
        let name = extractor.name();
        if name.is_empty() || name.len() > 200 {
            return Err(Error::invalid("the name of an extractor has 1 to 200 characters"));
        }
        let name = IndexName::new(&format!("{}{name}", IndexName::FACTS))?;
        Ok(Self { extractor, name, state: Lock::default() })
    }

    /// Returns the same incarnation for the same name: what was found is truth, and is not lost with a place.
    pub(crate) fn incarnation(&self) -> Incarnation {
        Incarnation(Uuid::new_v5(&Uuid::NAMESPACE_OID, self.name.as_str().as_bytes()))
    }

    /// Returns whether truth is to be asked to note conversations.
    pub(crate) fn is_to_enlist(&self, now: Timestamp) -> bool {
        let state = self.state();
        !state.is_retired && !state.asked.is_some_and(|asked| asked <= now && now.since(asked) < RECENT)
    }

    pub(crate) fn set_enlisted(&self, at: Option<Timestamp>) {
        self.state.lock().asked = at;
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.state().is_retired
    }

    pub(crate) fn retire(&self) {
        self.state.lock().is_retired = true;
    }

    fn state(&self) -> State {
        *self.state.lock()
    }
}
