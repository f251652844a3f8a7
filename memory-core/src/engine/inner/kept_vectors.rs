//! A cache of recent vectors, least recently used out first. It saves embedding the same text of an owner again: a repeated
//! question, or a text whose put is retried.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::id::Digest;
use crate::model::{Embedder, Purpose};
use crate::scope::Scope;
use crate::sync::Lock;

/// Owner, purpose and text of a vector; no owner where all share it. The embedder is the same for all vectors of an index.
type Key = (Option<Scope>, Purpose, Digest);

/// A cache of the vectors of one embedder. Unless it is shared, a vector serves its owner alone, so that the time of an answer reveals
/// nothing about other owners.
#[derive(Debug)]
pub(crate) struct KeptVectors {
    capacity: usize,
    is_shared: bool,
    state: Lock<VectorCache>,
}

#[derive(Debug, Default)]
struct VectorCache {
    vectors: HashMap<Key, (u64, Arc<[f32]>)>,
    /// Keys by their last use, the least recently used first.
    order: BTreeMap<u64, Key>,
    /// Counts uses.
    uses: u64,
    /// Counts forgets. A vector that was looked up before a forget is not cached after it.
    forgotten: u64,
}

/// A look-up of some texts: the vectors found, and the texts that are missing.
#[derive(Debug)]
pub(crate) struct LookUp<'a> {
    keys: Vec<Key>,
    found: HashMap<Key, Option<Arc<[f32]>>>,
    missing: Vec<(Key, &'a str)>,
    since: u64,
}

impl<'a> LookUp<'a> {
    /// Returns the texts that are not in the cache, each once.
    pub(crate) fn missing(&self) -> Vec<&'a str> {
        self.missing.iter().map(|(_, text)| *text).collect()
    }
}

impl KeptVectors {
    /// Makes a cache of at most `capacity` vectors, which all owners share or not.
    pub(crate) fn new(capacity: usize, is_shared: bool) -> Self {
        Self { capacity, is_shared, state: Lock::default() }
    }

    /// Returns whether the vectors of so many texts have room.
    pub(crate) fn holds(&self, texts: usize) -> bool {
        texts <= self.capacity
    }

    /// Looks `texts` up. The caller embeds the missing ones, each once, and gives their vectors to [`KeptVectors::complete`].
    pub(crate) fn look_up<'a>(&self, scope: &Scope, texts: &[&'a str], purpose: Purpose) -> LookUp<'a> {
        let owner = (!self.is_shared).then_some(scope);
        let keys: Vec<Key> =
            texts.iter().map(|text| (owner.cloned(), purpose, Digest::of(&[text.as_bytes()]))).collect();
        let mut state = self.state.lock();
        let (mut found, mut missing) = (HashMap::new(), Vec::new());
        for (key, text) in keys.iter().zip(texts.iter().copied()) {
            if found.contains_key(key) {
                continue;
            }
            let kept = state.used(key);
            if kept.is_none() {
                missing.push((key.clone(), text));
            }
            found.insert(key.clone(), kept);
        }
        LookUp { keys, found, missing, since: state.forgotten }
    }

    /// Returns the vectors of all texts that were looked up, in order, and caches `made`, the vectors of the missing ones.
    ///
    /// # Errors
    /// `Invalid` if `made` has not one vector for each missing text.
    pub(crate) fn complete(
        &self,
        embedder: &dyn Embedder,
        look_up: LookUp<'_>,
        made: Vec<Vec<f32>>,
    ) -> Result<Vec<Vec<f32>>> {
        let LookUp { keys, mut found, missing, since } = look_up;
        if made.len() != missing.len() {
            return Err(Error::invalid("the embedder gave another number of vectors than texts"));
        }
        let made: Vec<(Key, Arc<[f32]>)> =
            missing.into_iter().zip(made).map(|((key, _), vector)| (key, vector.into())).collect();
        // A vector that no store accepts is not cached: the next call may do better.
        self.keep(made.iter().filter(|(_, vector)| embedder.space().check_vector(vector).is_ok()), since);
        found.extend(made.into_iter().map(|(key, vector)| (key, Some(vector))));
        Ok(keys.iter().filter_map(|key| found.get(key)?.as_deref()).map(<[f32]>::to_vec).collect())
    }

    /// Drops all vectors of an owner; all there are, if owners share them: nobody knows whose text it was.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut state = self.state.lock();
        state.forgotten += 1;
        let VectorCache { vectors, order, .. } = &mut *state;
        let is_others = |owner: &Option<Scope>| owner.as_ref().is_some_and(|owner| owner != scope);
        vectors.retain(|(owner, ..), _| is_others(owner));
        order.retain(|_, (owner, ..)| is_others(owner));
    }

    fn keep<'a>(&self, made: impl Iterator<Item = &'a (Key, Arc<[f32]>)>, since: u64) {
        let mut state = self.state.lock();
        if state.forgotten != since {
            return;
        }
        for (key, vector) in made {
            state.put(key.clone(), Arc::clone(vector));
            while state.vectors.len() > self.capacity {
                let Some((_, key)) = state.order.pop_first() else { return };
                state.vectors.remove(&key);
            }
        }
    }
}

