//! The words that stand for what filters see of an item.
//!
//! A word is the type, the field, `=` and the value: `t.role=user`, `i5:topic=8000000000000001`. Names of fields begin
//! with a dot, keys of metadata with their length, so that none begins another. Numbers are written so that their words
//! stand in their order.

use std::collections::BTreeSet;

use memory_core::fields::scalars;
use memory_core::{Digest, Field, Fields, Scalar, Timestamp};

/// The longest text that is a word as it is, in bytes; the server's limit is 32,766. Of a longer one the beginning and
/// the digest are: equal texts, equal words, and the order is right against any shorter text.
const LONGEST: usize = 2_048;

/// The longest text whose order against all others the words tell.
const LONGEST_END: usize = LONGEST - 4;

/// The longest key of metadata that is in a word as it is.
const LONGEST_KEY: usize = 512;

/// Where a field is kept.
pub(super) enum Column {
    /// A field of whole numbers.
    Number(&'static str),
    /// Words with this key.
    Words(String),
}

/// Returns where a field is kept.
pub(super) fn place_of(field: &Field) -> Column {
    match field {
        Field::Seq => Column::Number("seq"),
        Field::Trust => Column::Number("trust"),
        Field::At => Column::Number("at"),
        Field::ExpiresAt => Column::Number("expires_at"),
        Field::ValidFrom => Column::Number("valid_from"),
        Field::ValidTo => Column::Number("valid_to"),
        Field::SupersededAt => Column::Number("superseded_at"),
        Field::Unit => Column::Words(".unit".to_owned()),
        Field::Session => Column::Words(".session".to_owned()),
        Field::Role => Column::Words(".role".to_owned()),
        Field::Speaker => Column::Words(".speaker".to_owned()),
        Field::Agent => Column::Words(".agent".to_owned()),
        Field::Run => Column::Words(".run".to_owned()),
        Field::Kind => Column::Words(".kind".to_owned()),
        Field::Tag => Column::Words(".tag".to_owned()),
        Field::Source => Column::Words(".source".to_owned()),
        Field::Metadata(key) if key.len() <= LONGEST_KEY => Column::Words(format!("{}:{key}", key.len())),
        Field::Metadata(key) => Column::Words(format!("{}:{}", key.len(), digest(key))),
    }
}

/// Returns the words of an item in ascending order, each once, and its numbers by the names of their fields.
pub(crate) fn values_of(fields: &Fields) -> (Vec<String>, Vec<(&'static str, i64)>) {
    let Fields {
        unit,
        session,
        sessions,
        seq,
        role,
        speaker,
        agent,
        runs,
        kind,
        tags,
        trust,
        sources,
        at,
        expires_at,
        valid_from,
        valid_to,
        superseded_at,
        metadata,
    } = fields;
    let mut words = Words::default();
    let text = |text: &str| Scalar::Text(text.to_owned());
    words.say(&Field::Unit, [text(unit.name())]);
    words.say(&Field::Session, session.iter().chain(sessions).map(|session| text(session.name())));
    words.say(&Field::Role, role.iter().map(|role| text(role.name())));
    words.say(&Field::Speaker, speaker.iter().map(|speaker| text(speaker)));
    words.say(&Field::Agent, agent.iter().map(|agent| text(agent)));
    words.say(&Field::Run, runs.iter().map(|run| text(run)));
    words.say(&Field::Kind, kind.iter().map(|kind| text(kind)));
    words.say(&Field::Tag, tags.iter().map(|tag| text(tag)));
    words.say(&Field::Source, sources.iter().map(|source| Scalar::Text(source.key())));
    for (key, value) in metadata {
        words.say(&Field::Metadata(key.clone()), scalars(value));
    }
    let micros = |time: &Option<Timestamp>| time.map(|time| time.0);
    let numbers = [
        // Numbers from 2^63 on are missing to filters too.
        ("seq", seq.and_then(|seq| i64::try_from(seq.0).ok())),
        ("trust", Some(*trust as i64)),
        ("at", Some(at.0)),
        ("expires_at", micros(expires_at)),
        ("valid_from", micros(valid_from)),
        ("valid_to", micros(valid_to)),
        ("superseded_at", micros(superseded_at)),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
    (words.0.into_iter().collect(), numbers.collect())
}

#[derive(Default)]
struct Words(BTreeSet<String>);

impl Words {
    fn say(&mut self, field: &Field, values: impl IntoIterator<Item = Scalar>) {
        let Column::Words(key) = place_of(field) else { return };
        for value in values {
            self.0.insert(exists_word(&key));
            self.0.extend(word(&key, &value));
        }
    }
}

/// Returns the word of items that have the field.
pub(super) fn exists_word(key: &str) -> String {
    format!("?{key}")
}

/// Returns the word of a value; none for a number that is none, which equals nothing.
pub(super) fn word(key: &str, value: &Scalar) -> Option<String> {
    let of_type = type_of(value);
    Some(match value {
        Scalar::Bool(flag) => format!("{of_type}{key}={}", u8::from(*flag)),
        Scalar::Int(number) => format!("{of_type}{key}={:016x}", number.cast_unsigned() ^ SIGN),
        Scalar::Float(number) if number.is_nan() => return None,
        Scalar::Float(number) => format!("{of_type}{key}={:016x}", ordered(*number)),
        Scalar::Text(text) => format!("{of_type}{key}={}", shortened(text)),
    })
}

/// Returns the first word that a value of this one's type can have, and one behind all of them.
pub(super) fn type_bounds(key: &str, value: &Scalar) -> (String, String) {
    let of_type = type_of(value);
    // The sign behind `=` in the order of bytes.
    (format!("{of_type}{key}="), format!("{of_type}{key}>"))
}

/// Returns whether words do not tell the order of this text against all others.
pub(super) fn is_too_long_to_order(value: &Scalar) -> bool {
    matches!(value, Scalar::Text(text) if text.len() > LONGEST_END)
}

fn type_of(value: &Scalar) -> char {
    match value {
        Scalar::Bool(_) => 'b',
        Scalar::Int(_) => 'i',
        Scalar::Float(_) => 'f',
        Scalar::Text(_) => 't',
    }
}

const SIGN: u64 = 1 << 63;

/// Returns a number whose order is that of the floating point numbers; -0.0 and 0.0 are one.
fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// A text that is cut is longer with its digest than any that is not.
fn shortened(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    format!("{start}{}", digest(text))
}

fn digest(text: &str) -> String {
    Digest::of(&[text.as_bytes()]).0.iter().map(|byte| format!("{byte:02x}")).collect()
}
