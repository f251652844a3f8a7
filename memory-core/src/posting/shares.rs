//! The shares of a document: what its neighbours lend it for each time that they hold a term.
//!
//! A document's neighbours' counts are many, but they are sums of multiples of few numbers. So these stand once, and a count is
//! how often each is taken. What is no such sum to the last bit is kept as it is.

use super::Damaged;

/// How many shares a document has at most: one of each neighbour.
pub(super) const SHARES: usize = 4;

/// The most times that one share is taken.
const MOST_TIMES: u8 = 15;

/// How far the sum of shares in another order may be off.
const ROUNDING: f64 = 1e-6;

/// The shares of a document, in the order in which they are added up; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares([f32; SHARES]);

/// A neighbours' count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lent {
    /// How often each share is taken: the count is their sum.
    Times([u8; SHARES]),
    /// The count, where it is no such sum.
    Exact(f32),
}

impl Lent {
    /// No count at all.
    pub(super) const NOTHING: Self = Self::Times([0; SHARES]);
}

impl Shares {
    /// Returns the shares by which most of a document's neighbours' counts can be told.
    pub(super) fn of(mut counts: Vec<f32>) -> Self {
        counts.sort_unstable_by(f32::total_cmp);
        let distinct: Vec<(f32, usize)> =
            counts.chunk_by(|a, b| a == b).filter_map(|same| Some((*same.first()?, same.len()))).collect();
        let (mut shares, mut used) = (Self::default(), 0);
        let mut sums = Vec::new();
        for (count, often) in distinct {
            if let Some(times) = shares.find(count, &|_| true) {
                sums.push((count, often, times));
            } else if let Some(share) = shares.0.get_mut(used) {
                *share = count;
                used += 1;
            }
        }
        // Rounding depends on the order.
        sums.retain(|(_, _, times)| times.iter().filter(|times| **times > 0).count() > 2);
        let is_sum = |order: &[usize; SHARES], (count, often, times): &(f32, usize, [u8; SHARES])| {
            let sum = shares.ordered(order).sum(Self::times_in(times, order));
            if sum == *count { *often } else { 0 }
        };
        let told = |order: &[usize; SHARES]| sums.iter().map(|sum| is_sum(order, sum)).sum::<usize>();
        let best = orders().into_iter().rev().max_by_key(told).unwrap_or([0, 1, 2, 3]);
        shares.ordered(&best)
    }

    fn ordered(&self, order: &[usize; SHARES]) -> Self {
        Self(order.map(|place| self.0.get(place).copied().unwrap_or_default()))
    }

    fn times_in(times: &[u8; SHARES], order: &[usize; SHARES]) -> [u8; SHARES] {
        order.map(|place| times.get(place).copied().unwrap_or_default())
    }

    /// Returns how a neighbours' count is told by the shares.
    pub(super) fn lent(&self, near: f32) -> Lent {
        if near == 0.0 {
            return Lent::NOTHING;
        }
        self.find(near, &|times| self.sum(times) == near).map_or(Lent::Exact(near), Lent::Times)
    }

    /// Returns the neighbours' count that `lent` tells.
    #[inline(always)]
    pub fn near(&self, lent: Lent) -> f32 {
        match lent {
            Lent::Times(times) => self.sum(times),
            Lent::Exact(near) => near,
        }
    }

    #[inline(always)]
    fn sum(&self, times: [u8; SHARES]) -> f32 {
        self.0.iter().zip(times).fold(0.0, |sum, (share, times)| sum + f32::from(times) * share)
    }

    /// Finds times whose sum is `count` but for rounding, and that pass `is_it`.
    fn find(&self, count: f32, is_it: &dyn Fn([u8; SHARES]) -> bool) -> Option<[u8; SHARES]> {
        let mut places: Vec<usize> = (0..SHARES).filter(|place| self.0.get(*place).is_some_and(|s| *s > 0.0)).collect();
        places
            .sort_unstable_by(|a, b| self.0.get(*b).partial_cmp(&self.0.get(*a)).unwrap_or(std::cmp::Ordering::Equal));
        let mut times = [0; SHARES];
        let count = f64::from(count);
        self.try_places(&places, count, count * ROUNDING, &mut times, is_it).then_some(times)
    }

    /// Tries the times of the shares at `places`, the largest first. The last one is computed.
    fn try_places(
        &self,
        places: &[usize],
        rest: f64,
        rounding: f64,
        times: &mut [u8; SHARES],
        is_it: &dyn Fn([u8; SHARES]) -> bool,
    ) -> bool {
        let Some((place, later)) = places.split_first() else { return false };
        let share = self.0.get(*place).copied().map_or(f64::INFINITY, f64::from);
        let most = ((rest + rounding) / share).min(f64::from(MOST_TIMES)) as u8;
        let least = if later.is_empty() { most } else { 0 };
        for now in least..=most {
            if let Some(times) = times.get_mut(*place) {
                *times = now;
            }
            let left = rest - f64::from(now) * share;
            if (left.abs() <= rounding && is_it(*times)) || self.try_places(later, left, rounding, times, is_it) {
                return true;
            }
        }
        if let Some(times) = times.get_mut(*place) {
            *times = 0;
        }
        false
    }
}

