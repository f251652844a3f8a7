//! The bodies of messages in fewer bytes.
//!
//! A packed body begins with [`PACKED`]. Then come bytes that stand for pieces of text, and stretches of other bytes, each behind
//! [`OTHERS`] and its length. What opens every body, its version and its id, is left out. A body that begins with `{` is not
//! packed: one of an older version, or one that would take as much.

mod pieces;

use std::borrow::Cow;
use std::sync::LazyLock;

use memory_core::MessageId;
use memory_core::error::{Error, Result};

use crate::error::BACKEND;

use pieces::PIECES;

/// Begins a packed body.
const PACKED: u8 = 1;

/// Begins a stretch of bytes for which no piece stands: their number comes next.
const OTHERS: u8 = 255;

/// For each first byte, the pieces that begin with it, the longest first, with their bytes.
static BY_FIRST: LazyLock<Vec<Vec<(&str, u8)>>> = LazyLock::new(|| {
    let mut by_first = vec![Vec::new(); 256];
    for (byte, piece) in (0..OTHERS).zip(PIECES) {
        let first = piece.bytes().next().map(usize::from);
        if let Some(pieces) = first.and_then(|first| by_first.get_mut(first)) {
            pieces.push((piece, byte));
        }
    }
    by_first.iter_mut().for_each(|pieces| pieces.sort_by_key(|(piece, _)| std::cmp::Reverse(piece.len())));
    by_first
});

/// Returns what opens the body of a message.
fn opening(id: MessageId) -> String {
    format!("{{\"v\":1,\"id\":\"{id}\",")
}

/// Returns the stored bytes of a message's body.
pub(crate) fn pack(id: MessageId, body: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut rest) = body.strip_prefix(opening(id).as_bytes()) else { return Cow::Borrowed(body) };
    let mut out = Vec::with_capacity(body.len() / 2);
    out.push(PACKED);
    while let Some(first) = rest.first() {
        let pieces = BY_FIRST.get(usize::from(*first)).map(Vec::as_slice).unwrap_or_default();
        let found = pieces.iter().find_map(|(piece, byte)| Some((rest.strip_prefix(piece.as_bytes())?, byte)));
        let Some((later, byte)) = found else {
            let is_first = |byte: &u8| BY_FIRST.get(usize::from(*byte)).is_some_and(|pieces| !pieces.is_empty());
            let length = rest.iter().skip(1).position(is_first).map_or(rest.len(), |length| length + 1);
            let (others, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = later;
            for others in others.chunks(usize::from(u8::MAX)) {
                out.extend([OTHERS, others.len() as u8]);
                out.extend_from_slice(others);
            }
            continue;
        };
        out.push(*byte);
        rest = later;
    }
    if out.len() < body.len() { Cow::Owned(out) } else { Cow::Borrowed(body) }
}

/// Returns the body that [`pack`] made these bytes of.
///
/// # Errors
/// `Corrupt` for bytes that it cannot have made.
pub(crate) fn unpack(id: MessageId, stored: &[u8]) -> Result<Cow<'_, [u8]>> {
    let Some((&PACKED, mut rest)) = stored.split_first() else { return Ok(Cow::Borrowed(stored)) };
    let damaged = || Error::corrupt(BACKEND, "a packed message is damaged");
    let mut body = Vec::with_capacity(stored.len() * 3);
    body.extend_from_slice(opening(id).as_bytes());
    while let Some((byte, later)) = rest.split_first() {
        rest = later;
        if *byte == OTHERS {
            let (length, later) = rest.split_first().ok_or_else(damaged)?;
            let (others, later) = later.split_at_checked(usize::from(*length)).ok_or_else(damaged)?;
            body.extend_from_slice(others);
            rest = later;
        } else {
            body.extend_from_slice(PIECES.get(usize::from(*byte)).ok_or_else(damaged)?.as_bytes());
        }
    }
    Ok(Cow::Owned(body))
}

#[cfg(test)]
mod tests {
    use memory_core::{Message, Role, Timestamp};
    use proptest::prelude::*;

    use super::*;

    fn body(text: &str) -> (MessageId, Vec<u8>) {
        let message = Message::new(Role::User, text, Timestamp(1_700_000_000_123_456));
        (message.id, message.encode())
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_back(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (id, body) = body(&text);
            for body in [body, [opening(id).as_bytes(), &bytes].concat(), [b"{", bytes.as_slice()].concat()] {
                let packed = pack(id, &body).into_owned();
                prop_assert!(packed.len() <= body.len());
                prop_assert_eq!(unpack(id, &packed).unwrap().into_owned(), body);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let bytes = [&[PACKED], bytes.as_slice()].concat();
            _ = unpack(MessageId::of_content(b"any"), &bytes).map(Cow::into_owned);
        }
    }

    #[test]
    fn prose_takes_about_half_and_no_text_takes_more() {
        let (id, english) = body(
            "I would like to book a table for two on Saturday evening. Could you tell me whether \
             there is one left near the window, and what I should bring for the children?",
        );
        assert!(pack(id, &english).len() * 2 < english.len(), "{} of {}", pack(id, &english).len(), english.len());
        for text in ["", "é", "土曜日の夜に二人で席を予約したいです。", "😀😀😀", "\u{0}\u{1}\"\\"]
        {
            let (id, body) = body(text);
            assert!(pack(id, &body).len() < body.len() - 50, "{text}");
        }
    }

    #[test]
    fn a_piece_has_one_byte_and_none_is_for_the_rest() {
        let distinct: std::collections::BTreeSet<&str> = PIECES.into_iter().collect();
        assert!(distinct.len() == PIECES.len() && PIECES.len() <= usize::from(OTHERS) && !distinct.contains(""));
    }

    /// The digest of the pieces: files hold their places.
    #[test]
    fn the_pieces_are_those_of_every_file() {
        let bytes: Vec<&[u8]> = PIECES.iter().map(|piece| piece.as_bytes()).collect();
        let digest = memory_core::Digest::of(&bytes).0;
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "2bdd1f15b431fb33");
    }
}
