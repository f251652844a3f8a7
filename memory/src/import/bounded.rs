//! JSON values of bounded size. Fifty MiB of `{"":0}` would take fourteen GiB as values, so they are counted while they
//! are read, and what is too much is passed over.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::weight::{HEAP, MEMBER, OBJECT, VALUE};

/// What one line or element may take as values: three times the longest line, of text alone or of short messages.
const MOST: usize = 96 << 20;
/// More than a byte of JSON weighs: an object around a value is five, `{"":` and `}`.
const PER_BYTE: usize = 256;

/// Returns whether a JSON text takes at most about `most` bytes of memory as values. Reads it without holding more than that, and a
/// text that is too short to weigh so much not at all.
///
/// ```
/// use memory::import::weighs_at_most;
///
/// assert!(weighs_at_most(br#"["a", "b"]"#, 1_000)?);
/// assert!(!weighs_at_most(br#"[{"": 0}, {"": 0}]"#, 1_000)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// What the text is no JSON by, if it was read.
pub fn weighs_at_most(json: &[u8], most: usize) -> serde_json::Result<bool> {
    if json.len() <= most / PER_BYTE {
        return Ok(true);
    }
    let read = within(&mut serde_json::Deserializer::from_slice(json), most)?;
    Ok(read.is_some())
}

/// Reads one value; none if it would take more memory than a line may.
///
/// # Errors
/// What the input is no JSON by.
pub(super) fn value<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    within(input, MOST)
}

fn within<'de, D: Deserializer<'de>>(input: D, most: usize) -> Result<Option<Value>, D::Error> {
    let room = BytesLeft(Cell::new(Some(most)));
    let value = BoundedValue(&room).deserialize(input)?;
    Ok(room.0.get().map(|_| value))
}

/// The bytes that are left; none once there were too few.
struct BytesLeft(Cell<Option<usize>>);

impl BytesLeft {
    /// Takes so many bytes, and returns whether they were there.
    fn take(&self, bytes: usize) -> bool {
        self.0.set(self.0.get().and_then(|left| left.checked_sub(bytes)));
        self.0.get().is_some()
    }
}

/// A value within the room, null if there is none left.
#[derive(Clone, Copy)]
struct BoundedValue<'a>(&'a BytesLeft);

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        if self.0.take(VALUE) {
            return input.deserialize_any(self);
        }
        IgnoredAny::deserialize(input).map(|_| Value::Null)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(if self.0.take(HEAP + text.len()) { text.into() } else { Value::Null })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        self.0.take(HEAP);
        while let Some(item) = items.next_element_seed(self)? {
            self.0.keep(&mut list, |list| list.push(item));
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.0.take(MEMBER + HEAP + key.len() + if map.is_empty() { OBJECT } else { 0 });
            let value = members.next_value_seed(self)?;
            self.0.keep(&mut map, |map| _ = map.insert(key, value));
        }
        Ok(Value::Object(map))
    }
}

impl BytesLeft {
    /// Adds to what was read, or lets go of it once there is too much.
    fn keep<T: Default>(&self, read: &mut T, add: impl FnOnce(&mut T)) {
        match self.0.get() {
            Some(_) => add(read),
            None => drop(std::mem::take(read)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Deserializer, json};

    use super::*;
    use crate::import::weight;

    fn read(text: &str) -> serde_json::Result<Option<Value>> {
        value(&mut Deserializer::from_str(text))
    }

    #[test]
    fn what_fits_is_read_as_it_is_without_a_bound() {
        let text =
            r#"{"a":[1,-2,3.5,1e300,null,true,"x\u00e9\n",{}],"b":{"c":{"":[]}},"a2":18446744073709551615,"b":7}"#;
        assert_eq!(read(text).unwrap(), Some(serde_json::from_str(text).unwrap()));
        for broken in ["", "{", "[1,", "nul", "{\"a\":1e999}", "\"\\ud800\"", "{7:1}"] {
            assert!(read(broken).is_err() && serde_json::from_str::<Value>(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_takes_too_much_is_passed_over_to_its_end() {
        let unit = |unit: &str, bytes: usize| format!("[{}0]", unit.repeat(bytes / unit.len()));
        for small in ["{\"\":0},", "0,", "[],", "\"\","] {
            assert_eq!(read(&unit(small, 16 << 20)).unwrap(), None, "{small}");
            assert!(read(&unit(small, 64 << 10)).unwrap().is_some(), "{small}");
        }
        let cut = unit("0,", 16 << 20);
        assert!(read(cut.trim_end_matches("0]")).is_err(), "what is cut is no JSON, however large");
        let long = json!("x".repeat(32 << 20)).to_string();
        assert!(read(&long).unwrap().is_some());
    }

    #[test]
    fn a_text_that_is_too_short_to_weigh_so_much_is_not_read() {
        let object = r#"{"":"#.repeat(100) + "0" + &"}".repeat(100);
        for heavy in [object.as_str(), "[[[]]]", "[{\"\":0},{\"\":0}]", "0", "\"\"", "[[],[],[],0]"] {
            assert!(weight::of_value(&serde_json::from_str(heavy).unwrap()) <= heavy.len() * PER_BYTE, "{heavy}");
        }
        assert!(weighs_at_most(b"no JSON", 7 * PER_BYTE).unwrap());
        assert!(weighs_at_most(b"no JSON", 7 * PER_BYTE - 1).is_err());
    }

    #[test]
    fn what_weighs_as_much_as_is_allowed_is_within_and_no_byte_more_is() {
        let text = format!("[{}0]", "{\"\":[0,\"x\"]},".repeat(50));
        let weight = weight::of_value(&serde_json::from_str(&text).unwrap());
        assert!(weighs_at_most(text.as_bytes(), weight).unwrap());
        assert!(!weighs_at_most(text.as_bytes(), weight - 1).unwrap());
    }

    #[test]
    fn what_is_counted_while_reading_is_what_the_value_weighs() {
        for text in ["7", "\"abc\"", "[1,[2],\"x\"]", "{\"a\":{\"b\":[1,{\"c\":\"d\"}],\"e\":null}}"] {
            let room = BytesLeft(Cell::new(Some(MOST)));
            let value = BoundedValue(&room).deserialize(&mut Deserializer::from_str(text)).unwrap();
            assert_eq!(MOST - room.0.get().unwrap(), weight::of_value(&value), "{text}");
        }
    }
}
