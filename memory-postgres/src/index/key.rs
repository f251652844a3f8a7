//! The bytes of an item, which sort like items, so that the server breaks ties as core does.

use std::collections::BTreeMap;
use std::ops::Range;

use memory_core::{ItemId, MessageId, RecordId, Result, SessionId, Version};
use uuid::Uuid;

use super::corrupt;
use super::owner::whole;

/// Greater than the bytes of any message, less than those of anything else.
pub(crate) const BEHIND_MESSAGES: &[u8] = b"n";

/// Returns the item's bytes: `m` or `r` and the id; or `s`, the session's key, a zero and the number in big-endian order.
pub(crate) fn encode(item: &ItemId) -> Vec<u8> {
    match item {
        ItemId::Message(id) => [b"m".as_slice(), id.0.as_bytes()].concat(),
        ItemId::Record(id) => [b"r".as_slice(), id.0.as_bytes()].concat(),
        ItemId::Span(session, number) => {
            // The zero is less than any byte of a key, so a key sorts before those that it is a prefix of.
            [b"s".as_slice(), session.key().as_bytes(), &[0], &number.to_be_bytes()].concat()
        }
    }
}

/// Returns the range of the bytes of all spans of a session.
pub(crate) fn spans(session: &SessionId) -> Range<Vec<u8>> {
    let bytes = |end: u8| [b"s".as_slice(), session.key().as_bytes(), &[end]].concat();
    bytes(0)..bytes(1)
}

/// Returns the epochs and revisions up to which items are to be deleted; if an item is named twice, the higher ones.
pub(crate) fn bounds(items: &[(ItemId, Version)]) -> BTreeMap<Vec<u8>, (i64, i64)> {
    let mut highest: BTreeMap<Vec<u8>, (i64, i64)> = BTreeMap::new();
    for (item, through) in items {
        let bound = highest.entry(encode(item)).or_default();
        *bound = (whole(through.epoch.0), whole(through.revision)).max(*bound);
    }
    highest
}

/// Returns the item that [`encode`] gave `bytes` for.
///
/// # Errors
/// `Corrupt` for invalid bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<ItemId> {
    let bad = || corrupt("an item has a key that is none");
    let (unit, rest) = bytes.split_first().ok_or_else(bad)?;
    let id = || Uuid::from_slice(rest).map_err(|_| bad());
    match unit {
        b'm' => Ok(ItemId::Message(MessageId(id()?))),
        b'r' => Ok(ItemId::Record(RecordId(id()?))),
        b's' => {
            let (rest, number) = rest.split_last_chunk::<4>().ok_or_else(bad)?;
            let key = rest.strip_suffix(&[0]).and_then(|key| std::str::from_utf8(key).ok()).ok_or_else(bad)?;
            let session = SessionId::from_key(key).map_err(|_| bad())?;
            Ok(ItemId::Span(session, u32::from_be_bytes(*number)))
        }
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use memory_testkit::generate::HOSTILE_NAMES;

    use super::*;

    #[test]
    fn keys_are_read_back_and_ordered_as_items_are() {
        let mut items: Vec<ItemId> = Vec::new();
        for name in HOSTILE_NAMES.iter().copied().chain(["a", "a b", "ab", "a-b", "a.b", "b"]) {
            let session = SessionId::new(name).unwrap();
            items.extend([0, 9, 10, 255, 256, u32::MAX].map(|number| ItemId::Span(session.clone(), number)));
        }
        for number in [0u128, 1, 255, 256, u128::MAX] {
            items.push(ItemId::Message(MessageId(Uuid::from_u128(number))));
            items.push(ItemId::Record(RecordId(Uuid::from_u128(number))));
        }
        for a in &items {
            assert_eq!(decode(&encode(a)).unwrap(), *a);
            for b in &items {
                assert_eq!(encode(a).cmp(&encode(b)), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_spans_of_a_session_stand_together() {
        for (name, other) in [("a", "ab"), ("a", "a b"), ("ab", "a"), ("a", "A")] {
            let [own, foreign] = [name, other].map(|name| SessionId::new(name).unwrap());
            let range = spans(&own);
            for number in [0, 1, u32::MAX] {
                assert!(range.contains(&encode(&ItemId::Span(own.clone(), number))));
                assert!(!range.contains(&encode(&ItemId::Span(foreign.clone(), number))));
            }
        }
    }

    #[test]
    fn other_bytes_are_corrupt() {
        for bytes in
            [&b""[..], b"m", b"m123", b"x1234567890123456", b"s", b"s\0\0\0\0", b"sa\0\0\0", b"s\xff\0\0\0\0\0"]
        {
            assert!(matches!(decode(bytes), Err(memory_core::Error::Corrupt { .. })), "{bytes:?}");
        }
    }
}
