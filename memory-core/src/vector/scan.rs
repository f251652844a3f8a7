//! The scan over all rows of a table, in four quarters at once.

use super::dot::{dot, dot_four};
use super::lanes::Lanes;
use super::nearest::Nearest;
use super::quantised::{Quantised, Sought};
use super::rows::Rows;

/// How many rows of each quarter are multiplied at once.
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

/// If there are this many times more rows than are kept, it pays to find the likely ones first.
const FAR_MORE: usize = 8;

/// How many likely rows the sample is to hold.
const LIKELY: usize = 16;

/// Offers to `nearest` the rows that their codes do not rule out.
///
/// If many rows are kept of far more, the likely ones come first. Then the least product to keep is known early, and few of
/// the others must be multiplied.
pub(super) fn scan_quantised(
    rows: &Rows<Lanes>,
    quantised: &Quantised,
    sought: (&[Lanes], &Sought),
    nearest: &mut Nearest<'_>,
) {
    let (sought, codes) = sought;
    let multiply = |nearest: &mut Nearest<'_>, row: usize, bound: f32| {
        if nearest.admits(bound) {
            nearest.offer(row, dot(sought, rows.stretch(row, 1)));
        }
    };
    let limit = nearest.limit();
    if limit < LIKELY * FAR_MORE || rows.len() / FAR_MORE < limit {
        bounds(rows.len(), quantised, codes, |row, bound| multiply(nearest, row, bound));
        return;
    }
    let mut all = vec![f32::INFINITY; rows.len()];
    bounds(rows.len(), quantised, codes, |row, bound| {
        if let Some(place) = all.get_mut(row) {
            *place = bound;
        }
    });
    // About twice as many rows as are kept have a bound of at least this.
    let mut sample: Vec<f32> = all.iter().step_by(2 * limit / LIKELY).copied().collect();
    let (_, likely, _) = sample.select_nth_unstable_by(LIKELY - 1, |a, b| b.total_cmp(a));
    for is_now in [true, false] {
        for (row, bound) in all.iter().enumerate().filter(|(_, bound)| (**bound >= *likely) == is_now) {
            multiply(nearest, row, *bound);
        }
        nearest.cut();
    }
}

/// Gives `see` every row with the upper bound of its product.
fn bounds(count: usize, quantised: &Quantised, codes: &Sought, mut see: impl FnMut(usize, f32)) {
    quarters(count, |starts, out| {
        quantised.bounds(codes, starts, out);
        offer(starts, out, &mut see);
    });
    rest(count).for_each(|row| see(row, f32::INFINITY));
}

/// Steps through the four quarters of `count` rows. `step` gets the rows at which they stand, and the buffer for the results.
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

/// Returns the rows left over after four equal quarters.
fn rest(count: usize) -> std::ops::Range<usize> {
    count - count % 4..count
}
