//! Scalar products of rows of 8-bit codes with a row of wider ones, in four streams at once.
//!
//! Integer sums, so every order gives the same result.

use super::codes::{Codes, Wide};
use super::registers::{Form, Work, side_by_side, widest};

/// Multiplies `sought` with the rows of four streams. Each place of `out` gets the products with one row of each stream.
pub(super) fn products(sought: &[Wide], streams: [&[Codes]; 4], out: &mut [[i32; 4]]) {
    widest(Products { sought, streams, out });
}

struct Products<'a> {
    sought: &'a [Wide],
    streams: [&'a [Codes]; 4],
    out: &'a mut [[i32; 4]],
}

impl Work for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn work<F: Form>(self, form: F) {
        let Self { sought, streams, out } = self;
        let add = |sums, sought: &_, codes: &_| form.add_codes(sums, sought, codes);
        side_by_side((sought, streams), out, form.ints(), add, |sums| form.total(sums));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::codes::CODES;
    use crate::vector::registers::every;

    struct Comparison<'a> {
        sought: &'a [Wide],
        streams: [&'a [Codes]; 4],
    }

    impl Work for Comparison<'_> {
        type Output = [[i32; 4]; 2];

        fn work<F: Form>(self, form: F) -> Self::Output {
            let Self { sought, streams } = self;
            let mut out = [[0; 4]; 2];
            Products { sought, streams, out: &mut out }.work(form);
            out
        }
    }

    proptest! {
        #[test]
        fn every_way_gives_the_plain_product(
            numbers in prop::collection::vec(-127..=127i8, 9 * 2 * CODES),
        ) {
            let rows: Vec<Codes> = numbers.chunks(CODES).map(|chunk| Codes(chunk.try_into().unwrap())).collect();
            let (sought, rows) = rows.split_at(2);
            let wide: Vec<Wide> = sought.iter().map(Wide::from).collect();
            let streams = [&rows[..4], &rows[4..8], &rows[8..12], &rows[12..]];
            let exact = |row: &[Codes]| -> i32 {
                let pairs = sought.iter().zip(row).flat_map(|(a, b)| a.0.into_iter().zip(b.0));
                pairs.map(|(a, b)| i32::from(a) * i32::from(b)).sum()
            };
            for found in every(|| Comparison { sought: &wide, streams }) {
                for (stream, rows) in streams.iter().enumerate() {
                    for (number, row) in rows.chunks(2).enumerate() {
                        prop_assert_eq!(found[number][stream], exact(row));
                    }
                }
            }
        }
    }
}