impl VectorCache {
    fn used(&mut self, key: &Key) -> Option<Arc<[f32]>> {
        let (_, vector) = self.vectors.get(key)?;
        let vector = Arc::clone(vector);
        self.put(key.clone(), Arc::clone(&vector));
        Some(vector)
    }

    fn put(&mut self, key: Key, vector: Arc<[f32]>) {
        self.uses += 1;
        if let Some((before, _)) = self.vectors.insert(key.clone(), (self.uses, vector)) {
            self.order.remove(&before);
        }
        self.order.insert(self.uses, key);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hashing::HashEmbedder;

    struct Bed {
        kept: KeptVectors,
        embedder: HashEmbedder,
    }

    impl Bed {
        fn new(capacity: usize) -> Self {
            Self { kept: KeptVectors::new(capacity, false), embedder: HashEmbedder::new(8) }
        }

        /// Returns how many texts had to be embedded.
        fn of(&self, owner: &str, texts: &[&str], purpose: Purpose) -> usize {
            let look_up = self.kept.look_up(&Scope::new("acme", owner).unwrap(), texts, purpose);
            let missing = look_up.missing();
            let made = missing.iter().map(|text| self.embedder.vector(text)).collect();
            let vectors = self.kept.complete(&self.embedder, look_up, made).unwrap();
            let promised: Vec<_> = texts.iter().map(|text| self.embedder.vector(text)).collect();
            assert_eq!(vectors, promised);
            missing.len()
        }
    }

    #[test]
    fn s1_2_a_text_is_embedded_once_for_each_owner_and_purpose() {
        let bed = Bed::new(10);
        assert_eq!(bed.of("ada", &["a", "b", "a"], Purpose::Document), 2);
        assert_eq!(bed.of("ada", &["b", "c", "a"], Purpose::Document), 1);
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 1);
        assert_eq!(bed.of("bob", &["a"], Purpose::Document), 1);
    }

    #[test]
    fn s1_2_the_longest_unused_vector_goes_first() {
        let bed = Bed::new(2);
        bed.of("ada", &["a", "b"], Purpose::Query);
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 0);
        assert_eq!(bed.of("ada", &["c"], Purpose::Query), 1);
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 0);
        assert_eq!(bed.of("ada", &["b"], Purpose::Query), 1);
    }

    #[test]
    fn s1_2_owners_share_vectors_only_where_that_is_set_and_then_forget_them_all() {
        let bed = Bed { kept: KeptVectors::new(10, true), ..Bed::new(0) };
        assert_eq!(bed.of("ada", &["a", "b"], Purpose::Document), 2);
        assert_eq!(bed.of("bob", &["a", "c"], Purpose::Document), 1);
        assert_eq!(bed.of("bob", &["a"], Purpose::Query), 1);
        bed.kept.forget(&Scope::new("acme", "ada").unwrap());
        assert_eq!(bed.of("bob", &["a", "c"], Purpose::Document), 2);
    }

    #[test]
    fn forgetting_an_owner_drops_its_vectors_and_no_others() {
        let bed = Bed::new(10);
        bed.of("ada", &["a"], Purpose::Query);
        bed.of("bob", &["a"], Purpose::Query);
        bed.kept.forget(&Scope::new("acme", "ada").unwrap());
        assert_eq!(bed.of("bob", &["a"], Purpose::Query), 0);
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 1);
    }

    #[test]
    fn what_was_asked_for_before_an_owner_was_forgotten_is_not_kept() {
        let bed = Bed::new(10);
        let ada = Scope::new("acme", "ada").unwrap();
        let look_up = bed.kept.look_up(&ada, &["a"], Purpose::Query);
        bed.kept.forget(&ada);
        bed.kept.complete(&bed.embedder, look_up, vec![bed.embedder.vector("a")]).unwrap();
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 1);
    }

    #[test]
    fn bad_vectors_are_not_kept_and_missing_ones_are_an_error() {
        let bed = Bed::new(10);
        let ada = Scope::new("acme", "ada").unwrap();
        let look_up = bed.kept.look_up(&ada, &["a"], Purpose::Query);
        bed.kept.complete(&bed.embedder, look_up, vec![vec![f32::NAN; 8]]).unwrap();
        assert_eq!(bed.of("ada", &["a"], Purpose::Query), 1);
        let look_up = bed.kept.look_up(&ada, &["b"], Purpose::Query);
        assert!(matches!(bed.kept.complete(&bed.embedder, look_up, Vec::new()), Err(Error::Invalid { .. })));
    }

    proptest! {
        #[test]
        fn never_more_than_the_capacity_is_kept(capacity in 0usize..5, texts in prop::collection::vec("[a-f]", 0..40)) {
            let bed = Bed::new(capacity);
            for text in &texts {
                bed.of("ada", &[text], Purpose::Query);
                let state = bed.kept.state.lock();
                prop_assert!(state.vectors.len() <= capacity);
                prop_assert_eq!(state.vectors.len(), state.order.len());
            }
        }
    }
}
