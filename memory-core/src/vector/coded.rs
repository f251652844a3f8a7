//! Rows in 8 bits a number, for stores that keep many vectors in few bytes.

use super::codes::{CODES, Codes, Wide};
use super::products::products;
use super::rows::Rows;
use super::{Similarity, normalise};

/// The bytes of a row before its codes: the length of a step.
const STEP_BYTES: usize = 4;

/// The sums of products of codes are at most this.
const LARGEST_SUM: usize = i32::MAX as usize;

/// How many rows of each stream are multiplied at once.
const AT_ONCE: usize = 32;

/// Unit vectors in 8 bits a number, with a step of its own for each row.
///
/// The similarity of a row is off by about 0.007, divided by the square root of the dimension. That of a vector to itself is 1.
#[derive(Clone, Debug)]
pub struct CodedRows {
    dimension: usize,
    codes: Rows<Codes>,
    steps: Vec<f32>,
}

/// A query vector, for the similarity of rows.
#[derive(Clone, Debug)]
pub struct CodedQuery {
    codes: Vec<Wide>,
    step: f32,
}

impl CodedRows {
    /// Returns how many bytes a row of `dimension` numbers takes.
    pub fn row_bytes(dimension: usize) -> usize {
        STEP_BYTES + dimension
    }

    /// Returns the bytes of a unit vector.
    pub fn encode(unit: &[f32]) -> Vec<u8> {
        let codes = quantised(unit, f32::from(i8::MAX));
        let codes = codes.iter().map(|code| (*code as i8).to_le_bytes()).collect::<Vec<_>>();
        let step = step(unit, codes.iter().map(|[code]| f64::from(*code as i8)));
        [&step.to_le_bytes(), codes.as_flattened()].concat()
    }

    /// Reads rows of `dimension` numbers; none if the bytes are not whole rows.
    pub fn decode(dimension: usize, bytes: &[u8]) -> Option<Self> {
        let rows = bytes.chunks_exact(Self::row_bytes(dimension));
        if !rows.remainder().is_empty() {
            return None;
        }
        let mut read =
            Self { dimension, codes: Rows::new(dimension.div_ceil(CODES)), steps: Vec::with_capacity(rows.len()) };
        read.codes.reserve(rows.len().next_multiple_of(4));
        let mut row = vec![Codes::default(); dimension.div_ceil(CODES)];
        for bytes in rows {
            let (step, codes) = bytes.split_first_chunk()?;
            let step = f32::from_le_bytes(*step);
            if !step.is_finite() {
                return None;
            }
            for (block, bytes) in row.iter_mut().zip(codes.chunks(CODES)) {
                block.0.iter_mut().zip(bytes).for_each(|(code, byte)| *code = byte.cast_signed());
            }
            read.codes.push(&row);
            read.steps.push(step);
        }
        // Full streams: a row of zeros is never looked at.
        row.fill(Codes::default());
        (read.codes.len()..read.codes.len().next_multiple_of(4)).for_each(|_| read.codes.push(&row));
        Some(read)
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        self.codes.bytes() + self.steps.capacity() * size_of::<f32>()
    }

    /// Returns the numbers of a row; none beyond the end.
    pub fn numbers(&self, row: usize) -> Option<Vec<f32>> {
        let step = self.steps.get(row)?;
        let codes = self.codes.stretch(row, 1).iter().flat_map(|block| block.0);
        Some(codes.take(self.dimension).map(|code| f32::from(code) * step).collect())
    }

    /// Gives the similarity of each row to `see`, in no order.
    pub fn similarities(&self, query: &CodedQuery, mut see: impl FnMut(usize, Similarity)) {
        let quarter = self.codes.len() / 4;
        let mut found = [[0; 4]; AT_ONCE];
        for from in (0..quarter).step_by(AT_ONCE) {
            let (found, _) = found.split_at_mut((quarter - from).min(AT_ONCE));
            let starts = [0, 1, 2, 3].map(|stream| stream * quarter + from);
            products(&query.codes, starts.map(|start| self.codes.stretch(start, found.len())), found);
            for (number, products) in found.iter().enumerate() {
                for (start, product) in starts.iter().zip(products) {
                    if let Some(step) = self.steps.get(start + number) {
                        see(start + number, Similarity::new(*product as f32 * (step * query.step) + 0.0));
                    }
                }
            }
        }
    }
}

