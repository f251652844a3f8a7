//! Messages as rows: bytes that scripts move about and hardly look into.
//!
//! A row is the id (16 bytes), the digest (32 bytes), `tokens at first `, the canonical body, and a checksum of all of it and
//! of the session (8 bytes), where `at` is a time that sorts as text and `first` the first number that a summary covers, or
//! `-`; behind it, as `.7`, stands who counted the tokens, if that is known. Of what is forgotten the id alone is left.
//!
//! The digest decides whether two writes are the same, so nobody may be able to make two texts with one digest. The checksum
//! is compared with every read: it has to tell damage, which has no intent, and costs next to nothing.

use std::sync::Arc;

use memory_core::CounterId;
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SeqRange, SessionId};
use memory_core::message::{Message, StoredMessage};
use memory_core::store::chat::NewMessage;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{BACKEND, damaged};
use crate::keys::sortable;

/// A message or summary, ready to be stored.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: MessageId,
    pub(crate) digest: [u8; 32],
    pub(crate) bytes: Vec<u8>,
}

impl Row {
    /// Encodes a message of `session`; `first` is the first number that a summary covers.
    ///
    /// # Errors
    /// `Invalid` for more tokens than a signed number can count.
    pub(crate) fn new(session: &SessionId, new: &NewMessage, first: Option<Seq>) -> Result<Self> {
        let NewMessage { message, tokens, counter } = new;
        if i64::try_from(*tokens).is_err() {
            return Err(Error::invalid("a number is too large to be stored"));
        }
        let body = message.encode();
        let digest = Message::digest_of(session, &body).0;
        let first = first.map_or_else(|| "-".to_owned(), |first| first.0.to_string());
        let counter = if counter.is_unknown() { String::new() } else { format!(".{}", counter.0) };
        let head = format!("{tokens} {} {first}{counter} ", sortable(message.at));
        let mut bytes = Vec::with_capacity(16 + digest.len() + head.len() + body.len() + 8);
        for part in [message.id.0.as_bytes().as_slice(), &digest, head.as_bytes(), &body] {
            bytes.extend_from_slice(part);
        }
        bytes.extend(checksum(session, &bytes));
        Ok(Self { id: message.id, digest, bytes })
    }

    /// Returns the marker that keeps an id taken.
    pub(crate) fn marker(id: MessageId) -> Self {
        Self { id, digest: [0; 32], bytes: id.0.as_bytes().to_vec() }
    }
}

/// Returns an id from its 16 bytes.
pub(crate) fn id(bytes: &[u8]) -> Result<MessageId> {
    Uuid::from_slice(bytes).map(MessageId).map_err(|_| damaged("an id has not 16 bytes"))
}

/// Returns the number in a place: `7`, or `7:0000000002` for a summary.
pub(crate) fn seq(place: &str) -> Result<Seq> {
    let number = place.split(':').next().unwrap_or_default();
    number.parse().map(Seq).map_err(|_| damaged("a place has no number"))
}

/// Returns whether a summary stands at a place.
pub(crate) fn is_summary(place: &str) -> bool {
    place.contains(':')
}

/// Returns the checksum of a row of `session` that holds `bytes`.
fn checksum(session: &SessionId, bytes: &[u8]) -> [u8; 8] {
    (xxh3_64(bytes) ^ xxh3_64(session.key().as_bytes())).to_le_bytes()
}

/// Reads a row that stands at `place`; `mark` is the summary that stands for it.
///
/// # Errors
/// `Corrupt` if the row does not match its checksum.
pub(crate) fn read(session: &SessionId, place: &str, row: &[u8], mark: Option<&[u8]>) -> Result<StoredMessage> {
    let (id, _) = row.split_at_checked(16).ok_or_else(cut_off)?;
    let id = self::id(id)?;
    of_message(session, place, id, row, mark).map_err(|error| error.damaging(format_args!("the message {id}")))
}

