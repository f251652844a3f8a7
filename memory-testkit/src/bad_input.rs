//! Inputs that have broken other libraries. Each gives a typed error or an exact round trip, on every backend.

use memory_core::{
    Error, Field, Fields, Filter, ItemId, RecordId, Result, Role, Scalar, Seq, SessionId, Timestamp, Unit,
};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::generate::HOSTILE_NAMES;
use crate::text::build::plain_fields;

/// Texts with a meaning for some engine, template or terminal, or none at all.
pub(crate) const PROBES: &[&str] = &[
    "",
    "\0",
    "\0\0\0",
    "a\0b",
    "\n",
    "\") OR 1=1 --",
    "'; DROP TABLE message; --",
    "' UNION SELECT body FROM message --",
    "*:*",
    "a* OR b:c~2^5",
    "redis.call('FLUSHALL')",
    "return redis.call('KEYS', '*')",
    "ctx._source.remove('a')",
    "{{constructor.constructor('return 1')()}}",
    "${jndi:ldap://x}",
    "$1",
    "%s%n",
    "\\ud800",
    "\u{feff}",
    "\u{ffff}\u{10ffff}",
    "\u{202e}abc\u{202c}",
    "e\u{301}\u{301}\u{301}",
    "İıſß",
    "😀\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "null",
    "1e400",
    "-0",
];

/// Moments at both ends of every calendar.
pub(crate) const TIMES: &[i64] = &[
    0,
    -1,
    i64::MIN,
    i64::MAX,
    -210_866_803_200_000_000, // the year -4713, where PostgreSQL begins
    253_402_300_800_000_000,  // the year 10000
    4_102_444_800_000_000,    // the year 2100
    -62_135_596_800_000_001,  // before the year 1
];

/// Returns texts that are large or odd as a whole, each with what is odd about it.
pub(crate) fn contents() -> Vec<(String, String)> {
    let small = PROBES.iter().map(|probe| (format!("{probe:?}"), (*probe).to_owned()));
    let large = [("\0", 10_000), (" ", 1_000_000), ("\u{301}", 1_000_000), ("😀", 100_000), ("a", 16 << 20)];
    let large = large.into_iter().map(|(letter, count)| (format!("{count} of {letter:?}"), letter.repeat(count)));
    small.chain(large).collect()
}

/// Returns metadata that databases, decoders and query languages choke on, each with what is odd about it.
pub(crate) fn metadata() -> Vec<(String, Map<String, Value>)> {
    let keys = [
        "",
        "a'b",
        "a\"b",
        "a.b",
        "[]",
        "->>",
        "{{",
        "$where",
        "__proto__",
        "_id",
        "\0",
        "k\0",
        "a\nb",
        "é",
        "e\u{301}",
    ];
    let mut all: Vec<(String, Map<String, Value>)> =
        keys.iter().map(|key| (format!("the key {key:?}"), map([(*key, json!("v"))]))).collect();
    let values = [
        json!(null),
        json!(-0.0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(33e-60),
        json!(1e308),
        json!(5e-324),
        json!(1.0),
        json!(1),
        json!("1"),
        json!(true),
        json!([]),
        json!({}),
        json!([[], [[]], {}]),
        json!([null, 1, "1", 1.5, true]),
        json!({ "a": { "a": 1 } }),
    ];
    all.extend(values.into_iter().map(|value| (format!("the value {value}"), map([("changes", value)]))));
    all.extend(PROBES.iter().map(|probe| (format!("the value {probe:?}"), map([("text", json!(probe))]))));
    let deep =
        (0..100).fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) });
    all.push(("a depth of 100".to_owned(), map([("deep", deep)])));
    let many = (0..10_000).map(|number| (format!("key{number}"), json!(number))).collect();
    all.push(("10,000 keys".to_owned(), many));
    all.push(("a key of 512 bytes".to_owned(), map([(&*"k".repeat(512), json!(1))])));
    all.push(("a value of 100,000 bytes".to_owned(), map([("long", json!("v".repeat(100_000)))])));
    all
}