impl CodedQuery {
    /// Returns the query for `vector`; none for a vector without length.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let unit = normalise(vector)?;
        // As fine as the sums of products allow: its own rounding is not seen beside that of the rows.
        let most = LARGEST_SUM / (usize::from(i8::MAX.unsigned_abs()) * unit.len().max(1));
        let codes = quantised(&unit, most.clamp(1, i16::MAX as usize) as f32);
        let step = step(&unit, codes.iter().map(|code| f64::from(*code)));
        let wide = |chunk: &[i16]| {
            let mut wide = Wide([0; CODES]);
            wide.0.iter_mut().zip(chunk).for_each(|(wide, code)| *wide = *code);
            wide
        };
        Some(Self { codes: codes.chunks(CODES).map(wide).collect(), step })
    }
}

/// Returns the numbers in steps, the largest of which takes `most`.
fn quantised(unit: &[f32], most: f32) -> Vec<i16> {
    let largest = unit.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
    let scale = if largest > 0.0 { most / largest } else { 0.0 };
    unit.iter().map(|number| (number * scale).round().clamp(-most, most) as i16).collect()
}

/// Returns the length of a step by which the product with the vector itself becomes 1.
fn step(unit: &[f32], codes: impl Iterator<Item = f64>) -> f32 {
    let product: f64 = unit.iter().zip(codes).map(|(number, code)| f64::from(*number) * code).sum();
    if product > 0.0 { (1.0 / product) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::Direction;

    /// Vectors from even ones to such in which one number outweighs the others.
    fn unit(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
        let number = (-1.0..1.0f32, 0..3i32).prop_map(|(number, power)| number * 10.0f32.powi(-power));
        prop::collection::vec(number, dimension).prop_filter_map("no direction", |vector| normalise(&vector))
    }

    proptest! {
        #[test]
        fn similarities_are_those_of_the_vectors_but_for_rounding(
            rows in prop::collection::vec(unit(200), 1..150), sought in unit(200),
        ) {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| CodedRows::encode(row)).collect();
            let read = CodedRows::decode(200, &bytes).unwrap();
            let (direction, mut seen) = (Direction::of(&sought).unwrap(), vec![0; rows.len()]);
            read.similarities(&CodedQuery::of(&sought).unwrap(), |row, found| {
                seen[row] += 1;
                let exact = direction.similarity(&rows[row]).value();
                assert!((found.value() - exact).abs() < 0.01, "{found:?} {exact}");
            });
            prop_assert!(seen.iter().all(|seen| *seen == 1));
            for (place, row) in rows.iter().enumerate() {
                let found = read.numbers(place).unwrap();
                prop_assert_eq!(found.len(), 200);
                let largest = row.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
                let off = |(found, number): (&f32, &f32)| (found - number).abs();
                prop_assert!(found.iter().zip(row).map(off).all(|off| off < largest / 100.0));
            }
            prop_assert_eq!(read.numbers(rows.len()), None);
        }

        #[test]
        fn a_vector_is_at_1_of_itself(row in unit(300)) {
            let read = CodedRows::decode(300, &CodedRows::encode(&row)).unwrap();
            read.similarities(&CodedQuery::of(&row).unwrap(), |_, found| assert!(found.value() > 0.999_99, "{found:?}"));
        }

        #[test]
        fn bytes_that_are_not_whole_rows_are_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(read) = CodedRows::decode(40, &bytes) {
                prop_assert!(bytes.len() % 44 == 0 && read.steps.len() == bytes.len() / 44);
            }
        }
    }
}
