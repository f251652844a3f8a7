//! Canonical bytes: the form in which stores keep bodies and over which digests are taken.
//!
//! JSON in a fixed field order, defaults skipped, a version first, and the keys of free maps sorted: the bytes of one
//! value are the same in every build, also where another crate turns on serde_json's `preserve_order`.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The version of the encoding written by this build.
pub(crate) const VERSION: u32 = 1;

#[derive(Serialize)]
struct Versioned<'a, T> {
    v: u32,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Deserialize)]
struct Head {
    v: u32,
}

/// Returns the canonical bytes of `body`.
pub(crate) fn encode<T: Serialize>(body: &T) -> Vec<u8> {
    // Our own types have string keys and no failing serialisers, so this cannot fail.
    serde_json::to_vec(&Versioned { v: VERSION, body }).unwrap_or_default()
}

/// Reads canonical bytes back.
///
/// # Errors
/// [`Error::Unsupported`] for bytes of a newer version, [`Error::Corrupt`] for anything else that cannot be read.
pub(crate) fn decode<T: DeserializeOwned>(backend: &'static str, bytes: &[u8]) -> Result<T> {
    let corrupt = |source| Error::corrupt(backend, source);
    let head: Head = serde_json::from_slice(bytes).map_err(|source| corrupt(source.to_string()))?;
    if head.v > VERSION {
        return Err(Error::Unsupported { backend, what: format!("read a body of version {}", head.v) });
    }
    serde_json::from_slice(bytes).map_err(|source| corrupt(source.to_string()))
}

/// Serialises a map with its keys in byte order, at every depth.
pub(crate) fn sorted_map<S: Serializer>(
    map: &Map<String, Value>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.as_str());
    let mut out = serializer.serialize_map(Some(entries.len()))?;
    for (key, value) in entries {
        out.serialize_entry(key, &Sorted(value))?;
    }
    out.end()
}

/// Serialises a value with the keys of all its objects in byte order.
pub(crate) fn sorted_value<S: Serializer>(value: &Value, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    Sorted(value).serialize(serializer)
}

struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => sorted_map(map, serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            plain => plain.serialize(serializer),
        }
    }
}
