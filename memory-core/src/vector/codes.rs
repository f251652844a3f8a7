//! Rows of 8-bit codes, in blocks that fit registers.

use super::lanes::LANES;

/// How many codes a block has.
pub(super) const CODES: usize = 2 * LANES;

/// A block of a row of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub(super) struct Codes(pub(super) [i8; CODES]);

/// A block of the query's codes, widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Wide(pub(super) [i16; CODES]);

impl From<&Codes> for Wide {
    fn from(Codes(codes): &Codes) -> Self {
        Self(codes.map(i16::from))
    }
}
