//! Rows quantised to 8 bits, a quarter of the bytes: a first scan of them rules out rows that cannot be near.
//!
//! Each row has its quantisation error beside it, so a product of codes gives an upper bound. A search then reads the full
//! numbers of all rows whose bound is high enough, and finds exactly what it would find without codes.

use super::codes::{CODES, Codes, Wide};
use super::lanes::LANES;
use super::products::products;
use super::rows::Rows;

/// How many rows of each stream are multiplied at once.
const STEP: usize = 32;

/// How codes become a unit vector: the length of a step, and the distance by which the codes are off.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    step: f32,
    error: f32,
}

/// The codes of all rows of a table.
#[derive(Clone, Debug)]
pub(super) struct Quantised {
    codes: Rows<Codes>,
    scales: Vec<Scale>,
}

/// The codes of the query.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    codes: Vec<Wide>,
    scale: Scale,
    /// The largest rounding error of a product of full numbers.
    rounding: f32,
}

impl Quantised {
    pub(super) fn new(dimension: usize) -> Self {
        Self { codes: Rows::new(dimension.div_ceil(CODES)), scales: Vec::new() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.bytes() + self.scales.capacity() * size_of::<Scale>()
    }

    pub(super) fn push(&mut self, unit: &[f32]) {
        let (codes, scale) = encode(unit);
        self.codes.push(&codes);
        self.scales.push(scale);
    }

    pub(super) fn swap_remove(&mut self, row: usize) {
        if row < self.scales.len() {
            self.codes.swap_remove(row);
            self.scales.swap_remove(row);
        }
    }

    /// Writes to each place of `out` the upper bounds for one row of each of four streams. The streams begin at `starts`.
    pub(super) fn bounds(&self, sought: &Sought, starts: [usize; 4], out: &mut [[f32; 4]]) {
        let mut found = [[0; 4]; STEP];
        for (number, out) in out.chunks_mut(STEP).enumerate() {
            let starts = starts.map(|start| start + number * STEP);
            products(&sought.codes, starts.map(|start| self.codes.stretch(start, out.len())), &mut found);
            let scales = starts.map(|start| self.scales.get(start..start + out.len()).unwrap_or_default());
            for (stream, scales) in scales.into_iter().enumerate() {
                for ((out, found), scale) in out.iter_mut().zip(&found).zip(scales) {
                    if let (Some(out), Some(product)) = (out.get_mut(stream), found.get(stream)) {
                        *out = sought.bound(*product, *scale);
                    }
                }
            }
        }
    }
}

impl Sought {
    pub(super) fn new(unit: &[f32]) -> Self {
        let (codes, scale) = encode(unit);
        // Each of the parallel sums is rounded once per block, and a few times more when they are added up.
        let rounding = 2.0 * (unit.len() / LANES + 16) as f32 * f32::EPSILON;
        Self { codes: codes.iter().map(Wide::from).collect(), scale, rounding }
    }

    /// Returns the upper bound for a row with this product of codes.
    ///
    /// With codes `c` and `s` of the row `r` and the query `q`: `rq - cs = (r - c)q + c(q - s)`, and `q` has length 1.
    #[inline(always)]
    fn bound(&self, product: i32, row: Scale) -> f32 {
        let error = row.error + (1.0 + row.error) * self.scale.error;
        product as f32 * (row.step * self.scale.step) + error + self.rounding
    }
}

/// Returns the codes of a unit vector, and their scale.
fn encode(unit: &[f32]) -> (Vec<Codes>, Scale) {
    let largest = unit.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
    let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut error = 0.0f64;
    let mut codes = |chunk: &[f32]| {
        let mut codes = Codes::default();
        for (code, number) in codes.0.iter_mut().zip(chunk) {
            *code = (number / step).round().clamp(-127.0, 127.0) as i8;
            error += (f64::from(*number) - f64::from(*code) * f64::from(step)).powi(2);
        }
        codes
    };
    let codes = unit.chunks(CODES).map(&mut codes).collect();
    // A little more than computed, to cover rounding.
    (codes, Scale { step, error: error.sqrt() as f32 * 1.000_1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::dot::dot;
    use crate::vector::lanes::Lanes;
    use crate::vector::normalise;

    fn unit() -> impl Strategy<Value = Vec<f32>> {
        // From even vectors to such in which one number outweighs the others.
        let number = (-1.0..1.0f32, 0..3i32).prop_map(|(number, power)| number * 100.0f32.powi(-power));
        prop::collection::vec(number, 70).prop_filter_map("no direction", |vector| normalise(&vector))
    }

    proptest! {
        #[test]
        fn no_row_is_nearer_than_its_bound(sought in unit(), rows in prop::collection::vec(unit(), 4)) {
            let mut quantised = Quantised::new(70);
            rows.iter().for_each(|row| quantised.push(row));
            let mut out = [[0.0; 4]];
            quantised.bounds(&Sought::new(&sought), [0, 1, 2, 3], &mut out);
            for (row, bound) in rows.iter().zip(out.as_flattened()) {
                let similarity = dot(&Lanes::row(&sought), &Lanes::row(row));
                prop_assert!(similarity <= *bound && *bound < similarity + 0.2, "{similarity} {bound}");
            }
        }
    }
}
