//! What stands outermost in a line of JSON-RPC. It is found also in a line that is too long or too deep to be read, or that ends in
//! the middle.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The most bytes that are kept of a line.
const KEPT: usize = 4 << 10;

/// A line without what its members hold in turn: `{"id":7,"params":{}}`.
#[derive(Default)]
pub(super) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    is_text: bool,
    is_escaped: bool,
}

/// The members of a line that tell who waits for an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Head {
    pub(super) id: Option<Value>,
    has_method: bool,
    is_answer: bool,
}

impl Outline {
    pub(super) fn of(line: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.push(line);
        outline
    }

    /// Adds the next bytes of the line.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let before = self.depth;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_text => self.is_escaped = true,
                b'"' => self.is_text = !self.is_text,
                _ if self.is_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if before.min(self.depth) <= 1 && self.kept.len() < KEPT {
                self.kept.push(*byte);
            }
        }
    }

    /// Returns the members as far as they can be read.
    pub(super) fn head(&self) -> Head {
        let mut head = Head::default();
        // What was read before an error counts.
        let _ = head.deserialize(&mut serde_json::Deserializer::from_slice(&self.kept));
        head
    }
}

impl Head {
    /// Returns whether nobody waits for an answer to a line of these members: it is a notification, or an answer itself.
    pub(super) fn is_unanswered(&self) -> bool {
        if self.has_method { self.id.is_none() } else { self.is_answer }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Head {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message of JSON-RPC")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => {
                    self.id = Some(members.next_value()?);
                    continue;
                }
                "method" => self.has_method = true,
                "result" | "error" => self.is_answer = true,
                _ => {}
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(line: &str) -> Option<Value> {
        Outline::of(line.as_bytes()).head().id
    }

    #[test]
    fn an_id_is_found_before_and_behind_what_is_deep_long_or_broken() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let long = format!("{{\"text\":\"{}\"}}", "a \\\" } id ".repeat(100_000));
        for params in [&deep, &long, "{}"] {
            assert_eq!(id(&format!("{{\"id\":7,\"method\":\"m\",\"params\":{params}}}")), Some(json!(7)));
            assert_eq!(id(&format!("{{\"method\":\"m\",\"params\":{params},\"id\":\"7\"}}")), Some(json!("7")));
        }
        assert_eq!(id("{\"id\":\"a\",\"params\":{\"name\":"), Some(json!("a")));
        assert_eq!(id("{\"id\":9223372036854775808,\"params\":!}"), Some(json!(9_223_372_036_854_775_808_u64)));
    }

    #[test]
    fn what_stands_deeper_or_in_a_text_is_no_id() {
        for line in
            ["{\"params\":{\"id\":7}}", "[{\"id\":7}]", "{\"text\":\"\\\",\\\"id\\\":7\"}", "id: 7", "", "\"id\""]
        {
            assert_eq!(id(line), None, "{line}");
        }
    }

    #[test]
    fn no_more_is_kept_than_a_few_bytes() {
        let mut outline = Outline::of(b"{\"text\":\"");
        for _ in 0..1_000 {
            outline.push(&[b'a'; 1_000]);
        }
        assert_eq!(outline.kept.len(), KEPT);
    }

    #[test]
    fn a_notification_and_an_answer_are_not_answered() {
        let is_unanswered = |line: &str| Outline::of(line.as_bytes()).head().is_unanswered();
        for line in ["{\"method\":\"m\"}", "{\"id\":1,\"result\":{}}", "{\"error\":{},\"id\":null}"] {
            assert!(is_unanswered(line), "{line}");
        }
        for line in ["{\"id\":1,\"method\":\"m\"}", "{\"id\":null,\"method\":\"m\"}", "{\"id\":1}", "{}", "[]", "7"] {
            assert!(!is_unanswered(line), "{line}");
        }
    }
}
