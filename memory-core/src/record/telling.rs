//! One time at which a record was told.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::id::{ItemId, SessionId};
use crate::message::Trust;
use crate::time::Timestamp;

/// One time at which a record was told: who says so, from what, and what it adds to the words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telling {
    /// When.
    pub at: Timestamp,
    /// How far it may be believed.
    pub trust: Trust,
    /// Who or what wrote it, in the caller's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The run of an agent in which it was told, 1 to 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it was derived from; it falls with any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What the caller says of the record's importance, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// Asks that the record never expire and never be evicted.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub pinned: bool,
    /// Asks that the record not be returned from this moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The first moment at which what it says is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The first moment at which it is true no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// The caller's own values.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub metadata: Map<String, Value>,
}

impl Telling {
    /// Returns a telling that adds nothing.
    pub fn new(at: Timestamp, trust: Trust) -> Self {
        Self {
            at,
            trust,
            origin: None,
            session: None,
            run: None,
            sources: Vec::new(),
            tags: Vec::new(),
            importance: None,
            pinned: false,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            metadata: Map::new(),
        }
    }

    /// Returns whether both come from the same place: whatever takes one of them back takes the other.
    fn is_beside(&self, other: &Self) -> bool {
        let Self { trust, origin, session, run, sources, .. } = self;
        (trust, origin, session, run, sources)
            == (&other.trust, &other.origin, &other.session, &other.run, &other.sources)
    }

    /// Takes what the earlier telling `old`, from the same place, adds beyond this one. Of two values this one's stays.
    fn absorb(&mut self, old: Self) {
        let mut tags = old.tags;
        tags.extend(self.tags.drain(..).filter(|tag| !tags.contains(tag)).collect::<Vec<_>>());
        self.tags = tags;
        self.at = self.at.min(old.at);
        self.importance = self.importance.or(old.importance);
        self.pinned |= old.pinned;
        self.expires_at = self.expires_at.zip(old.expires_at).map(|(new, old)| new.max(old));
        for (key, value) in old.metadata {
            self.metadata.entry(key).or_insert(value);
        }
    }
}

/// Adds `new` behind `tellings`, which are in the order in which they were told.
///
/// Tellings from the same place are kept as one where nobody could ever see the difference, whatever is forgotten
/// later: so a repeat changes nothing, and the number of tellings is bounded by the places and keys that there are.
pub(super) fn add(tellings: Vec<Telling>, mut new: Telling) -> Vec<Telling> {
    let newest = tellings.iter().rposition(|telling| telling.trust == new.trust);
    let mut kept = Vec::with_capacity(tellings.len() + 1);
    // From the last one back, so that what is absorbed earlier is newer.
    for (place, mut old) in tellings.into_iter().enumerate().rev() {
        if !old.is_beside(&new) {
            kept.push(old);
            continue;
        }
        // What the new telling says again, nobody sees of the old one any more.
        old.metadata.retain(|key, _| !new.metadata.contains_key(key));
        old.importance = old.importance.filter(|_| new.importance.is_none());
        if newest == Some(place) || (old.metadata.is_empty() && old.importance.is_none()) {
            new.absorb(old);
        } else {
            kept.push(old);
        }
    }
    kept.reverse();
    kept.push(new);
    kept
}
