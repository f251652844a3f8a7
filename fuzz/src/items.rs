//! Items whose fields hold what has broken filters elsewhere: values that look alike and are of other types, names with signs of
//! query languages, ends of what numbers can hold. Each is made from a number, always the same.

use memory_core::{Fields, ItemId, Message, MessageId, Record, RecordId, Role, SessionId, Timestamp, Trust, Unit};
use serde_json::{Map, Value, json};

const KEYS: [&str; 8] = ["topic", "n", "a.b", "a'b", "a\"b", "$where", "", "é"];
const TEXTS: [&str; 9] = ["", "a", "A", "ab", "1", "true", "é", "e\u{301}", "'"];
const NAMES: [&str; 5] = ["s", "S", "s:1", "s%", "1"];
const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];
const TRUSTS: [Trust; 3] = [Trust::Untrusted, Trust::User, Trust::System];
const TIMES: [i64; 6] = [0, 1, -1, 1_000, i64::MAX, i64::MIN];

/// Returns one of a list; others for other numbers and other places.
fn pick<T: Clone, const N: usize>(list: &[T; N], number: usize, place: usize) -> T {
    list[(number * 7 + number / 3 + place * 5) % N].clone()
}

/// Returns one of a list, or none.
fn perhaps<T: Clone, const N: usize>(list: &[T; N], number: usize, place: usize) -> Option<T> {
    (!(number + place).is_multiple_of(3)).then(|| pick(list, number, place))
}

fn values(number: usize) -> Map<String, Value> {
    let all = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!(true),
        json!("true"),
        json!(null),
        json!({ "a": 1 }),
        json!([1, "a", 0.5, [false]]),
        json!(i64::MIN),
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992.0),
        json!(33e-60),
        json!(u64::MAX),
        json!(-0.0),
    ];
    let entry = |place| (pick(&KEYS, number, place).to_owned(), pick(&all, number, place * 3));
    (0..number % 4).map(entry).collect()
}

fn session(number: usize, place: usize) -> SessionId {
    SessionId::new(pick(&NAMES, number, place)).expect("a name")
}

fn source(number: usize) -> ItemId {
    match number % 3 {
        0 => ItemId::Message(MessageId::of_content(b"source")),
        1 => ItemId::Record(RecordId::of_content(b"source")),
        _ => ItemId::Span(session(number, 0), 7),
    }
}

fn time(number: usize, place: usize) -> Option<Timestamp> {
    perhaps(&TIMES, number, place).map(Timestamp)
}

/// Returns what an index keeps of an item.
pub fn fields(number: usize, unit: Unit) -> Fields {
    let text = |place| perhaps(&TEXTS, number, place).map(str::to_owned);
    let (is_message, is_record) = (unit == Unit::Message, unit == Unit::Record);
    Fields {
        unit,
        session: (!number.is_multiple_of(5)).then(|| session(number, 1)),
        sessions: (0..number % 3).filter(|_| is_record).map(|place| session(number, place + 2)).collect(),
        seq: (!is_record).then_some(memory_core::Seq(number as u64)),
        role: perhaps(&ROLES, number, 1).filter(|_| is_message),
        speaker: text(2).filter(|_| is_message),
        agent: text(3),
        runs: (0..number % 3).filter_map(|place| text(place + 4)).collect(),
        kind: text(5).filter(|_| is_record),
        tags: (0..number % 4).filter_map(|place| text(place + 6)).collect(),
        trust: pick(&TRUSTS, number, 1),
        sources: (0..number % 2).map(|place| source(number + place)).collect(),
        at: Timestamp(pick(&TIMES, number, 2) / 2),
        expires_at: time(number, 3),
        valid_from: time(number, 4),
        valid_to: time(number, 5),
        superseded_at: time(number, 6),
        metadata: values(number),
    }
}

/// Returns the id of an item of an index.
pub fn item(number: usize, unit: Unit) -> ItemId {
    let content = number.to_le_bytes();
    match unit {
        Unit::Message => ItemId::Message(MessageId::of_content(&content)),
        Unit::Record => ItemId::Record(RecordId::of_content(&content)),
        Unit::Span => ItemId::Span(session(number, 1), number as u32),
    }
}

/// Returns a message with such fields.
pub fn message(number: usize) -> Message {
    let Fields { role, speaker, agent, runs, trust, sources, at, metadata, .. } = fields(number, Unit::Message);
    let message =
        Message::new(role.unwrap_or(Role::User), "river", at).with_id(MessageId::of_content(&number.to_le_bytes()));
    let (agent, run) = (agent.filter(|name| !name.is_empty()), runs.into_iter().find(|name| !name.is_empty()));
    Message { speaker, agent, run, trust, sources, metadata, ..message }
}

/// Returns a record with such fields.
pub fn record(number: usize) -> Record {
    let Fields { session, agent, runs, tags, trust, sources, at, expires_at, valid_from, valid_to, metadata, .. } =
        fields(number, Unit::Record);
    let mut record = Record::new(pick(&TEXTS, number, 5), "river", at);
    record.id = RecordId::of_content(&number.to_le_bytes());
    record.agent = agent.filter(|name| !name.is_empty());
    let first = &mut record.first;
    (first.session, first.trust, first.tags, first.sources) = (session, trust, tags, sources);
    (first.run, first.metadata) = (runs.into_iter().find(|name| !name.is_empty()), metadata);
    (first.expires_at, first.valid_from, first.valid_to) = (expires_at, valid_from, valid_to);
    record
}
