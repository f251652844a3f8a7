//! Posting lists in few bytes, for stores whose size they make up.
//!
//! A posting is a varint of the slot's distance to the one before, with its kind in the low two bits, and what the kind says:
//! nothing for a term that occurs once in the own text alone, a byte for one that only neighbours lend, the own count and that
//! byte for others. The byte stands for a count of five significant bits; others follow as `f32`.

use super::bytes::{Damaged, Reader, put_number};
use super::{Counts, Posting};

/// Once in its own text, in no neighbour's.
const ONCE: u64 = 0;
/// In neighbours' texts alone: their byte.
const LENT: u64 = 1;
/// The own count, and the neighbours' byte.
const BOTH: u64 = 2;
/// The own count, and the neighbours' `f32`.
const EXACT: u64 = 3;

/// How many low bits of such a count are 0.
const LOW_BITS: u32 = 19;

/// The exponent of the counts for which a byte stands begins with 2 to the power of -12.
const FIRST: u32 = (127 - 12) << (f32::MANTISSA_DIGITS - 1 - LOW_BITS);

/// Returns the byte that stands for a neighbours' count, 0 for none; nothing if no byte does.
fn byte_of(near: f32) -> Option<u8> {
    let bits = near.to_bits();
    if bits == 0 {
        return Some(0);
    }
    let is_rounded = bits >> LOW_BITS << LOW_BITS == bits;
    let byte = (bits >> LOW_BITS).checked_sub(FIRST).and_then(|place| u8::try_from(place).ok());
    byte.filter(|byte| is_rounded && *byte > 0)
}

fn of_byte(byte: u8) -> f32 {
    if byte == 0 { 0.0 } else { f32::from_bits((u32::from(byte) + FIRST) << LOW_BITS) }
}

/// Returns the bytes of a posting list in ascending order of slots.
pub fn pack_postings(postings: &[Posting]) -> Vec<u8> {
    let mut out = Vec::with_capacity(postings.len() * 2);
    let mut next = 0;
    for Posting { slot, counts: Counts { own, near } } in postings {
        let mut begin = |kind| put_number(&mut out, u64::from(slot.wrapping_sub(next)) << 2 | kind);
        match (own, byte_of(*near)) {
            (1, Some(0)) => begin(ONCE),
            (0, Some(byte)) => {
                begin(LENT);
                out.push(byte);
            }
            (own, Some(byte)) => {
                begin(BOTH);
                put_number(&mut out, u64::from(*own));
                out.push(byte);
            }
            (own, None) => {
                begin(EXACT);
                put_number(&mut out, u64::from(*own));
                out.extend_from_slice(&near.to_le_bytes());
            }
        }
        next = slot.wrapping_add(1);
    }
    out
}

/// Reads a packed posting list and gives each posting to `visit`, in ascending order of slots.
///
/// # Errors
/// `Damaged` for invalid bytes. Discard what was visited before.
pub fn visit_packed(bytes: &[u8], mut visit: impl FnMut(Posting)) -> Result<(), Damaged> {
    let mut reader = Reader::new(bytes);
    let mut next = 0_u32;
    while !reader.is_empty() {
        let number = reader.number()?;
        let counts = match number & 3 {
            ONCE => Counts { own: 1, near: 0.0 },
            LENT => Counts { own: 0, near: of_byte(reader.byte()?) },
            BOTH => Counts { own: reader.small()?, near: of_byte(reader.byte()?) },
            _ => Counts { own: reader.small()?, near: f32::from_le_bytes(reader.array()?) },
        };
        // Each posting has one form.
        let is_form = match number & 3 {
            ONCE => true,
            LENT => counts.near > 0.0,
            BOTH => counts.own > 1 || (counts.own == 1 && counts.near > 0.0),
            _ => counts.near > 0.0 && counts.near.is_finite() && byte_of(counts.near).is_none(),
        };
        let slot = u32::try_from(number >> 2).ok().and_then(|gap| next.checked_add(gap)).ok_or(Damaged)?;
        if !is_form {
            return Err(Damaged);
        }
        next = slot.checked_add(1).ok_or(Damaged)?;
        visit(Posting { slot, counts });
    }
    Ok(())
}

/// Reads a packed posting list.
///
/// # Errors
/// `Damaged` for invalid bytes.
pub fn unpack_postings(bytes: &[u8]) -> Result<Vec<Posting>, Damaged> {
    let mut postings = Vec::with_capacity(bytes.len() / 2);
    visit_packed(bytes, |posting| postings.push(posting))?;
    Ok(postings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::postings;
    use super::*;

    /// Returns a count with five significant bits.
    fn rounded(near: f32) -> f32 {
        f32::from_bits((near.to_bits() + (1 << (LOW_BITS - 1))) >> LOW_BITS << LOW_BITS)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn packed_lists_are_read_back(list in postings(), is_rounded in any::<bool>()) {
            let mut list = list;
            if is_rounded {
                list.iter_mut().for_each(|posting| posting.counts.near = rounded(posting.counts.near.min(1e9)));
            }
            prop_assert_eq!(unpack_postings(&pack_postings(&list)), Ok(list));
        }

        #[test]
        fn what_can_be_read_is_what_a_writer_makes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(list) = unpack_postings(&bytes) {
                prop_assert_eq!(pack_postings(&list), bytes);
            }
        }

        #[test]
        fn a_list_cut_short_gives_a_beginning_or_damage(list in postings(), cut in any::<prop::sample::Index>()) {
            let bytes = pack_postings(&list);
            if let Ok(read) = unpack_postings(&bytes[..cut.index(bytes.len() + 1)]) {
                prop_assert!(list.starts_with(&read));
            }
        }

        #[test]
        fn a_count_of_few_digits_takes_a_byte(near in 0.000_26_f32..15.5) {
            prop_assert!((rounded(near) / near - 1.0).abs() <= 1.0 / 32.0);
            prop_assert_eq!(byte_of(rounded(near)).map(of_byte), Some(rounded(near)));
            prop_assert_eq!(rounded(rounded(near)), rounded(near));
        }
    }

    #[test]
    fn a_common_posting_takes_one_byte_and_a_lent_one_two() {
        let list = |own, near| (0..256).map(|slot| Posting { slot, counts: Counts { own, near } }).collect::<Vec<_>>();
        assert_eq!(pack_postings(&list(1, 0.0)).len(), 256);
        assert_eq!(pack_postings(&list(0, rounded(0.4))).len(), 512);
    }
}
