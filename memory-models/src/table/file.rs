//! The file of the table: a header, a scale for each row, the rows with 8 bits a number, and the vocabulary: the pieces that
//! have a row, in order, and behind them those that the texts to learn from did not hold.

use std::sync::LazyLock;

use super::wordpiece::Vocabulary;

/// Made by `scripts/static_table/make.sh`.
static FILE: &[u8] = include_bytes!("minilm.table");

/// What a file begins with. Behind it come the revision (12 letters) and, as 32-bit numbers in little-endian order, how many
/// rows there are and how many numbers a row has.
const MAGIC: &[u8; 8] = b"MEMTABL1";
const REVISION: usize = 12;

/// The beginning of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Names what the file holds.
    pub(super) revision: &'static str,
    rows: usize,
    /// How many numbers a row has.
    pub(super) numbers: usize,
}

impl Head {
    /// Returns the beginning of the file that is part of the program; none if that is damaged, which a test excludes.
    pub(super) fn built_in() -> Option<Self> {
        Self::read(FILE).map(|(head, _)| head)
    }

    fn read(file: &'static [u8]) -> Option<(Self, &'static [u8])> {
        let rest = file.strip_prefix(MAGIC)?;
        let (revision, rest) = rest.split_at_checked(REVISION)?;
        let (rows, rest) = number(rest)?;
        let (numbers, rest) = number(rest)?;
        Some((Self { revision: str::from_utf8(revision).ok()?, rows, numbers }, rest))
    }
}

/// The vectors of all word pieces.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) head: Head,
    pub(super) vocabulary: Vocabulary,
    /// The pieces, as BERT writes them.
    #[cfg(test)]
    pub(super) names: Vec<&'static str>,
    scales: Vec<f32>,
    rows: &'static [u8],
}

impl Table {
    /// Returns the table of the file that is part of the program; none if that is damaged.
    pub(super) fn built_in() -> Option<&'static Self> {
        static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| Table::read(FILE));
        TABLE.as_ref()
    }

    fn read(file: &'static [u8]) -> Option<Self> {
        let (head, rest) = Head::read(file)?;
        let (scales, rest) = rest.split_at_checked(head.rows.checked_mul(4)?)?;
        let (rows, vocabulary) = rest.split_at_checked(head.rows.checked_mul(head.numbers)?)?;
        let scales = scales.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let names = str::from_utf8(vocabulary).ok()?.split('\n');
        Some(Self {
            head,
            vocabulary: Vocabulary::of(names.clone(), head.rows),
            #[cfg(test)]
            names: names.collect(),
            scales,
            rows,
        })
    }

    /// Adds the row of a piece to a sum. Returns whether it has one.
    pub(super) fn add(&self, piece: u32, sum: &mut [f32]) -> bool {
        let place = piece as usize;
        let start = place.saturating_mul(self.head.numbers);
        let row = self.rows.get(start..start.saturating_add(self.head.numbers));
        let (Some(row), Some(scale)) = (row, self.scales.get(place)) else { return false };
        sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += scale * f32::from(number.cast_signed()));
        true
    }
}

fn number(bytes: &'static [u8]) -> Option<(usize, &'static [u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number) as usize, rest))
}
