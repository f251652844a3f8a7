//! Identities of sessions, messages, records and of what a search store points at.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::scope::{Epoch, check_name, decode, encode};

macro_rules! uuid_id {
    ($name:ident, $what:literal) => {
        #[doc = concat!("The id of a ", $what, ", unique within its owner and chosen by the caller.")]
        ///
        /// Make it before the first attempt and keep it across retries: then a repeated write changes nothing.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Returns a new id (UUIDv7: ordered by time within one process).
            pub fn fresh() -> Self {
                Self(Uuid::now_v7())
            }

            /// Returns the id that belongs to `content` (UUIDv5): the same bytes give the same id.
            pub fn of_content(content: &[u8]) -> Self {
                Self(Uuid::new_v5(&Uuid::NAMESPACE_OID, content))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Uuid::parse_str(text).map(Self).map_err(|_| Error::invalid(concat!("not the id of a ", $what)))
            }
        }
    };
}

uuid_id!(MessageId, "message");
uuid_id!(RecordId, "record");

/// The name of a conversation of one owner: 1 to 255 bytes of any text. Cheap to clone.
///
/// Ordered by [`SessionId::key`], the order in which every store lists sessions.
#[doc(alias = "chat_store_key")]
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<Names>);

/// The encoded name stands first: it decides the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Names {
    key: Box<str>,
    name: Box<str>,
}

/// One of two names that belong together says all.
impl Hash for Names {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl SessionId {
    /// Returns the id of the session called `name`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `name` is empty or longer than 255 bytes.
    pub fn new(name: &str) -> Result<Self> {
        check_name(name, "the session's name")?;
        Ok(Self(Arc::new(Names { key: encode(name).into(), name: name.into() })))
    }

    /// Returns the session's name as it was given.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the encoded name: injective, ASCII letters, digits, `-` and `_`.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Returns the session that [`SessionId::key`] gave `key` for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no session has that key.
    pub fn from_key(key: &str) -> Result<Self> {
        let name = decode(key).ok_or_else(|| Error::invalid("not the key of a session"))?;
        Self::new(&name)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({})", self.key())
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::new(&name).map_err(serde::de::Error::custom)
    }
}

/// The number of a message within its session: the first is 1, and 0 stands before it. Gapless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// A stretch of a session, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeqRange {
    /// The first number.
    pub first: Seq,
    /// The last number.
    pub last: Seq,
}

impl SeqRange {
    /// Returns whether `seq` lies in the stretch.
    pub fn contains(&self, seq: Seq) -> bool {
        self.first <= seq && seq <= self.last
    }
}

/// What a search store points at, and so which truth store gives its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ItemId {
    /// A message.
    Message(MessageId),
    /// A record.
    Record(RecordId),
    /// A bounded stretch of a session as one document: it lends weight to its messages and is never shown itself.
    Span(SessionId, u32),
}

/// The kind of thing an [`ItemId`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A message.
    Message,
    /// A record.
    Record,
    /// A stretch of a session.
    Span,
}

impl Unit {
    /// Returns the unit's name in filters and keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Record => "record",
            Self::Span => "span",
        }
    }
}

impl ItemId {
    /// Returns what kind of thing this is.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Message(_) => Unit::Message,
            Self::Record(_) => Unit::Record,
            Self::Span(..) => Unit::Span,
        }
    }

    /// Returns the id of a message.
    pub(crate) fn as_message(&self) -> Option<MessageId> {
        match self {
            Self::Message(id) => Some(*id),
            _ => None,
        }
    }

    /// Returns the id of a record.
    pub(crate) fn as_record(&self) -> Option<RecordId> {
        match self {
            Self::Record(id) => Some(*id),
            _ => None,
        }
    }

    /// Returns the bare id of a message or record, and the key of a span, which has no other.
    pub fn id(&self) -> String {
        match self {
            Self::Message(id) => id.to_string(),
            Self::Record(id) => id.to_string(),
            Self::Span(..) => self.key(),
        }
    }

    /// Returns an injective ASCII key: `m-`, `r-` and the id, or `s-`, the session's key, `.` and the number.
    pub fn key(&self) -> String {
        match self {
            Self::Message(id) => format!("m-{id}"),
            Self::Record(id) => format!("r-{id}"),
            Self::Span(session, number) => format!("s-{}.{number}", session.key()),
        }
    }

    /// Returns the item that [`ItemId::key`] gave `key` for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no item has that key.
    pub fn from_key(key: &str) -> Result<Self> {
        let bad = || Error::invalid("not the key of an item");
        let item = match key.split_once('-').ok_or_else(bad)? {
            ("m", id) => Self::Message(id.parse()?),
            ("r", id) => Self::Record(id.parse()?),
            ("s", span) => {
                let (session, number) = span.split_once('.').ok_or_else(bad)?;
                Self::Span(SessionId::from_key(session)?, number.parse().map_err(|_| bad())?)
            }
            _ => return Err(bad()),
        };
        if item.key() == key { Ok(item) } else { Err(bad()) }
    }
}

/// Orders the puts and deletions of one item in an index: an older put never replaces a newer one, and an older deletion
/// never takes it.
///
/// `revision` is a record's version; for messages and spans see [`crate::index::session_version`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    /// The owner's epoch.
    pub epoch: Epoch,
    /// The content's revision.
    pub revision: u64,
}

/// The SHA-256 of content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Returns the digest of `parts`, each with its length, so that no two lists of parts look alike.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_keys_are_read_back() {
        let session = SessionId::new("a.b-c/ü").unwrap();
        let items = [
            ItemId::Message(MessageId::fresh()),
            ItemId::Record(RecordId::fresh()),
            ItemId::Span(session.clone(), 0),
            ItemId::Span(session, u32::MAX),
        ];
        for item in items {
            assert_eq!(ItemId::from_key(&item.key()).unwrap(), item);
        }
        for key in ["", "m", "m-", "x-1", "s-a", "s-a.-1", "s-a.01", "s-a.4294967296"] {
            assert!(ItemId::from_key(key).is_err(), "{key}");
        }
    }

    #[test]
    fn digests_tell_where_parts_end() {
        assert_ne!(Digest::of(&[b"ab", b"c"]), Digest::of(&[b"a", b"bc"]));
        assert_ne!(Digest::of(&[b""]), Digest::of(&[]));
        assert_eq!(Digest::of(&[b"ab", b"c"]), Digest::of(&[b"ab", b"c"]));
    }
}
