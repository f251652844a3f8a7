//! What a search has of each owner whose memory it searches: of the one who asks, and of those who share with them.

use crate::scope::Scope;

/// Something of each owner. An owner who shares is named by their scope, and whoever asks by none.
#[derive(Debug)]
pub(crate) struct OfEach<T> {
    pub(crate) own: T,
    pub(crate) shared: Vec<(Scope, T)>,
}

impl<T> OfEach<T> {
    /// Holds what there is of whoever asks, and nothing of others yet.
    pub(crate) fn of(own: T) -> Self {
        Self { own, shared: Vec::new() }
    }

    /// Returns what there is of whoever asks, then of the others in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<&Scope>, &T)> {
        let shared = self.shared.iter().map(|(owner, theirs)| (Some(owner), theirs));
        std::iter::once((None, &self.own)).chain(shared)
    }

    /// Returns what there is of each owner, in the same order, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        std::iter::once(&mut self.own).chain(self.shared.iter_mut().map(|(_, theirs)| theirs))
    }

    /// Returns what there is of an owner.
    pub(crate) fn get(&self, shared_by: Option<&Scope>) -> Option<&T> {
        let Some(owner) = shared_by else { return Some(&self.own) };
        self.shared.iter().find(|(other, _)| other == owner).map(|(_, theirs)| theirs)
    }

    /// Returns what there is of an owner, to be changed.
    pub(crate) fn get_mut(&mut self, shared_by: Option<&Scope>) -> Option<&mut T> {
        let Some(owner) = shared_by else { return Some(&mut self.own) };
        self.shared.iter_mut().find(|(other, _)| other == owner).map(|(_, theirs)| theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_their_own() {
        let [team, other] = ["team", "team:x"].map(|subject| Scope::new("acme", subject).unwrap());
        let mut each = OfEach { own: 1, shared: vec![(team.clone(), 2)] };
        if let Some(theirs) = each.get_mut(Some(&team)) {
            *theirs += 10;
        }
        each.iter_mut().for_each(|number| *number += 100);
        assert_eq!((each.get(None), each.get(Some(&team)), each.get(Some(&other))), (Some(&101), Some(&112), None));
        assert_eq!(each.iter().collect::<Vec<_>>(), [(None, &101), (Some(&team), &112)]);
        assert_eq!(each.get_mut(Some(&other)), None);
    }
}
