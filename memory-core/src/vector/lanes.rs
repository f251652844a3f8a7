//! A row of numbers, in blocks that fit registers.

/// How many sums run side by side. Their order is fixed, so equal vectors give equal products wherever they are stored.
pub(super) const LANES: usize = 16;

/// A block of a row, aligned to a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [f32; LANES]);

impl Lanes {
    /// Returns the numbers as a row, padded with zeros, which add nothing.
    pub(super) fn row(numbers: &[f32]) -> Vec<Self> {
        let lanes = |chunk: &[f32]| {
            let mut lanes = Self::default();
            lanes.0.iter_mut().zip(chunk).for_each(|(lane, number)| *lane = *number);
            lanes
        };
        numbers.chunks(LANES).map(lanes).collect()
    }

    /// Returns the numbers of a row.
    pub(super) fn numbers(row: &[Self]) -> impl Iterator<Item = f32> {
        row.iter().flat_map(|lanes| lanes.0)
    }

    #[inline(always)]
    pub(super) fn total(self) -> f32 {
        let [a, b] = halve::<4, 2>(halve::<8, 4>(halve::<LANES, 8>(self.0)));
        a + b
    }
}

#[inline(always)]
fn halve<const FROM: usize, const TO: usize>(sums: [f32; FROM]) -> [f32; TO] {
    let (low, high) = sums.split_at(TO);
    let mut halved = [0.0; TO];
    for (sum, (low, high)) in halved.iter_mut().zip(low.iter().zip(high)) {
        *sum = low + high;
    }
    halved
}
