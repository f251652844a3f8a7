//! Random fields: every field present or missing, values that cross types, and values that collide.

use memory_core::record::{Record, Superseded, Telling};
use memory_core::{Field, Fields, ItemId, MessageId, RecordId, Role, Scalar, Seq, SessionId, Timestamp, Trust, Unit};
use serde_json::{Map, Value, json};

use super::Random;

/// The keys of generated metadata, among them every sign that a query language has a meaning for.
pub const METADATA_KEYS: &[&str] =
    &["topic", "n", "a.b", "a'b", "a\"b", "[]", "->>", "{{", "$where", "__proto__", "", "é", "e\u{301}", "metadata"];

const TEXTS: &[&str] = &["", "a", "A", "ab", "1", "true", "é", "e\u{301}", "用", "'", "%", "z\u{10ffff}", "\u{e000}"];
const SESSIONS: &[&str] = &["s", "S", "s:1", "s.1", "s%", "1"];
const KINDS: &[&str] = &["fact", "preference", "Fact", "a'b", "1"];
const TAGS: &[&str] = &["red", "re", "red:1", "*", "1", "é"];
const SPEAKERS: &[&str] = &["ada", "Ada", "ada\u{301}", "'"];
const AGENTS: &[&str] = &["planner", "Planner", "plan", "a'b", "1"];
const RUNS: &[&str] = &["run", "run-1", "1", "é", "*"];
const TIMES: &[i64] = &[0, 1, -1, 999, 1_000, 1_001, i64::MAX, i64::MIN];
const WHOLE: &[i64] = &[0, 1, -1, 2, i64::MAX, i64::MIN, 9_007_199_254_740_993];
const BROKEN: &[f64] = &[0.5, 1.0, -1.0, 33e-60, 1e300, 9_007_199_254_740_992.0, 0.1];

/// Returns a random item of `unit`.
pub fn item(random: &mut Random, unit: Unit) -> ItemId {
    match unit {
        Unit::Message => ItemId::Message(MessageId(random.id())),
        Unit::Record => ItemId::Record(RecordId(random.id())),
        Unit::Span => {
            let number = u32::try_from(random.below(1 << 20)).unwrap_or(0);
            session(random).map_or(ItemId::Record(RecordId(random.id())), |session| ItemId::Span(session, number))
        }
    }
}

/// Returns random fields of an item of `unit`: any of them may be missing.
pub fn fields(random: &mut Random, unit: Unit) -> Fields {
    Fields {
        unit,
        session: if random.chance(2, 3) { session(random) } else { None },
        sessions: (0..random.below(3)).filter_map(|_| session(random)).collect(),
        seq: random.chance(1, 2).then(|| Seq(random.below(5) as u64)),
        role: if random.chance(1, 2) {
            Role::from_name(random.pick(&["user", "assistant", "tool", "system"]))
        } else {
            None
        },
        speaker: text(random, SPEAKERS),
        agent: text(random, AGENTS),
        runs: (0..random.below(3)).map(|_| random.pick(RUNS).to_owned()).collect(),
        kind: text(random, KINDS),
        tags: (0..random.below(4)).map(|_| random.pick(TAGS).to_owned()).collect(),
        trust: trust(random),
        sources: sources().into_iter().filter(|_| random.chance(1, 4)).collect(),
        at: Timestamp(random.pick(TIMES)),
        expires_at: time(random),
        valid_from: time(random),
        valid_to: time(random),
        superseded_at: time(random),
        metadata: metadata(random),
    }
}

/// Returns a random record that was told once to three times: any field may be missing.
pub fn record(random: &mut Random) -> Record {
    let first = fields(random, Unit::Record);
    let superseded = first.superseded_at.map(|at| Superseded { by: RecordId(random.id()), at });
    let kind = first.kind.clone().filter(|kind| !kind.is_empty()).unwrap_or_else(|| "fact".to_owned());
    let mut again = Vec::new();
    for _ in 0..random.below(3) {
        let fields = fields(random, Unit::Record);
        again.push(telling(random, fields));
    }
    Record {
        id: RecordId(random.id()),
        agent: first.agent.clone(),
        first: telling(random, first),
        again,
        hold: random.chance(1, 5),
        superseded,
        ..Record::new(kind, "words", Timestamp(0))
    }
}

