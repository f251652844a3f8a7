//! Rows of 8-bit codes in stretches that the registers take.

use super::lanes::LANES;

/// How many codes a stretch has.
pub(super) const CODES: usize = 2 * LANES;

/// A stretch of a row of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub(super) struct Codes(pub(super) [i8; CODES]);

/// A stretch of what is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Wide(pub(super) [i16; CODES]);

impl From<&Codes> for Wide {
    fn from(Codes(codes): &Codes) -> Self {
        Self(codes.map(i16::from))
    }
}