fn of_message(
    session: &SessionId,
    place: &str,
    id: MessageId,
    row: &[u8],
    mark: Option<&[u8]>,
) -> Result<StoredMessage> {
    let (seq, archived_by) = (seq(place)?, mark.map(self::id).transpose()?);
    let (session_id, counter) = (session.clone(), CounterId::UNKNOWN);
    let marker =
        StoredMessage { id, session: session_id, seq, tokens: 0, counter, covers: None, archived_by, message: None };
    if row.len() == 16 {
        return Ok(marker);
    }
    let (sound, check) = row.split_last_chunk::<8>().ok_or_else(cut_off)?;
    if checksum(session, sound) != *check {
        return Err(damaged("it does not match its checksum"));
    }
    let mut parts = sound.get(48..).ok_or_else(cut_off)?.splitn(4, |byte| *byte == b' ');
    let mut part = || parts.next().ok_or_else(cut_off);
    let (tokens, _at, first, body) = (part()?, part()?, part()?, part()?);
    let message = Message::decode(BACKEND, body)?;
    if message.id != id {
        return Err(damaged("a row has another id than its message"));
    }
    let (first, counter) = match first.iter().position(|byte| *byte == b'.') {
        Some(point) => (first.get(..point).unwrap_or_default(), first.get(point + 1..).unwrap_or_default()),
        // A row of a version that did not keep it.
        None => (first, b"0".as_slice()),
    };
    let counter = CounterId(u32::try_from(number(counter)?).map_err(|_| damaged("a counter is none"))?);
    let covers = if is_summary(place) { Some(SeqRange { first: Seq(number(first)?), last: seq }) } else { None };
    Ok(StoredMessage { tokens: number(tokens)?, counter, covers, message: Some(Arc::new(message)), ..marker })
}

fn cut_off() -> Error {
    damaged("a row is cut off")
}

fn number(text: &[u8]) -> Result<u64> {
    let text = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    text.ok_or_else(|| damaged("a number is none"))
}

#[cfg(test)]
mod tests {
    use memory_core::{Role, Timestamp};

    use super::*;

    fn row(first: Option<Seq>) -> (SessionId, Row) {
        let session = SessionId::new("s").unwrap();
        let message = Arc::new(Message::new(Role::User, "two words", Timestamp(-5)));
        let new = NewMessage { message, tokens: 7, counter: CounterId(u32::MAX) };
        let row = Row::new(&session, &new, first).unwrap();
        (session, row)
    }

    #[test]
    fn rows_are_read_back() {
        let (session, message) = row(None);
        let read_back = read(&session, "12", &message.bytes, None).unwrap();
        assert_eq!((read_back.id, read_back.seq, read_back.tokens), (message.id, Seq(12), 7));
        assert_eq!(read_back.counter, CounterId(u32::MAX));
        assert_eq!((read_back.covers, read_back.archived_by), (None, None));
        assert_eq!(read_back.message.unwrap().text(), "two words");
        let (session, summary) = row(Some(Seq(3)));
        let by = message.id.0.as_bytes();
        let read_back = read(&session, "12:0000000001", &summary.bytes, Some(by)).unwrap();
        assert_eq!(read_back.covers, Some(SeqRange { first: Seq(3), last: Seq(12) }));
        assert_eq!(read_back.counter, CounterId(u32::MAX));
        assert_eq!(read_back.archived_by, Some(message.id));
        let marker = read(&session, "4", &Row::marker(message.id).bytes, None).unwrap();
        assert_eq!((marker.id, marker.tokens, marker.message), (message.id, 0, None));
    }

    #[test]
    fn a_row_of_a_version_that_did_not_keep_the_counter_is_read() {
        let session = SessionId::new("s").unwrap();
        let message = Message::new(Role::User, "two words", Timestamp(-5));
        let row = Row::new(&session, &NewMessage::sized(message.clone(), 7), None).unwrap();
        assert!(row.bytes.windows(3).any(|bytes| bytes == b" - "), "it is written as it was then");
        let read_back = read(&session, "12", &row.bytes, None).unwrap();
        assert_eq!((read_back.tokens, read_back.counter), (7, CounterId::UNKNOWN));
        assert_eq!(*read_back.message.unwrap(), message);
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_seen() {
        let (session, message) = row(None);
        for place in 0..message.bytes.len() {
            let cut = read(&session, "1", &message.bytes[..place], None);
            assert!(place == 16 || matches!(cut, Err(Error::Corrupt { .. })), "cut at {place}");
            for bit in 0..8 {
                let mut damaged = message.bytes.clone();
                damaged[place] ^= 1 << bit;
                let found = read(&session, "1", &damaged, None);
                assert!(matches!(found, Err(Error::Corrupt { .. })), "bit {bit} of byte {place}");
            }
        }
    }

    #[test]
    fn a_row_of_another_session_is_seen() {
        let (_, message) = row(None);
        let other = SessionId::new("t").unwrap();
        assert!(matches!(read(&other, "1", &message.bytes, None), Err(Error::Corrupt { .. })));
    }
}