/// Returns all orders of the shares.
fn orders() -> Vec<[usize; SHARES]> {
    let all = 0..SHARES.pow(SHARES as u32);
    let digits = |number: usize| [number / 64 % 4, number / 16 % 4, number / 4 % 4, number % 4];
    let is_order = |order: &[usize; SHARES]| (0..SHARES).all(|place| order.contains(&place));
    all.map(digits).filter(is_order).collect()
}

/// Returns the bytes of the shares of documents, one after the other.
pub fn encode_shares(shares: &[Shares]) -> Vec<u8> {
    shares.iter().flat_map(|Shares(shares)| shares.map(f32::to_le_bytes)).flatten().collect()
}

/// The shares of documents as they are stored: none is read before it is sought.
#[derive(Debug, Default)]
pub struct StoredShares(Vec<u8>);

impl StoredShares {
    /// Returns the shares that [`encode_shares`] wrote for at least so many documents.
    ///
    /// # Errors
    /// `Damaged` if there are fewer, or if the bytes are no whole shares.
    pub fn new(bytes: Vec<u8>, documents: usize) -> Result<Self, Damaged> {
        let is_whole =
            bytes.len().is_multiple_of(size_of::<Shares>()) && bytes.len() / size_of::<Shares>() >= documents;
        if is_whole { Ok(Self(bytes)) } else { Err(Damaged) }
    }

    /// Returns the shares at a slot; none beyond the last.
    #[inline(always)]
    pub fn at(&self, slot: u32) -> Shares {
        let (all, _) = self.0.as_chunks::<{ size_of::<Shares>() }>();
        let Some(bytes) = all.get(slot as usize) else { return Shares::default() };
        let (numbers, _) = bytes.as_chunks();
        let mut shares = Shares::default();
        shares.0.iter_mut().zip(numbers).for_each(|(share, bytes)| *share = f32::from_le_bytes(*bytes));
        shares
    }

    /// Returns all of them.
    pub fn all(&self) -> Vec<Shares> {
        (0..).take(self.bytes() / size_of::<Shares>()).map(|slot| self.at(slot)).collect()
    }

    /// Returns how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    use super::*;

    fn count() -> impl Strategy<Value = f32> {
        prop_oneof![0.001_f32..40.0, Just(f32::MIN_POSITIVE), Just(f32::MAX)]
    }

    proptest! {
        #[test]
        fn every_count_is_told_to_the_last_bit(counts in prop::collection::vec(count(), 0..30)) {
            let shares = Shares::of(counts.clone());
            for near in counts.into_iter().chain([0.0]) {
                prop_assert_eq!(shares.near(shares.lent(near)).to_bits(), near.to_bits());
            }
        }

        #[test]
        fn shares_are_read_back(
            all in prop::collection::vec(prop::array::uniform4(prop_oneof![Just(0.0), count()]), 0..20),
        ) {
            let all: Vec<Shares> = all.into_iter().map(Shares).collect();
            let bytes = encode_shares(&all);
            prop_assert!(StoredShares::new(bytes.clone(), all.len() + 1).is_err());
            prop_assert_eq!(StoredShares::new(bytes, all.len()).unwrap().all(), all);
        }
    }

    /// The lists are always the same: of a few counts several may be sums of other shares by chance.
    #[test]
    fn counts_of_four_neighbours_are_told_by_their_shares() {
        let lists = (prop::array::uniform4(0.05_f32..1.0), prop::collection::vec(prop::array::uniform4(0..4u8), 0..40));
        let mut runner = TestRunner::deterministic();
        let (mut exact, mut all) = (0, 0);
        for _ in 0..2_000 {
            let (weights, terms) = lists.new_tree(&mut runner).unwrap().current();
            let weights = [0, 1, 2, 3].map(|place| weights[place] * [0.4, 0.4, 0.15, 0.15][place]);
            let alone = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
            let terms = alone.into_iter().chain(terms).filter(|times| *times != [0; 4]);
            let counts: Vec<f32> = terms.map(|times| Shares(weights).sum(times)).collect();
            let shares = Shares::of(counts.clone());
            let here = counts.iter().filter(|near| matches!(shares.lent(**near), Lent::Exact(_))).count();
            assert!(here * 4 <= counts.len(), "{here} of {}", counts.len());
            exact += here;
            all += counts.len();
        }
        assert!(exact * 50 <= all, "{exact} of {all}");
    }
}
