//! Records whose tellings were taken back, until the indexes hold nothing of these. A call that fails or is cut off leaves them here
//! for the next one.

use std::collections::{BTreeMap, HashMap};

use crate::id::RecordId;
use crate::scope::Scope;
use crate::sync::Lock;

/// Records by owner, each with the newest version that held tellings which were, or are about to be, taken back.
#[derive(Debug, Default)]
pub(crate) struct TakenBack(Lock<HashMap<Scope, BTreeMap<RecordId, u64>>>);

impl TakenBack {
    /// Notes that this version of a record is about to lose tellings.
    pub(crate) fn note(&self, scope: &Scope, id: RecordId, version: u64) {
        let mut owners = self.0.lock();
        let noted = owners.entry(scope.clone()).or_default().entry(id).or_default();
        *noted = version.max(*noted);
    }

    /// Returns the owner's records with their versions.
    pub(crate) fn of(&self, scope: &Scope) -> BTreeMap<RecordId, u64> {
        self.0.lock().get(scope).cloned().unwrap_or_default()
    }

    /// Takes out records, except those of which a later version was noted since.
    pub(crate) fn remove(&self, scope: &Scope, done: &BTreeMap<RecordId, u64>) {
        let mut owners = self.0.lock();
        if let Some(noted) = owners.get_mut(scope) {
            noted.retain(|id, version| done.get(id).is_none_or(|done| *done < *version));
            if noted.is_empty() {
                owners.remove(scope);
            }
        }
    }

    /// Takes out everything of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.0.lock().remove(scope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stays_until_its_newest_version_is_done() {
        let (taken_back, ada) = (TakenBack::default(), Scope::new("acme", "ada").unwrap());
        let [one, two] = ["one", "two"].map(|text| RecordId::of_content(text.as_bytes()));
        taken_back.note(&ada, one, 3);
        taken_back.note(&ada, two, 1);
        let seen = taken_back.of(&ada);
        assert_eq!(seen, BTreeMap::from([(one, 3), (two, 1)]));
        taken_back.note(&ada, one, 4);
        taken_back.note(&ada, one, 2);
        assert!(taken_back.of(&Scope::new("acme", "bob").unwrap()).is_empty());
        taken_back.remove(&ada, &seen);
        assert_eq!(taken_back.of(&ada), BTreeMap::from([(one, 4)]));
        taken_back.remove(&ada, &taken_back.of(&ada));
        assert!(taken_back.0.lock().is_empty());
        taken_back.note(&ada, one, 5);
        taken_back.forget(&ada);
        assert!(taken_back.of(&ada).is_empty());
    }
}
