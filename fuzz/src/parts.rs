//! How an input is divided: 0xFF, which stands in no UTF-8, parts one text from the next.

use std::borrow::Cow;

use serde_json::Value;

/// Returns the texts of an input.
pub fn texts(data: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    data.split(|byte| *byte == 0xff).map(String::from_utf8_lossy)
}

/// Returns a whole number that is a member of an object.
pub fn number(value: &Value, member: &str) -> Option<u64> {
    value.get(member)?.as_u64()
}
