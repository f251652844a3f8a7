//! Why messages left a window without a summary: the id of the row that stands for them says it.

use uuid::{Builder, Uuid};

use crate::id::{MessageId, Seq};

/// The bytes of an id that hold a number, and the largest that they hold.
const NUMBER: std::ops::Range<usize> = 1..6;
const LARGEST: u64 = (1 << 40) - 1;

/// Why messages left a window without a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// There were too many.
    Evicted,
    /// Others took their place, the first of which has this number. One beyond 2⁴⁰ counts as the largest below.
    Replaced(Seq),
}

impl Left {
    const EVICTED: u8 = 0;
    const REPLACED: u8 = 1;

    /// Returns the id of the row that stands for the messages from `first` on. The same arguments give the same id. The session's
    /// `revision` makes another one of it after each change, because the id of a row that is gone stays taken.
    pub(crate) fn archive(self, first: MessageId, revision: u64) -> MessageId {
        let mut bytes = Uuid::new_v5(&first.0, &revision.to_le_bytes()).into_bytes();
        let (mark, by) = match self {
            Self::Evicted => (Self::EVICTED, None),
            Self::Replaced(by) => (Self::REPLACED, Some(by)),
        };
        if let Some(byte) = bytes.first_mut() {
            *byte = mark;
        }
        let number = by.map(|by| by.0.min(LARGEST).to_be_bytes());
        let number = number.as_ref().and_then(|number| number.last_chunk::<{ NUMBER.end - NUMBER.start }>());
        if let Some((place, number)) = bytes.get_mut(NUMBER).zip(number) {
            place.copy_from_slice(number);
        }
        // Of version 8, which no summary's id has.
        MessageId(Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns why the messages left for which the row `archive` stands; none if it is a summary.
    pub(crate) fn behind(archive: MessageId) -> Option<Self> {
        let bytes = archive.0.as_bytes();
        match *bytes.first().filter(|_| archive.0.get_version_num() == 8)? {
            Self::EVICTED => Some(Self::Evicted),
            Self::REPLACED => {
                let number = bytes.get(NUMBER)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                Some(Self::Replaced(Seq(number)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_says_why_and_is_made_again() {
        let first = MessageId::fresh();
        for left in [Left::Evicted, Left::Replaced(Seq(1)), Left::Replaced(Seq(70_000)), Left::Replaced(Seq(LARGEST))] {
            assert_eq!(left.archive(first, 1), left.archive(first, 1));
            assert_ne!(left.archive(first, 1), left.archive(first, 2));
            assert_eq!(Left::behind(left.archive(first, 1)), Some(left));
        }
        assert_eq!(Left::behind(Left::Replaced(Seq(u64::MAX)).archive(first, 1)), Some(Left::Replaced(Seq(LARGEST))));
        assert_eq!(Left::behind(first), None);
    }
}
