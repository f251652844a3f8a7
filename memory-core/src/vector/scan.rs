//! The scan over all rows of a table: four quarters of it side by side.

use super::dot::{Lanes, dot, dot_four};
use super::nearest::Nearest;
use super::quantised::{Quantised, Sought};
use super::rows::Rows;

/// How many rows of each quarter are multiplied before one is looked at.
const STEP: usize = 32;

/// Offers all rows to `nearest`.
pub(super) fn scan(rows: &Rows<Lanes>, sought: &[Lanes], nearest: &mut Nearest<'_>) {
    quarters(rows.len(), |starts, out| {
        dot_four(sought, starts.map(|start| rows.stretch(start, out.len())), out);
        offer(starts, out, |row, product| {
            if nearest.admits(product) {
                nearest.offer(row, product);
            }
        });
    });
    for row in rest(rows.len()) {
        nearest.offer(row, dot(sought, rows.stretch(row, 1)));
    }
}

/// Offers those rows to `nearest` whose codes do not rule them out.
pub(super) fn scan_quantised(
    rows: &Rows<Lanes>,
    quantised: &Quantised,
    sought: (&[Lanes], &Sought),
    nearest: &mut Nearest<'_>,
) {
    let (sought, codes) = sought;
    quarters(rows.len(), |starts, out| {
        quantised.bounds(codes, starts, out);
        offer(starts, out, |row, bound| {
            if nearest.admits(bound) {
                nearest.offer(row, dot(sought, rows.stretch(row, 1)));
            }
        });
    });
    for row in rest(rows.len()) {
        nearest.offer(row, dot(sought, rows.stretch(row, 1)));
    }
}

/// Steps through the four quarters of `count` rows: `step` gets where they have come to, and a place for the results.
fn quarters(count: usize, mut step: impl FnMut([usize; 4], &mut [[f32; 4]])) {
    let quarter = count / 4;
    let mut out = [[0.0; 4]; STEP];
    for from in (0..quarter).step_by(STEP) {
        let starts = [0, 1, 2, 3].map(|number| number * quarter + from);
        let (now, _) = out.split_at_mut((quarter - from).min(STEP));
        step(starts, now);
    }
}

#[inline(always)]
fn offer(starts: [usize; 4], out: &[[f32; 4]], mut see: impl FnMut(usize, f32)) {
    for (number, products) in out.iter().enumerate() {
        for (start, product) in starts.iter().zip(products) {
            see(start + number, *product);
        }
    }
}

/// Returns the rows that are left over by quarters.
fn rest(count: usize) -> std::ops::Range<usize> {
    count - count % 4..count
}
