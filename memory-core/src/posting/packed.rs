//! Posting lists in few bits, for stores whose size they make up.
//!
//! A list is its length, how its distances are written, and its postings: the distance to the slot before, the own count, and how
//! the neighbours' is told by the document's shares.

use super::Posting;
use super::bits::{BitReader, BitWriter};
use super::bytes::Damaged;
use super::shares::{Lent, SHARES};

/// How distances are written that vary much: as gamma codes. Other numbers say how many low bits stand as they are, behind the
/// rest in unary.
const GAMMA: u32 = 15;

/// The bits of that choice.
const CHOICE_BITS: u32 = 4;

/// The bits of a share's place.
const PLACE_BITS: u32 = 2;

/// A document in a packed list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packed {
    /// The document's slot in its segment.
    pub slot: u32,
    /// How often the term stands in its own text.
    pub own: u32,
    /// How often in its neighbours' texts.
    pub lent: Lent,
}

/// A posting of a document without shares.
impl From<Posting> for Packed {
    fn from(Posting { slot, counts }: Posting) -> Self {
        let lent = if counts.near == 0.0 { Lent::NOTHING } else { Lent::Exact(counts.near) };
        Self { slot, own: counts.own, lent }
    }
}

/// Returns the bytes of a posting list in ascending order of slots. Each holds the term, itself or by a neighbour.
pub fn pack_postings(postings: &[Packed]) -> Vec<u8> {
    let mut out = BitWriter::default();
    let Ok(count @ 1..) = u32::try_from(postings.len()) else { return Vec::new() };
    out.gamma(count);
    let choice = choice(postings);
    out.put(choice, CHOICE_BITS);
    let mut next = 0;
    for Packed { slot, own, lent } in postings {
        put_gap(&mut out, choice, slot.wrapping_sub(next));
        next = slot.wrapping_add(1);
        let is_lent = *lent != Lent::NOTHING;
        out.put(u32::from(*own > 0), 1);
        if *own > 0 {
            out.gamma(*own);
            out.put(u32::from(is_lent), 1);
        }
        if is_lent {
            put_lent(&mut out, *lent);
        }
    }
    out.finish()
}

/// Returns how the distances of a list take the fewest bits.
fn choice(postings: &[Packed]) -> u32 {
    let mut next = 0;
    let gaps: Vec<u32> = postings
        .iter()
        .map(|posting| posting.slot.wrapping_sub(std::mem::replace(&mut next, posting.slot.wrapping_add(1))))
        .collect();
    let sum: u64 = gaps.iter().map(|gap| u64::from(*gap)).sum();
    let mean = sum / (gaps.len() as u64).max(1);
    let near = mean.checked_ilog2().unwrap_or(0).min(GAMMA - 2);
    let bits = |choice: &u32| gaps.iter().map(|gap| gap_bits(*choice, *gap)).sum::<u64>();
    [GAMMA, near, near + 1, near.saturating_sub(1)].into_iter().min_by_key(bits).unwrap_or(GAMMA)
}

fn gap_bits(choice: u32, gap: u32) -> u64 {
    match choice {
        GAMMA => u64::from(2 * gap.saturating_add(1).ilog2() + 1),
        low => u64::from(gap >> low) + 1 + u64::from(low),
    }
}

fn put_gap(out: &mut BitWriter, choice: u32, gap: u32) {
    if choice == GAMMA {
        // The largest distance is none that a slot has.
        out.gamma(gap.saturating_add(1));
    } else {
        out.unary(gap >> choice);
        out.put(gap & ((1 << choice) - 1), choice);
    }
}

/// Writes one share's place, or behind a bit which shares are taken, and how often; or none of them, and the count.
fn put_lent(out: &mut BitWriter, lent: Lent) {
    let times = match lent {
        Lent::Times(times) => times,
        Lent::Exact(near) => {
            out.put(1, 1 + SHARES as u32);
            out.put(near.to_bits(), u32::BITS);
            return;
        }
    };
    let taken = || times.iter().zip(0_u32..).filter(|(times, _)| **times > 0);
    if taken().count() == 1 {
        taken().for_each(|(_, place)| out.put(place << 1, 1 + PLACE_BITS));
    } else {
        out.put(taken().fold(1, |mask, (_, place)| mask | 2 << place), 1 + SHARES as u32);
    }
    taken().for_each(|(times, _)| out.unary(u32::from(times - 1)));
}

