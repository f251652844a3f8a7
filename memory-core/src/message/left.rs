//! Why messages left a window without a summary: the id of the row that stands for them says it.

use uuid::{Builder, Uuid};

use crate::id::MessageId;

/// Why messages left a window without a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// There were too many.
    Evicted,
    /// Others took their place.
    Replaced,
}

impl Left {
    const fn mark(self) -> u8 {
        match self {
            Self::Evicted => 0,
            Self::Replaced => 1,
        }
    }

    /// Returns the id of the row that stands for the messages from `first` on. The same arguments give the same id. The session's
    /// `revision` makes another one of it after each change, because the id of a row that is gone stays taken.
    pub(crate) fn archive(self, first: MessageId, revision: u64) -> MessageId {
        let mut bytes = Uuid::new_v5(&first.0, &revision.to_le_bytes()).into_bytes();
        if let Some(byte) = bytes.first_mut() {
            *byte = self.mark();
        }
        // Of version 8, which no summary's id has.
        MessageId(Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns why the messages left for which the row `archive` stands; none if it is a summary.
    pub(crate) fn behind(archive: MessageId) -> Option<Self> {
        let mark = archive.0.as_bytes().first().filter(|_| archive.0.get_version_num() == 8)?;
        [Self::Evicted, Self::Replaced].into_iter().find(|left| left.mark() == *mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_says_why_and_is_made_again() {
        let first = MessageId::fresh();
        for left in [Left::Evicted, Left::Replaced] {
            assert_eq!(left.archive(first, 1), left.archive(first, 1));
            assert_ne!(left.archive(first, 1), left.archive(first, 2));
            assert_eq!(Left::behind(left.archive(first, 1)), Some(left));
        }
        assert_eq!(Left::behind(first), None);
    }
}
