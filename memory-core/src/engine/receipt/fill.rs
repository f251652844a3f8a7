//! Filling in a receipt of a search: what was left out, and what was found with the owners who share.

use crate::scope::Scope;

use super::{Degraded, LeftOut, SearchReceipt, Sharing};

impl SearchReceipt {
    /// Lists what was left out of all that was found, of which so many went in.
    pub(in crate::engine) fn list(&mut self, left_out: Vec<LeftOut>, went_in: usize) {
        self.not_listed = self.not_listed.saturating_sub(went_in.saturating_add(left_out.len()));
        self.left_out = left_out;
    }

    /// Adds what was found with an owner who shares.
    pub(in crate::engine) fn share(&mut self, owner: &Scope, theirs: Self) {
        self.text_candidates += theirs.text_candidates;
        self.vector_candidates += theirs.vector_candidates;
        self.notes += theirs.notes;
        self.not_listed += theirs.not_listed;
        for (stage, micros) in theirs.stages {
            let longest = self.stages.entry(stage).or_default();
            *longest = micros.max(*longest);
        }
        self.sharing.push(Sharing {
            owner: owner.clone(),
            text_candidates: theirs.text_candidates,
            vector_candidates: theirs.vector_candidates,
            notes: theirs.notes,
            dropped_at_hydration: theirs.dropped_at_hydration,
            degraded: Vec::new(),
        });
        self.degrade(Some(owner), theirs.degraded);
    }

    /// Notes what failed with the owner who shares, or with whoever asks. What fails alike, with several or again, is told once.
    pub(in crate::engine) fn degrade(&mut self, shared_by: Option<&Scope>, degraded: Vec<Degraded>) {
        let mut sharing = self.sharing.iter_mut().find(|sharing| Some(&sharing.owner) == shared_by);
        for degraded in degraded {
            if !self.degraded.contains(&degraded) {
                self.degraded.push(degraded.clone());
            }
            if let Some(sharing) = &mut sharing
                && !sharing.degraded.contains(&degraded)
            {
                sharing.degraded.push(degraded);
            }
        }
    }

    /// Counts an id whose content is gone.
    pub(in crate::engine) fn drop_one(&mut self, shared_by: Option<&Scope>) {
        self.dropped_at_hydration += 1;
        if let Some(sharing) = self.sharing.iter_mut().find(|sharing| Some(&sharing.owner) == shared_by) {
            sharing.dropped_at_hydration += 1;
        }
    }
}
