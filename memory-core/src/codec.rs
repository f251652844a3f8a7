//! Canonical bytes: the form in which stores keep bodies and over which digests are taken.
//!
//! JSON in a fixed field order, defaults skipped, a version first, and the keys of free maps sorted: the bytes of one
//! value are the same in every build, also where another crate turns on serde_json's `preserve_order`.

use std::io::{self, Write};

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The version of the encoding written by this build.
pub(crate) const VERSION: u32 = 1;

/// What opens the encoding, before the version.
const OPENING: &[u8] = b"{\"v\":";

#[derive(Deserialize)]
struct Head {
    v: u32,
}

/// Returns the canonical bytes of `body`, which is a struct.
pub(crate) fn encode<T: Serialize>(body: &T) -> Vec<u8> {
    // Once through the body: flattening it behind the version would take each of its members in hand again.
    let mut bytes = [OPENING, VERSION.to_string().as_bytes()].concat();
    let joint = bytes.len();
    // Our own types have string keys and no failing serialisers, so this cannot fail.
    let is_written = serde_json::to_writer(&mut bytes, body).is_ok();
    match bytes.get_mut(joint..) {
        Some([b'{', b'}']) => drop(bytes.remove(joint)),
        Some([brace @ b'{', ..]) if is_written => *brace = b',',
        _ => bytes.clear(),
    }
    bytes
}

/// Returns how many canonical bytes `body` has, without making them.
pub(crate) fn encoded_len<T: Serialize>(body: &T) -> usize {
    let mut count = Count(0);
    if serde_json::to_writer(&mut count, body).is_err() {
        return 0;
    }
    // The body's brace becomes a comma, or the closing one stands alone.
    let Count(bytes) = count;
    OPENING.len() + VERSION.to_string().len() + if bytes == b"{}".len() { 1 } else { bytes }
}

/// Counts what is written.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads canonical bytes back.
///
/// # Errors
/// [`Error::Unsupported`] for bytes of a newer version, [`Error::Corrupt`] for anything else that cannot be read.
pub(crate) fn decode<T: DeserializeOwned>(backend: &'static str, bytes: &[u8]) -> Result<T> {
    let corrupt = |source: serde_json::Error| Error::corrupt(backend, source.to_string());
    let version = match leading_version(bytes) {
        Some(version) => version,
        None => serde_json::from_slice::<Head>(bytes).map_err(corrupt)?.v,
    };
    if version > VERSION {
        return Err(Error::Unsupported { backend, what: format!("read a body of version {version}") });
    }
    serde_json::from_slice(bytes).map_err(corrupt)
}

/// Returns the version where it stands first, as [`encode`] writes it: reading the whole for it would take as long again.
fn leading_version(bytes: &[u8]) -> Option<u32> {
    let rest = bytes.strip_prefix(OPENING)?;
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Body {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec<u32>,
    }

    #[derive(Serialize)]
    struct Flat<'a> {
        v: u32,
        #[serde(flatten)]
        body: &'a Body,
    }

    #[test]
    fn bytes_are_those_of_the_body_flattened_behind_the_version() {
        let bodies = [
            Body::default(),
            Body { text: Some("{\"v\":9}".to_owned()), list: vec![1, 2] },
            Body { text: None, list: vec![7] },
        ];
        for body in bodies {
            let bytes = encode(&body);
            assert_eq!(encoded_len(&body), bytes.len());
            assert_eq!(bytes, serde_json::to_vec(&Flat { v: VERSION, body: &body }).unwrap());
            assert_eq!(decode::<Body>("test", &bytes).unwrap(), body);
        }
        assert_eq!(encode(&7), [0; 0]);
    }

    #[test]
    fn the_version_is_found_wherever_it_stands() {
        for newer in ["{\"v\":2}", "{\"v\":2,\"list\":[]}", "{ \"v\" : 2}", "{\"list\":[],\"v\":2}"] {
            let read = decode::<Body>("test", newer.as_bytes());
            assert!(matches!(read, Err(Error::Unsupported { .. })), "{newer}: {read:?}");
        }
        for broken in ["", "{\"v\":", "{\"v\":x}", "{\"v\":-1,\"list\":[]}", "{\"v\":1,\"list\":[", "{}", "{\"v\":1} "]
        {
            let read = decode::<Body>("test", broken.as_bytes());
            let is_whole = broken.ends_with("} ");
            assert!(is_whole || matches!(read, Err(Error::Corrupt { .. })), "{broken}: {read:?}");
        }
    }
}
