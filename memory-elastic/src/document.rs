//! The members of a document beside its terms or vectors, and its id.

use memory_core::error::Error;
use memory_core::{Digest, Epoch, Fields, ItemId, Result, Scope, Unit, Version};
use serde_json::{Map, Value, json};

use crate::filter::values_of;

/// Bits of a packed version that hold the revision; those above hold the epoch.
const REVISION_BITS: u32 = 43;

/// Returns the number that orders versions: by epoch, then by revision. The server knows one number, up to 2^63 - 1.
///
/// # Errors
/// `Invalid` for an epoch from 2^20 on or a revision from 2^43 on.
pub(crate) fn pack(version: Version) -> Result<i64> {
    let Version { epoch, revision } = version;
    let fits = epoch.0 < 1 << (63 - REVISION_BITS) && revision < 1 << REVISION_BITS;
    let packed =
        fits.then_some(epoch.0.wrapping_shl(REVISION_BITS) | revision).and_then(|packed| i64::try_from(packed).ok());
    packed.ok_or_else(|| Error::invalid("the version is larger than this index can hold"))
}

/// Returns the packed version of the newest that can be stored and is not above `version`.
pub(crate) fn pack_most(version: Version) -> i64 {
    let revision = version.revision.min((1 << REVISION_BITS) - 1);
    pack(Version { revision, ..version }).unwrap_or(i64::MAX)
}

/// Returns the version that [`pack`] gave `packed` for.
pub(crate) fn unpack(packed: i64) -> Version {
    let packed = packed.unsigned_abs();
    Version { epoch: Epoch(packed >> REVISION_BITS), revision: packed & ((1 << REVISION_BITS) - 1) }
}

/// Returns the id of an item's document. Ids are global to an index, so the owner is in them; they are hashes, so that
/// nothing that a caller wrote becomes part of an address.
pub(crate) fn id_of(scope: &Scope, item: &ItemId) -> String {
    hex(&Digest::of(&[scope.key().as_bytes(), item.key().as_bytes()]))
}

/// Returns the id of the document that tells below which epoch an owner was erased.
pub(crate) fn erasure_id(scope: &Scope) -> String {
    hex(&Digest::of(&[scope.key().as_bytes(), b"", b"erased"]))
}

fn hex(digest: &Digest) -> String {
    digest.0.iter().take(20).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the document that tells below which epoch an owner was erased.
///
/// It has no unit, so that no search takes it for an item.
pub(crate) fn erasure(scope: &Scope, below: i64) -> String {
    json!({ "scope": scope.key(), "below": below }).to_string()
}

/// Returns what all documents of items say: whose they are, which version, and what filters see.
pub(crate) fn common(scope: &Scope, item: &ItemId, version: Version, fields: &Fields) -> Result<Map<String, Value>> {
    let mut document = Map::new();
    let mut say = |name: &str, value: Value| document.insert(name.to_owned(), value);
    say("scope", json!(scope.key()));
    say("item", json!(item.key()));
    say("unit", json!(item.unit().name()));
    say("epoch", json!(version.epoch.0));
    say("version", json!(pack(version)?));
    say("slot", json!(slot_of(scope, item)));
    if let Some(session) = session_of(item, fields) {
        say("held", json!(session));
    }
    // The bytes of fields are JSON; as one text they come back as they were, whatever the server makes of numbers.
    let body = String::from_utf8(fields.encode()).map_err(|_| Error::invalid("fields that are no text"))?;
    say("body", json!(body));
    let (values, numbers) = values_of(fields);
    say("values", json!(values));
    for (name, number) in numbers {
        say(name, json!(number));
    }
    Ok(document)
}

/// Returns the session that takes the item with it when it is deleted. A record outlives its session.
fn session_of(item: &ItemId, fields: &Fields) -> Option<String> {
    match item {
        ItemId::Message(_) => fields.session.as_ref().map(|session| session.key().to_owned()),
        ItemId::Span(session, _) => Some(session.key().to_owned()),
        ItemId::Record(_) => None,
    }
}

/// How many slots items are spread over, evenly and for good.
pub(crate) const SLOTS: u32 = 65_536;

fn slot_of(scope: &Scope, item: &ItemId) -> u16 {
    let Digest(bytes) = Digest::of(&[scope.key().as_bytes(), item.key().as_bytes(), b"slot"]);
    bytes.first_chunk::<2>().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Returns the condition that a document is of this owner.
pub(crate) fn of_owner(scope: &Scope) -> Value {
    json!({ "term": { "scope": scope.key() } })
}

/// Returns the condition that a document is an item of `unit`.
pub(crate) fn of_unit(unit: Unit) -> Value {
    json!({ "term": { "unit": unit.name() } })
}

#[cfg(test)]
mod tests {
    use memory_core::{MessageId, SessionId};

    use super::*;

    fn version(epoch: u64, revision: u64) -> Version {
        Version { epoch: Epoch(epoch), revision }
    }

    #[test]
    fn packed_versions_stand_in_the_order_of_versions() {
        let last = (1 << 43) - 1;
        let rising = [(0, 0), (0, 1), (0, last), (1, 0), (1, last), (2, 0), ((1 << 20) - 1, last)];
        let packed: Vec<_> = rising.iter().map(|(epoch, revision)| pack(version(*epoch, *revision)).unwrap()).collect();
        assert!(packed.is_sorted_by(|a, b| a < b), "{packed:?}");
        assert_eq!(packed.last(), Some(&i64::MAX));
        for ((epoch, revision), packed) in rising.into_iter().zip(packed) {
            assert_eq!(unpack(packed), version(epoch, revision));
            assert_eq!(pack_most(version(epoch, revision)), packed);
        }
    }

    #[test]
    fn a_bound_that_does_not_fit_is_the_newest_that_does() {
        let last = (1 << 43) - 1;
        assert_eq!(unpack(pack_most(version(3, u64::MAX))), version(3, last));
        assert_eq!(unpack(pack_most(version(u64::MAX, 0))), version((1 << 20) - 1, last));
    }

    #[test]
    fn versions_that_do_not_fit_are_refused() {
        for (epoch, revision) in [(1 << 20, 0), (0, 1 << 43), (u64::MAX, u64::MAX), (u64::MAX, 0), (0, u64::MAX)] {
            assert!(matches!(pack(version(epoch, revision)), Err(Error::Invalid { .. })));
        }
    }

    #[test]
    fn ids_tell_owners_and_items_apart_and_hold_nothing_of_them() {
        let item = ItemId::Message(MessageId::fresh());
        let span = ItemId::Span(SessionId::new("..").unwrap(), 1);
        let (ada, bob) = (Scope::new("a", "ada").unwrap(), Scope::new("a", "bob").unwrap());
        let mut ids = vec![erasure_id(&ada), erasure_id(&bob)];
        ids.extend([&ada, &bob].into_iter().flat_map(|scope| [id_of(scope, &item), id_of(scope, &span)]));
        assert!(ids.iter().all(|id| id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
