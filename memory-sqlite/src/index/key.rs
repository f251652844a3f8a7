//! The keys of stored items: the bytes of an id behind the letter of its kind, in the order of [`ItemId::key`].

use memory_core::{Error, ItemId, MessageId, RecordId, Result};

use crate::error::BACKEND;
use crate::row::uuid;

/// Opens the key of a message.
const MESSAGE: u8 = b'm';
/// Opens the key of a record.
const RECORD: u8 = b'r';

/// Returns the key under which an item is stored. That of a span is a text, which begins with `s`.
pub(crate) fn stored_key(item: &ItemId) -> Vec<u8> {
    match item {
        ItemId::Message(id) => [&[MESSAGE], id.0.as_bytes().as_slice()].concat(),
        ItemId::Record(id) => [&[RECORD], id.0.as_bytes().as_slice()].concat(),
        ItemId::Span(..) => item.key().into_bytes(),
    }
}

/// Returns the item that a stored key names.
pub(crate) fn read_key(key: &[u8]) -> Result<ItemId> {
    match key.split_first() {
        Some((&MESSAGE, id)) => Ok(ItemId::Message(MessageId(uuid(id)?))),
        Some((&RECORD, id)) => Ok(ItemId::Record(RecordId(uuid(id)?))),
        _ => {
            let key = std::str::from_utf8(key).ok().and_then(|key| ItemId::from_key(key).ok());
            key.ok_or_else(|| corrupt("an item has a key that is none"))
        }
    }
}

/// Returns the error for an index whose tables are inconsistent.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::corrupt(BACKEND, what)
}

#[cfg(test)]
mod tests {
    use memory_core::SessionId;

    use super::*;

    #[test]
    fn keys_are_read_back_and_stand_in_the_order_of_the_items() {
        let session = SessionId::new("a b").unwrap();
        let mut items = vec![ItemId::Span(session.clone(), 7), ItemId::Span(session, 12)];
        for number in [3u8, 1, 255] {
            items.push(ItemId::Message(MessageId::of_content(&[number])));
            items.push(ItemId::Record(RecordId::fresh()));
        }
        items.sort_by_key(ItemId::key);
        let keys: Vec<_> = items.iter().map(stored_key).collect();
        assert!(keys.is_sorted());
        assert_eq!(keys.iter().map(|key| read_key(key).unwrap()).collect::<Vec<_>>(), items);
    }

    #[test]
    fn bytes_that_are_no_key_are_corrupt() {
        for bytes in [&b""[..], b"m", b"m-0123", b"r0123456789abcde", b"x-1", b"s-a", b"\xff"] {
            assert!(matches!(read_key(bytes), Err(Error::Corrupt { .. })), "{bytes:?}");
        }
    }
}
