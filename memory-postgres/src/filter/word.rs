//! The words of lists and metadata: one for each value, which encodes field, key, type and value.
//!
//! The words of one field, key and type sort byte by byte in the order of their values, so that equality and ranges work the
//! same for all of them.

use memory_core::fields::scalars;
use memory_core::{Field, Fields, Scalar};

const METADATA: u8 = b'm';
const TAG: u8 = b't';
const SOURCE: u8 = b's';
const AGENT: u8 = b'a';
const RUN: u8 = b'r';
/// The sessions of a record except the first, which has a column.
const SESSION: u8 = b'o';

/// Returns the words of an item with these fields; a list may hold a value twice.
fn words(fields: &Fields) -> Vec<Vec<u8>> {
    let text = |list, text: String| word(&of_list(list), &Scalar::Text(text));
    let tags = fields.tags.iter().filter_map(|tag| text(TAG, tag.clone()));
    let sources = fields.sources.iter().filter_map(|source| text(SOURCE, source.key()));
    let agent = fields.agent.iter().filter_map(|agent| text(AGENT, agent.clone()));
    let runs = fields.runs.iter().filter_map(|run| text(RUN, run.clone()));
    let sessions = fields.sessions.iter().filter_map(|session| text(SESSION, session.name().to_owned()));
    let metadata = fields.metadata.iter().flat_map(|(key, value)| {
        let beginning = of_key(key);
        scalars(value).into_iter().filter_map(move |value| word(&beginning, &value))
    });
    tags.chain(sources).chain(agent).chain(runs).chain(sessions).chain(metadata).collect()
}

/// Returns the words of an item with these fields, in the form that a statement takes.
pub(crate) fn facets(fields: &Fields) -> Option<String> {
    literal(&words(fields))
}

/// Returns words in the text form of PostgreSQL's arrays; none for no words.
///
/// A statement takes the words of many items as one array of such texts, because an array cannot hold arrays of different
/// lengths.
pub(super) fn literal(words: &[Vec<u8>]) -> Option<String> {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    if words.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(2 + words.iter().map(|word| 2 * word.len() + 6).sum::<usize>());
    for word in words {
        text.push_str(if text.is_empty() { "{\"\\\\x" } else { ",\"\\\\x" });
        let digits = word.iter().flat_map(|byte| [usize::from(byte >> 4), usize::from(byte & 15)]);
        text.extend(digits.filter_map(|digit| DIGITS.get(digit)));
        text.push('"');
    }
    text.push('}');
    Some(text)
}

/// Returns the prefix of the words of `field`; none for a field with a column of its own.
pub(super) fn beginning(field: &Field) -> Option<Vec<u8>> {
    match field {
        Field::Tag => Some(of_list(TAG)),
        Field::Source => Some(of_list(SOURCE)),
        Field::Agent => Some(of_list(AGENT)),
        Field::Run => Some(of_list(RUN)),
        Field::Metadata(key) => Some(of_key(key)),
        _ => None,
    }
}

/// Returns the prefix of the words of further sessions.
pub(super) fn sessions() -> Vec<u8> {
    of_list(SESSION)
}

fn of_list(list: u8) -> Vec<u8> {
    vec![list]
}

/// Encodes a key, with its length in front, so that no key is a prefix of another.
fn of_key(key: &str) -> Vec<u8> {
    let mut bytes = vec![METADATA];
    bytes.extend((key.len() as u64).to_be_bytes());
    bytes.extend(key.as_bytes());
    bytes
}

/// Returns the word of a value; none for NaN, which equals nothing.
pub(super) fn word(beginning: &[u8], value: &Scalar) -> Option<Vec<u8>> {
    let mut bytes = beginning.to_vec();
    bytes.push(type_of(value));
    match value {
        Scalar::Bool(flag) => bytes.push(u8::from(*flag)),
        Scalar::Int(number) => bytes.extend((number.cast_unsigned() ^ SIGN).to_be_bytes()),
        Scalar::Float(number) if number.is_nan() => return None,
        Scalar::Float(number) => bytes.extend(in_order(*number).to_be_bytes()),
        Scalar::Text(text) => bytes.extend(text.as_bytes()),
    }
    Some(bytes)
}

const SIGN: u64 = 1 << 63;

/// Returns bits that sort like the number.
fn in_order(number: f64) -> u64 {
    // Both zeros are one.
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn type_of(value: &Scalar) -> u8 {
    match value {
        Scalar::Bool(_) => 1,
        Scalar::Int(_) => 2,
        Scalar::Float(_) => 3,
        Scalar::Text(_) => LAST_TYPE,
    }
}

const LAST_TYPE: u8 = 4;

/// Returns the range of all words with this prefix; its end is exclusive.
pub(super) fn all(beginning: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (with(beginning, 1), with(beginning, LAST_TYPE + 1))
}

/// Returns the range of the words of values from `from` to before `until`, which are of one type; none if it is empty.
pub(super) fn between(beginning: &[u8], from: Option<&Scalar>, until: Option<&Scalar>) -> Option<(Vec<u8>, Vec<u8>)> {
    let of_type = type_of(from.or(until)?);
    let end = |value: Option<&Scalar>, open| value.map_or(Some(with(beginning, open)), |value| word(beginning, value));
    Some((end(from, of_type)?, end(until, of_type + 1)?))
}

fn with(beginning: &[u8], last: u8) -> Vec<u8> {
    let mut bytes = beginning.to_vec();
    bytes.push(last);
    bytes
}
