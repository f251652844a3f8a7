//! Records whose tellings were taken back, until the indexes hold nothing of these. A call that fails or is cut off leaves them here
//! for the next one. While an index is away they do not become more and more: of an owner with very many, it is kept that any record
//! may be one.

use std::collections::{BTreeMap, HashMap};

use crate::id::RecordId;
use crate::scope::Scope;
use crate::sync::Lock;

/// How many records of an owner are kept one by one.
const MOST: usize = 1_000;

/// The records of all owners.
#[derive(Debug, Default)]
pub(crate) struct TakenBack(Lock<State>);

#[derive(Debug, Default)]
struct State {
    owners: HashMap<Scope, Noted>,
    /// How often an owner had more than are kept.
    overflows: u64,
}

/// Records of an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// Each with the newest version that held tellings which were, or are about to be, taken back.
    pub(crate) records: BTreeMap<RecordId, u64>,
    /// Set if there were more, so that any record of the owner may be one of them: another number each time.
    pub(crate) more: Option<u64>,
}

impl TakenBack {
    /// Notes that this version of a record is about to lose tellings, or that it has lost them.
    pub(crate) fn note(&self, scope: &Scope, id: RecordId, version: u64) {
        let mut state = self.0.lock();
        let State { owners, overflows } = &mut *state;
        let noted = owners.entry(scope.clone()).or_default();
        if noted.records.len() >= MOST && !noted.records.contains_key(&id) {
            *overflows += 1;
            *noted = Noted { records: BTreeMap::new(), more: Some(*overflows) };
        }
        let kept = noted.records.entry(id).or_default();
        *kept = version.max(*kept);
    }

    /// Returns the owner's records.
    pub(crate) fn of(&self, scope: &Scope) -> Noted {
        self.0.lock().owners.get(scope).cloned().unwrap_or_default()
    }

    /// Takes out records, except those of which a later version was noted since.
    pub(crate) fn remove(&self, scope: &Scope, done: &Noted) {
        let mut state = self.0.lock();
        let Some(noted) = state.owners.get_mut(scope) else { return };
        noted.records.retain(|id, version| done.records.get(id).is_none_or(|done| *done < *version));
        noted.more = noted.more.filter(|more| done.more != Some(*more));
        if *noted == Noted::default() {
            state.owners.remove(scope);
        }
    }

    /// Takes out everything of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.0.lock().owners.remove(scope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(subject: &str) -> Scope {
        Scope::new("acme", subject).unwrap()
    }

    fn record(text: &str) -> RecordId {
        RecordId::of_content(text.as_bytes())
    }

    #[test]
    fn a_record_stays_until_its_newest_version_is_done() {
        let (taken_back, ada) = (TakenBack::default(), owner("ada"));
        let [one, two] = ["one", "two"].map(record);
        taken_back.note(&ada, one, 3);
        taken_back.note(&ada, two, 1);
        let seen = taken_back.of(&ada);
        assert_eq!(seen.records, BTreeMap::from([(one, 3), (two, 1)]));
        taken_back.note(&ada, one, 4);
        taken_back.note(&ada, one, 2);
        assert_eq!(taken_back.of(&owner("bob")), Noted::default());
        taken_back.remove(&ada, &seen);
        assert_eq!(taken_back.of(&ada).records, BTreeMap::from([(one, 4)]));
        taken_back.remove(&ada, &taken_back.of(&ada));
        assert!(taken_back.0.lock().owners.is_empty());
        taken_back.note(&ada, one, 5);
        taken_back.forget(&ada);
        assert_eq!(taken_back.of(&ada), Noted::default());
    }

    #[test]
    fn of_very_many_records_it_is_kept_that_there_are_more() {
        let (taken_back, ada) = (TakenBack::default(), owner("ada"));
        let note = |range: std::ops::Range<usize>| {
            range.for_each(|number| taken_back.note(&ada, record(&number.to_string()), 1));
        };
        note(0..MOST);
        note(0..MOST);
        let few = taken_back.of(&ada);
        assert_eq!((few.records.len(), few.more), (MOST, None), "a repeat adds nothing");
        note(MOST..5 * MOST);
        let many = taken_back.of(&ada);
        assert!(many.records.len() <= MOST && many.more.is_some());
        taken_back.remove(&ada, &few);
        assert_eq!(taken_back.of(&ada), many, "these are not all");
        note(5 * MOST..7 * MOST);
        taken_back.remove(&ada, &many);
        let since = taken_back.of(&ada);
        assert!(since.more.is_some() && since.more != many.more, "there were more since");
        taken_back.remove(&ada, &since);
        assert!(taken_back.0.lock().owners.is_empty());
    }
}
