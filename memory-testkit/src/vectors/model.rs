//! What a vector store has to answer, by brute force in double precision over one owner's entries.

use std::collections::{BTreeMap, BTreeSet};

use memory_core::store::text::Deletion;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery};
use memory_core::{Epoch, ItemId, Version};

use crate::text::model::falls;
use crate::{Failure, Scene, equal};

/// How far a similarity may be off: single precision over some hundred numbers.
pub(crate) const TOLERANCE: f64 = 1e-5;

/// The entries of one owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct VectorModel {
    entries: BTreeMap<ItemId, VectorEntry>,
    below: Epoch,
}

impl VectorModel {
    /// Returns the model of an owner to whom `entries` were given.
    pub(crate) fn of(entries: &[VectorEntry]) -> Self {
        let mut model = Self::default();
        model.put(entries);
        model
    }

    pub(crate) fn put(&mut self, entries: &[VectorEntry]) {
        for entry in entries {
            let newer = self.entries.get(&entry.item).is_some_and(|stored| stored.version > entry.version);
            if !newer && entry.version.epoch >= self.below {
                self.entries.insert(entry.item.clone(), entry.clone());
            }
        }
    }

    pub(crate) fn delete(&mut self, what: &Deletion) {
        self.entries.retain(|item, entry| !falls(what, item, entry.version, &entry.fields));
    }

    /// Returns the versions of those of the items that are there, each once, in their order.
    pub(crate) fn versions(&self, items: &[ItemId]) -> Vec<(ItemId, Version)> {
        let items: BTreeSet<&ItemId> = items.iter().collect();
        items.into_iter().filter_map(|item| Some((item.clone(), self.entries.get(item)?.version))).collect()
    }

    pub(crate) fn erase(&mut self, below: Epoch) {
        self.below = self.below.max(below);
        self.entries.retain(|_, entry| entry.version.epoch >= below);
    }

    /// Returns `Ok` if `hits` answer `query`: as many as there must be, each as near as it says, none nearer left
    /// out, in the documented order.
    pub(crate) fn check(&self, query: &VectorQuery, hits: &[VectorHit]) -> Scene {
        let floor = query.floor.map_or(-2.0, |floor| f64::from(floor.value()));
        let matching = self.entries.values().filter(|entry| query.filter.matches(&entry.fields));
        let near: BTreeMap<&ItemId, f64> = matching.map(|entry| (&entry.item, best(&query.vector, entry))).collect();
        let count = |floor: f64| near.values().filter(|near| **near >= floor).count().min(query.limit);
        let (sure, possible) = (count(floor + TOLERANCE), count(floor - TOLERANCE));
        check!((sure..=possible).contains(&hits.len()), "{} hits, promised {sure} to {possible}", hits.len());
        let mut rest = near.clone();
        for hit in hits {
            let exact = rest.remove(&hit.item);
            let exact = exact.ok_or_else(|| Failure::new(format!("{:?} is no hit, or is one twice", hit.item)))?;
            self.check_hit(query, hit, exact, floor)?;
        }
        check_order(hits)?;
        let last = hits.last().map_or(-2.0, |hit| f64::from(hit.similarity.value()));
        let missed = rest.iter().find(|(_, exact)| hits.len() == query.limit && **exact > last + TOLERANCE);
        check!(missed.is_none(), "{missed:?} is nearer than the last hit at {last}");
        Ok(())
    }

    fn check_hit(&self, query: &VectorQuery, hit: &VectorHit, exact: f64, floor: f64) -> Scene {
        let (item, said) = (&hit.item, f64::from(hit.similarity.value()));
        check!((said - exact).abs() <= TOLERANCE, "{item:?} is said to be at {said}, and is at {exact}");
        check!(said >= floor - TOLERANCE, "{item:?} is at {said}, below the floor {floor}");
        let Some(entry) = self.entries.get(item) else { return Ok(()) };
        equal(&hit.fields, &entry.fields)?;
        let piece = usize::try_from(hit.piece).ok().and_then(|piece| entry.pieces.get(piece));
        let piece = piece.ok_or_else(|| Failure::new(format!("{item:?} has no piece {}", hit.piece)))?;
        let off = (cosine(&query.vector, piece) - exact).abs();
        check!(off <= TOLERANCE, "piece {} of {item:?} is not its nearest", hit.piece);
        equal(hit.vector.is_some(), query.with_vectors)?;
        let Some(vector) = &hit.vector else { return Ok(()) };
        equal(vector.len(), piece.len())?;
        let mut off = unit(piece).into_iter().zip(vector).map(|(exact, found)| (exact - f64::from(*found)).abs());
        check!(off.all(|off| off <= TOLERANCE), "{item:?} does not carry its piece at unit length");
        Ok(())
    }
}

/// Returns `Ok` if the hits stand nearest first, ties by newer `at`, then by item.
fn check_order(hits: &[VectorHit]) -> Scene {
    for (first, second) in hits.iter().zip(hits.iter().skip(1)) {
        let order = second.similarity.value().total_cmp(&first.similarity.value());
        let order = order.then_with(|| second.fields.at.cmp(&first.fields.at));
        let is_right = order.then_with(|| first.item.cmp(&second.item)).is_lt();
        check!(is_right, "{:?} stands before {:?}", first.item, second.item);
    }
    Ok(())
}

fn best(vector: &[f32], entry: &VectorEntry) -> f64 {
    entry.pieces.iter().map(|piece| cosine(vector, piece)).fold(-1.0, f64::max)
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    unit(a).iter().zip(unit(b)).map(|(a, b)| a * b).sum()
}

fn unit(vector: &[f32]) -> Vec<f64> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    vector.iter().map(|x| f64::from(*x) / length).collect()
}
