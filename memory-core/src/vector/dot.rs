//! Scalar products, of one row or of four rows at once.

use super::lanes::Lanes;
use super::registers::{Form, Work, side_by_side, widest};

/// Returns the scalar product of two rows.
pub(super) fn dot(a: &[Lanes], b: &[Lanes]) -> f32 {
    widest(One { a, b })
}

/// Multiplies `sought` with the rows of four streams at once, because memory is read faster in four streams than in one. Each
/// place of `out` gets the products with one row of each stream.
pub(super) fn dot_four(sought: &[Lanes], streams: [&[Lanes]; 4], out: &mut [[f32; 4]]) {
    widest(Four { sought, streams, out });
}

struct One<'a> {
    a: &'a [Lanes],
    b: &'a [Lanes],
}

impl Work for One<'_> {
    type Output = f32;

    #[inline(always)]
    fn work<F: Form>(self, form: F) -> f32 {
        let mut sums = form.floats();
        for (a, b) in self.a.iter().zip(self.b) {
            sums = form.add_products(sums, a, b);
        }
        form.lanes(sums).total()
    }
}

struct Four<'a> {
    sought: &'a [Lanes],
    streams: [&'a [Lanes]; 4],
    out: &'a mut [[f32; 4]],
}

impl Work for Four<'_> {
    type Output = ();

    #[inline(always)]
    fn work<F: Form>(self, form: F) {
        let Self { sought, streams, out } = self;
        let add = |sums, sought: &_, row: &_| form.add_products(sums, sought, row);
        side_by_side((sought, streams), out, form.floats(), add, |sums| form.lanes(sums).total());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::registers::every;

    struct Comparison<'a> {
        sought: &'a [Lanes],
        streams: [&'a [Lanes]; 4],
    }

    impl Work for Comparison<'_> {
        type Output = [[u32; 4]; 2];

        fn work<F: Form>(self, form: F) -> Self::Output {
            let Self { sought, streams } = self;
            let mut out = [[0.0; 4]; 2];
            Four { sought, streams, out: &mut out }.work(form);
            out.map(|products| products.map(f32::to_bits))
        }
    }

    proptest! {
        #[test]
        fn the_scalar_product_is_that_of_a_plain_sum(
            numbers in prop::collection::vec((-1.0..1.0f32, -1.0..1.0f32), 0..100),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = numbers.into_iter().unzip();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            prop_assert!((f64::from(dot(&Lanes::row(&a), &Lanes::row(&b))) - plain).abs() < 1e-4);
        }

        #[test]
        fn four_streams_and_every_processor_give_the_numbers_of_one_row(
            sought in prop::collection::vec(-1.0..1.0f32, 50),
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f32, 50), 8),
        ) {
            let sought = Lanes::row(&sought);
            let rows: Vec<Vec<Lanes>> = rows.iter().map(|row| Lanes::row(row)).collect();
            let streams: Vec<Vec<Lanes>> = rows.chunks(2).map(|two| two.concat()).collect();
            let streams = [0, 1, 2, 3].map(|n: usize| streams[n].as_slice());
            let plain: Vec<u32> = rows.iter().map(|row| dot(&sought, row).to_bits()).collect();
            for found in every(|| Comparison { sought: &sought, streams }) {
                let found = (0..8).map(|number| found[number % 2][number / 2]);
                prop_assert_eq!(found.collect::<Vec<_>>(), plain.clone());
            }
            for (row, plain) in rows.iter().zip(plain) {
                let found = every(|| One { a: &sought, b: row });
                prop_assert!(found.iter().all(|one| one.to_bits() == plain));
            }
        }
    }
}
