//! The random number generator behind all test data.

use uuid::Uuid;

/// A small generator of numbers (splitmix64, Steele, Lea and Flood 2014): fast, seedable, the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the generator that `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let number = self.number();
        number.checked_rem(bound as u64).and_then(|rest| usize::try_from(rest).ok()).unwrap_or(0)
    }

    /// Returns true `part` times of `whole`.
    pub fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    /// Returns one of `list`; the default for an empty list.
    pub fn pick<T: Clone + Default>(&mut self, list: &[T]) -> T {
        let place = self.below(list.len());
        list.get(place).cloned().unwrap_or_default()
    }

    /// Returns a number of 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an id: 16 random bytes.
    pub fn id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.number(), self.number())
    }

    /// Puts `list` into a random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_numbers_that_splitmix64_is_known_for() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.number()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn stays_below_the_bound_and_reaches_every_number_below_it() {
        let mut random = Random::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.below(5)] = true;
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(random.below(0), 0);
    }
}