/// Returns fields that are odd in one place each.
///
/// # Errors
/// None: the names are legal.
pub(crate) fn fields(unit: Unit) -> Result<Vec<(String, Fields)>> {
    let plain = || plain_fields(unit, 5);
    let mut all = Vec::new();
    for (what, metadata) in metadata() {
        all.push((format!("metadata with {what}"), Fields { metadata, ..plain() }));
    }
    for name in HOSTILE_NAMES.iter().map(|name| (*name).to_owned()).chain(["x".repeat(255), "\u{1f600}".repeat(63)]) {
        all.push((format!("the session {name:?}"), Fields { session: Some(SessionId::new(&name)?), ..plain() }));
        let [kind, speaker, agent] = [(); 3].map(|()| Some(name.clone()));
        all.push((
            format!("the kind, speaker, agent, runs and tags {name:?}"),
            Fields { kind, speaker, agent, runs: vec![name.clone(); 2], tags: vec![name; 2], ..plain() },
        ));
    }
    for time in TIMES.iter().copied().map(Timestamp) {
        let (at, expires_at, valid_to) = (time, Some(time), Some(time));
        all.push((format!("the time {}", time.0), Fields { at, expires_at, valid_to, ..plain() }));
    }
    let tags = (0..1_000).map(|number| format!("tag{number}")).collect();
    all.push(("1,000 tags".to_owned(), Fields { tags, ..plain() }));
    let sources = (0..1_000u32).map(|number| ItemId::Record(RecordId::of_content(&number.to_le_bytes()))).collect();
    all.push(("1,000 sources".to_owned(), Fields { sources, ..plain() }));
    let (seq, role) = (Some(Seq(u64::MAX)), Some(Role::Function));
    all.push(("the last number there is".to_owned(), Fields { seq, role, ..plain() }));
    Ok(all)
}

/// Returns filters that are large, deep, or speak an engine's language.
pub(crate) fn filters() -> Vec<(String, Filter)> {
    let mut all = Vec::new();
    for probe in PROBES {
        let fields = [
            Field::Tag,
            Field::Kind,
            Field::Session,
            Field::Speaker,
            Field::Agent,
            Field::Run,
            Field::Source,
            Field::Metadata((*probe).to_owned()),
        ];
        let leaves = fields.into_iter().map(|field| Filter::eq(field, *probe));
        all.push((format!("values and keys {probe:?}"), Filter::Or(leaves.collect())));
        let from = Filter::range(Field::Metadata("text".to_owned()), Some(Scalar::from(*probe)), None);
        all.push((format!("a range from {probe:?}"), from));
    }
    let numbers = [0.5, 1e308, 5e-324, f64::INFINITY, f64::NEG_INFINITY, 1e19];
    for number in numbers {
        let field = Field::Metadata("changes".to_owned());
        all.push((format!("a range from {number}"), Filter::range(field, Some(Scalar::float(number)), None)));
    }
    for whole in [i64::MIN, i64::MAX] {
        all.push((format!("times up to {whole}"), Filter::range(Field::At, None, Some(Scalar::Int(whole)))));
        all.push((format!("numbers from {whole}"), Filter::range(Field::Seq, Some(Scalar::Int(whole)), None)));
    }
    let deep = (0..30).fold(Filter::Exists(Field::Kind), |inner, _| inner.negate());
    all.push(("a depth of 31".to_owned(), deep));
    let many = (0..1_000).map(|number| Scalar::from(format!("v{number}"))).collect();
    all.push(("a list of 1,000 values".to_owned(), Filter::In(Field::Tag, many)));
    let clauses = |count: i64| Filter::Or((0..count).map(|number| Filter::eq(Field::At, number)).collect());
    all.push(("500 clauses".to_owned(), clauses(500)));
    all.push(("10,000 clauses".to_owned(), clauses(10_000)));
    all
}

/// Returns what the store answered; none if it refused the input with an error that says so.
///
/// # Errors
/// A failure for any other error: it would not tell the caller what to do.
#[track_caller]
pub(crate) fn refusal<T>(what: &str, answer: Result<T>) -> std::result::Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::Invalid { .. } | Error::Unsupported { .. }) => Ok(None),
        Err(error) => Err(Failure::new(format!("{what}: {error}"))),
    }
}

fn map<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
