//! The names of keys, and how epochs and times are written in them.

use memory_core::scope::{Epoch, Scope};
use memory_core::time::Timestamp;

/// The keys of one place: all of an owner lie in one slot of a cluster, under the hash tag that its name is.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// Returns the key that all of an owner begin with; itself the hash of its truth.
    pub(crate) fn owner(&self, scope: &Scope) -> String {
        format!("{}:{{{}}}", self.prefix, scope.key())
    }

    /// Returns a pattern that the keys of [`Self::owner`] match, and no key that begins with one of them.
    pub(crate) fn any_owner(&self) -> String {
        // No sign of a prefix means anything in a pattern.
        format!("{}:{{*}}", self.prefix)
    }

    /// Returns the owner that [`Self::owner`] gave `key` for.
    pub(crate) fn owner_of(&self, key: &[u8]) -> Option<Scope> {
        let key = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
        Scope::from_key(key.strip_prefix(":{")?.strip_suffix('}')?).ok()
    }

    /// Returns the key of the hash that keeps how far each node was walked through.
    pub(crate) fn walked(&self) -> String {
        format!("{}:walked", self.prefix)
    }

    /// Returns the key of the sorted set of owners.
    pub(crate) fn owners(&self) -> String {
        format!("{}:owners", self.prefix)
    }

    /// Returns the key of the hash of enlisted indexes.
    pub(crate) fn indexes(&self) -> String {
        format!("{}:indexes", self.prefix)
    }

    /// Returns the key of the sorted set of owners with notes.
    pub(crate) fn noted(&self) -> String {
        format!("{}:noted", self.prefix)
    }
}

/// Returns an epoch with 20 digits, so that texts compare as numbers do.
pub(crate) fn padded(epoch: Epoch) -> String {
    format!("{:020}", epoch.0)
}

/// Returns a time with 20 digits, so that texts compare as times do, those before 1970 too.
pub(crate) fn sortable(at: Timestamp) -> String {
    format!("{:020}", at.0.cast_unsigned() ^ (1 << 63))
}

/// Returns the time that [`sortable`] gave `text` for.
pub(crate) fn of_sortable(text: &str) -> Option<Timestamp> {
    text.parse::<u64>().ok().map(|bits| Timestamp((bits ^ (1 << 63)).cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_as_their_texts_do() {
        let times = [i64::MIN, -1, 0, 1, 1_767_268_800_000_000, i64::MAX].map(Timestamp);
        let texts = times.map(sortable);
        assert!(texts.is_sorted());
        assert_eq!(texts.map(|text| of_sortable(&text).unwrap()), times);
        assert_eq!(of_sortable("-1"), None);
    }

    #[test]
    fn the_hash_tag_of_a_key_is_the_whole_owner() {
        let scope = Scope::new("{a}", "}b{").unwrap();
        let key = Keys::new("mem").owner(&scope);
        assert_eq!(key, format!("mem:{{{}}}", scope.key()));
        assert_eq!(key.matches(['{', '}']).count(), 2);
        assert_eq!(Keys::new("mem").owner_of(key.as_bytes()), Some(scope));
        for other in ["mem:{", "mem:{}", "other:{t.s}", "mem:owners", "mem:{a b}"] {
            assert_eq!(Keys::new("mem").owner_of(other.as_bytes()), None, "{other}");
        }
    }
}
