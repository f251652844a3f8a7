//! Tellings: who told a record, when, from what, and with what additions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::id::{ItemId, SessionId};
use crate::message::Trust;
use crate::time::Timestamp;

/// A telling of a record: who told it, when, from what, and what it adds to the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telling {
    /// When.
    pub at: Timestamp,
    /// Its trust.
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
    /// What it was derived from. Forgetting any of these takes the telling back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The record's importance, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// Whether it pins the record, so that it never expires and is never evicted.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub pinned: bool,
    /// When the record is to expire; from then on it is not returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The time from which the record is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The time from which it is no longer true.
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

    /// Returns whether both come from the same place, so that whatever takes one back takes back the other too.
    fn is_beside(&self, other: &Self) -> bool {
        let Self { trust, origin, session, run, sources, .. } = self;
        (trust, origin, session, run, sources)
            == (&other.trust, &other.origin, &other.session, &other.run, &other.sources)
    }

    /// Returns whether nothing that shows is lost if `new` takes this one's place: it is trusted no less, and all that this one adds is
    /// in it. One that nothing takes back stays.
    pub(super) fn gives_way_to(&self, new: &Self) -> bool {
        let Self {
            at: _,
            trust,
            origin: _,
            session,
            run: _,
            sources,
            tags,
            importance,
            pinned,
            expires_at,
            valid_from,
            valid_to,
            metadata,
        } = self;
        let is_taken_back = session.is_some() || !sources.is_empty();
        let is_as_long = new.expires_at.is_none_or(|until| expires_at.is_some_and(|old| old <= until));
        is_taken_back
            && *trust <= new.trust
            && tags.iter().all(|tag| new.tags.contains(tag))
            && (importance.is_none() || *importance == new.importance)
            && (!pinned || new.pinned)
            && is_as_long
            && (*valid_from, *valid_to) == (new.valid_from, new.valid_to)
            && metadata.iter().all(|(key, value)| new.metadata.get(key) == Some(value))
    }

    /// Merges in what the earlier telling `old`, from the same place, adds. If both have a value, this one's stays.
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

/// Adds `new` after `tellings`, which are in their order.
///
/// Tellings from the same place are merged if no later forget could show the difference. So a repeat changes nothing, and the
/// number of tellings is bounded by the number of places and keys.
pub(super) fn add(tellings: Vec<Telling>, mut new: Telling) -> Vec<Telling> {
    let newest = tellings.iter().rposition(|telling| telling.trust == new.trust);
    let mut kept = Vec::with_capacity(tellings.len() + 1);
    // From the last one back, so that newer values are absorbed first.
    for (place, mut old) in tellings.into_iter().enumerate().rev() {
        if !old.is_beside(&new) {
            kept.push(old);
            continue;
        }
        // The new telling's values hide the old ones.
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
