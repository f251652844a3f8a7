//! The tokens of an item: a list of keywords, one for each value of each field, `type:length:key=value`.
//!
//! The type keeps 1, 1.0 and "1" apart, the length says where a key ends, and a letter in front keeps the caller's keys
//! apart from ours. A long token is replaced by its digest.

use memory_core::{Digest, Field, Fields, ItemId, Scalar};

/// Longer tokens are replaced by their digests.
const LONGEST: usize = 256;

/// Returns every token of an item, each once, in order.
pub(crate) fn of(item: &ItemId, fields: &Fields) -> Vec<String> {
    let metadata = fields.metadata.keys().map(|key| Field::Metadata(key.clone()));
    let mut tokens = vec![unit(item.unit().name())];
    for field in fixed().into_iter().chain(metadata) {
        let values = fields.values(&field);
        if !values.is_empty() {
            tokens.push(exists(&field));
        }
        tokens.extend(values.iter().filter_map(|found| value(&field, found)));
    }
    tokens.sort();
    tokens.dedup();
    tokens
}

/// Returns the token of an item of a unit, whatever its fields say.
pub(crate) fn unit(name: &str) -> String {
    short(format!("i={name}"))
}

/// Returns the token of a field that holds a value.
pub(crate) fn exists(field: &Field) -> String {
    let (space, key) = name(field);
    short(format!("{space}e:{}:{key}", key.len()))
}

/// Returns the token of a value of a field; none for a number that is none, which equals nothing.
pub(crate) fn value(field: &Field, value: &Scalar) -> Option<String> {
    let (space, key) = name(field);
    let length = key.len();
    Some(short(match value {
        Scalar::Bool(flag) => format!("{space}b:{length}:{key}={}", u8::from(*flag)),
        Scalar::Int(number) => format!("{space}i:{length}:{key}={number}"),
        Scalar::Float(number) if number.is_nan() => return None,
        // Adding zero makes -0.0 the same as 0.0.
        Scalar::Float(number) => format!("{space}f:{length}:{key}={:016x}", (number + 0.0).to_bits()),
        Scalar::Text(text) => format!("{space}t:{length}:{key}={text}"),
    }))
}

/// Returns the fields that hold one whole number, each with the key under which a point keeps it for ranges.
pub(crate) fn numbers() -> [(&'static str, Field); 7] {
    [
        ("seq", Field::Seq),
        ("trust", Field::Trust),
        ("at", Field::At),
        ("expires_at", Field::ExpiresAt),
        ("valid_from", Field::ValidFrom),
        ("valid_to", Field::ValidTo),
        ("superseded_at", Field::SupersededAt),
    ]
}

fn fixed() -> Vec<Field> {
    let texts = [Field::Unit, Field::Session, Field::Role, Field::Speaker, Field::Agent, Field::Run, Field::Kind];
    texts.into_iter().chain([Field::Tag, Field::Source]).chain(numbers().map(|(_, field)| field)).collect()
}

/// Returns whose name it is, `f` for ours and `m` for the caller's, and the name.
fn name(field: &Field) -> (char, &str) {
    let ours = match field {
        Field::Metadata(key) => return ('m', key),
        Field::Unit => "unit",
        Field::Session => "session",
        Field::Seq => "seq",
        Field::Role => "role",
        Field::Speaker => "speaker",
        Field::Agent => "agent",
        Field::Run => "run",
        Field::Kind => "kind",
        Field::Tag => "tag",
        Field::Trust => "trust",
        Field::Source => "source",
        Field::At => "at",
        Field::ExpiresAt => "expires_at",
        Field::ValidFrom => "valid_from",
        Field::ValidTo => "valid_to",
        Field::SupersededAt => "superseded_at",
    };
    ('f', ours)
}

/// Plain tokens begin with a letter, digests with a `#`.
fn short(token: String) -> String {
    if token.len() <= LONGEST {
        return token;
    }
    let digest = Digest::of(&[token.as_bytes()]).0;
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("#{hex}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use memory_core::Unit;
    use memory_testkit::generate::{self, Random};
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_differ_have_tokens_that_differ() {
        let key = |key: &str| Field::Metadata(key.to_owned());
        let values = [
            (key("a"), Scalar::from("b=c")),
            (key("a=b"), Scalar::from("c")),
            (key("a"), Scalar::from("1")),
            (key("a"), Scalar::from(1)),
            (key("a"), Scalar::from(1.0)),
            (key("a"), Scalar::from(true)),
            (key("1:a"), Scalar::from("")),
            (key(""), Scalar::from("1:a")),
            (key("kind"), Scalar::from("x")),
            (Field::Kind, Scalar::from("x")),
            (Field::Tag, Scalar::from("x")),
            (key("long"), Scalar::from("x".repeat(300))),
            (key("long"), Scalar::from("x".repeat(301))),
            (key("é"), Scalar::from("x")),
            (key("e\u{301}"), Scalar::from("x")),
        ];
        let tokens: HashSet<_> = values.iter().map(|(field, found)| value(field, found).unwrap()).collect();
        let existing: HashSet<_> = values.iter().map(|(field, _)| exists(field)).collect();
        assert_eq!(tokens.len(), values.len());
        assert!(tokens.is_disjoint(&existing));
        assert!(tokens.iter().all(|token| token.len() <= LONGEST));
    }

    #[test]
    fn zero_has_one_token_and_no_number_none() {
        let field = Field::Metadata("n".to_owned());
        assert_eq!(value(&field, &Scalar::Float(-0.0)), value(&field, &Scalar::Float(0.0)));
        assert_eq!(value(&field, &Scalar::Float(f64::NAN)), None);
    }

    #[test]
    fn an_item_has_a_token_for_each_value_that_filters_see() {
        let mut random = Random::new(31);
        for _ in 0..200 {
            let item = generate::item(&mut random, Unit::Message);
            let mut fields = generate::fields(&mut random, Unit::Message);
            fields.metadata.insert("list".to_owned(), json!([1, "a", [true]]));
            let tokens = of(&item, &fields);
            for field in fixed().into_iter().chain([Field::Metadata("list".to_owned())]) {
                let values = fields.values(&field);
                assert_eq!(tokens.contains(&exists(&field)), !values.is_empty());
                assert!(values.iter().all(|found| tokens.contains(&value(&field, found).unwrap())));
            }
        }
    }
}