fn take_lent(reader: &mut BitReader<'_>) -> Result<Lent, Damaged> {
    let mask = match reader.take(1)? {
        0 => 1 << reader.take(PLACE_BITS)?,
        _ => match reader.take(SHARES as u32)? {
            0 => {
                let near = f32::from_bits(reader.take(u32::BITS)?);
                return if near > 0.0 && near.is_finite() { Ok(Lent::Exact(near)) } else { Err(Damaged) };
            }
            mask if mask.count_ones() > 1 => mask,
            _ => return Err(Damaged),
        },
    };
    let mut times = [0; SHARES];
    for (times, place) in times.iter_mut().zip(0_u32..) {
        if mask >> place & 1 == 1 {
            *times = u8::try_from(reader.unary()?).ok().and_then(|times| times.checked_add(1)).ok_or(Damaged)?;
        }
    }
    Ok(Lent::Times(times))
}

/// Reads a packed posting list and gives each posting to `visit`, in ascending order of slots.
///
/// # Errors
/// `Damaged` for invalid bytes. Discard what was visited before.
pub fn visit_packed(bytes: &[u8], mut visit: impl FnMut(Packed)) -> Result<(), Damaged> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut reader = BitReader::new(bytes);
    let count = reader.gamma()?;
    let choice = reader.take(CHOICE_BITS)?;
    let mut next = 0_u32;
    for _ in 0..count {
        let gap = match choice {
            GAMMA => reader.gamma()? - 1,
            low => {
                let high = reader.unary()?;
                if high > u32::MAX >> low {
                    return Err(Damaged);
                }
                high << low | reader.take(low)?
            }
        };
        let slot = next.checked_add(gap).ok_or(Damaged)?;
        next = slot.checked_add(1).ok_or(Damaged)?;
        let own = if reader.take(1)? == 1 { reader.gamma()? } else { 0 };
        let is_lent = own == 0 || reader.take(1)? == 1;
        let lent = if is_lent { take_lent(&mut reader)? } else { Lent::NOTHING };
        visit(Packed { slot, own, lent });
    }
    if reader.is_at_end() { Ok(()) } else { Err(Damaged) }
}

/// Reads a packed posting list.
///
/// # Errors
/// `Damaged` for invalid bytes.
pub fn unpack_postings(bytes: &[u8]) -> Result<Vec<Packed>, Damaged> {
    let mut postings = Vec::with_capacity(bytes.len());
    visit_packed(bytes, |posting| postings.push(posting))?;
    Ok(postings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lent() -> impl Strategy<Value = Lent> {
        prop_oneof![
            Just(Lent::NOTHING),
            prop::array::uniform4(prop_oneof![Just(0_u8), 0..4_u8, any::<u8>()]).prop_map(Lent::Times),
            (0.001_f32..40.0).prop_map(Lent::Exact),
        ]
    }

    fn postings() -> impl Strategy<Value = Vec<Packed>> {
        let slot = prop_oneof![0_u32..300, 0..u32::MAX];
        let content = (prop_oneof![0_u32..4, any::<u32>()], lent());
        let content = content.prop_filter("it holds the term", |(own, lent)| *own > 0 || *lent != Lent::NOTHING);
        prop::collection::btree_map(slot, content, 0..60)
            .prop_map(|list| list.into_iter().map(|(slot, (own, lent))| Packed { slot, own, lent }).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn packed_lists_are_read_back(list in postings()) {
            prop_assert_eq!(unpack_postings(&pack_postings(&list)), Ok(list));
        }

        #[test]
        fn what_can_be_read_can_be_written(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(list) = unpack_postings(&bytes) {
                prop_assert_eq!(unpack_postings(&pack_postings(&list)), Ok(list));
            }
        }

        #[test]
        fn a_list_cut_short_is_damage(list in postings(), cut in any::<prop::sample::Index>()) {
            let bytes = pack_postings(&list);
            let cut = cut.index(bytes.len() + 1);
            if 0 < cut && cut < bytes.len() {
                prop_assert_eq!(unpack_postings(&bytes[..cut]), Err(Damaged));
            }
        }
    }

    #[test]
    fn a_common_posting_takes_a_few_bits() {
        let list = |own, lent| (0..256).map(|slot| Packed { slot, own, lent }).collect::<Vec<_>>();
        assert_eq!(pack_postings(&list(1, Lent::NOTHING)).len(), 131);
        assert_eq!(pack_postings(&list(0, Lent::Times([0, 1, 0, 0]))).len(), 195);
    }
}