fn telling(random: &mut Random, fields: Fields) -> Telling {
    Telling {
        session: fields.session,
        run: fields.runs.into_iter().next(),
        sources: fields.sources,
        tags: fields.tags,
        pinned: random.chance(1, 5),
        expires_at: fields.expires_at,
        valid_from: fields.valid_from,
        valid_to: fields.valid_to,
        metadata: fields.metadata,
        ..Telling::new(fields.at, fields.trust)
    }
}

/// Returns random metadata: up to five keys with values of any type, lists and objects among them.
pub fn metadata(random: &mut Random) -> Map<String, Value> {
    (0..random.below(6)).map(|_| (random.pick(METADATA_KEYS).to_owned(), value(random, 2))).collect()
}

/// Returns values that `field` may hold somewhere in the generated data.
pub fn values(field: &Field) -> Vec<Scalar> {
    let texts = |list: &[&str]| list.iter().map(|text| Scalar::from(*text)).collect::<Vec<_>>();
    match field {
        Field::Unit => texts(&["message", "record", "span"]),
        Field::Session => texts(SESSIONS),
        Field::Seq | Field::Trust => (0..5).map(Scalar::Int).collect(),
        Field::Role => texts(&["user", "assistant", "tool", "system"]),
        Field::Speaker => texts(SPEAKERS),
        Field::Agent => texts(AGENTS),
        Field::Run => texts(RUNS),
        Field::Kind => texts(KINDS),
        Field::Tag => texts(TAGS),
        Field::Source => sources().iter().map(|source| Scalar::Text(source.key())).collect(),
        Field::At | Field::ExpiresAt | Field::ValidFrom | Field::ValidTo | Field::SupersededAt => {
            TIMES.iter().map(|time| Scalar::Int(*time)).collect()
        }
        Field::Metadata(_) => {
            let whole = WHOLE.iter().map(|number| Scalar::Int(*number));
            let broken = BROKEN.iter().map(|number| Scalar::float(*number));
            let flags = [Scalar::Bool(true), Scalar::Bool(false), Scalar::float(-0.0), Scalar::float(u64::MAX as f64)];
            texts(TEXTS).into_iter().chain(whole).chain(broken).chain(flags).collect()
        }
    }
}

/// Returns the few items that generated ones are derived from.
fn sources() -> Vec<ItemId> {
    let spans = SESSIONS.iter().filter_map(|name| SessionId::new(name).ok()).map(|session| ItemId::Span(session, 1));
    let message = ItemId::Message(MessageId::of_content(b"source"));
    spans.take(2).chain([message, ItemId::Record(RecordId::of_content(b"source"))]).collect()
}

fn session(random: &mut Random) -> Option<SessionId> {
    SessionId::new(random.pick(SESSIONS)).ok()
}

fn text(random: &mut Random, list: &[&str]) -> Option<String> {
    random.chance(2, 3).then(|| random.pick(list).to_owned())
}

fn time(random: &mut Random) -> Option<Timestamp> {
    random.chance(1, 2).then(|| Timestamp(random.pick(TIMES)))
}

fn trust(random: &mut Random) -> Trust {
    match random.below(5) {
        0 => Trust::Untrusted,
        1 => Trust::Tool,
        2 => Trust::Assistant,
        3 => Trust::User,
        _ => Trust::System,
    }
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 7 } else { 10 }) {
        0 | 1 => json!(random.pick(TEXTS)),
        2 | 3 => json!(random.pick(WHOLE)),
        4 => json!(random.pick(BROKEN)),
        5 => json!(random.chance(1, 2)),
        6 => random.pick(&[Value::Null, json!(-0.0), json!(u64::MAX), json!({})]),
        7 | 8 => Value::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        _ => json!({ "topic": value(random, depth - 1) }),
    }
}
