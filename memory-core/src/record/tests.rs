use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::id::{ItemId, MessageId, SessionId};

/// A record as the first commits wrote it: nobody spoke of tellings.
const FLAT: &str = concat!(
    r#"{"v":1,"id":"018f0000-0000-7000-8000-000000000001","kind":"fact","text":"Ada lives in Rome","tags":["home"],"#,
    r#""session":"talk","importance":0.5,"trust":"tool","origin":"web","#,
    r#""sources":[{"Message":"018f0000-0000-7000-8000-000000000002"}],"pinned":true,"hold":true,"created_at":7,"#,
    r#""expires_at":8,"valid_from":5,"valid_to":9,"#,
    r#""superseded":{"by":"018f0000-0000-7000-8000-000000000003","at":10},"metadata":{"a":1,"b":{"c":2,"d":3}}}"#,
);

#[test]
fn bytes_from_before_there_were_tellings_are_one_telling_and_are_written_as_they_were() {
    let record = Record::decode("test", FLAT.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(record.encode()).unwrap(), FLAT);
    assert_eq!((record.again.len(), record.trust(), record.created_at()), (0, Trust::Tool, Timestamp(7)));
    assert_eq!((record.tags(), record.origin(), record.importance()), (vec!["home"], Some("web"), Some(0.5)));
    assert_eq!((record.validity(), record.is_pinned()), ((Some(Timestamp(5)), Some(Timestamp(9))), true));
    assert_eq!((record.sources().len(), record.sessions().len(), record.metadata().len()), (1, 1, 2));
    assert!(record.agent.is_none() && record.hold && record.superseded.is_some());
}

#[test]
fn a_record_that_was_told_several_times_is_read_back() {
    let mut record = Record::decode("test", FLAT.as_bytes()).unwrap();
    record.agent = Some("planner".to_owned());
    record.first.run = Some("1".to_owned());
    let mut again = Telling::new(Timestamp(12), Trust::User);
    again.metadata.insert("z".to_owned(), json!([1]));
    again.sources = vec![ItemId::Record(RecordId::fresh())];
    let record = record.told(again).told(Telling::new(Timestamp(13), Trust::Untrusted));
    assert_eq!(record.again.len(), 2);
    assert_eq!(Record::decode("test", &record.encode()).unwrap(), record);
}

fn told(trust: Trust, change: impl FnOnce(&mut Telling)) -> Telling {
    let mut telling = Telling::new(Timestamp(1), trust);
    change(&mut telling);
    telling
}

#[test]
fn what_an_untrusted_telling_adds_does_not_show_beside_a_trusted_one() {
    let record = Record::new("fact", "Ada pays by card", Timestamp(0));
    let record = record.told(told(Trust::Untrusted, |telling| {
        telling.metadata.insert("iban".to_owned(), json!("EVIL"));
        telling.tags.push("verified".to_owned());
        (telling.importance, telling.pinned) = (Some(1.0), true);
    }));
    assert_eq!((record.trust(), record.metadata().len(), record.tags().len()), (Trust::User, 0, 0));
    assert_eq!((record.importance(), record.is_pinned()), (None, false));
    let left = record.without(|telling| telling.trust == Trust::User).unwrap();
    assert_eq!((left.trust(), left.metadata().len(), left.is_pinned()), (Trust::Untrusted, 1, true));
}

#[test]
fn a_repeat_leaves_the_record_as_it_is() {
    let telling = told(Trust::User, |telling| {
        telling.tags = vec!["a".to_owned(), "a".to_owned()];
        telling.metadata.insert("k".to_owned(), json!(1));
    });
    let record = Record::new("fact", "x", Timestamp(0)).told(telling.clone());
    assert_eq!(record.told(telling.clone()), record);
    assert_eq!(record.told(Telling { at: Timestamp(9), ..telling }), record);
}

#[test]
fn tellings_from_one_place_stay_few() {
    let mut record = Record::new("fact", "x", Timestamp(0));
    for n in 0..1_000 {
        let telling = told(Trust::User, |telling| {
            telling.run = Some((n % 2).to_string());
            telling.metadata.insert(format!("k{}", n % 3), json!(n));
        });
        record = record.told(telling);
    }
    // The one without a run, and for each of the two runs one for each key.
    assert!(record.tellings().count() <= 7, "{}", record.tellings().count());
}

/// What readers see of a record.
#[derive(Debug, PartialEq)]
struct Seen {
    trust: Trust,
    created_at: Timestamp,
    importance: Option<f32>,
    expires_at: Option<Timestamp>,
    pinned: bool,
    validity: (Option<Timestamp>, Option<Timestamp>),
    tags: BTreeSet<String>,
    runs: BTreeSet<String>,
    sessions: BTreeSet<SessionId>,
    sources: BTreeSet<ItemId>,
    metadata: Map<String, Value>,
}

impl Seen {
    fn of(record: &Record) -> Self {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
        Self {
            trust: record.trust(),
            created_at: record.created_at(),
            importance: record.importance(),
            expires_at: record.expires_at(),
            pinned: record.is_pinned(),
            validity: record.validity(),
            tags: owned(record.tags()),
            runs: owned(record.runs()),
            sessions: record.sessions().into_iter().cloned().collect(),
            sources: record.sources().into_iter().cloned().collect(),
            metadata: record.metadata(),
        }
    }

    /// The rule, told step by step over everything that was ever told and not taken back.
    fn naive(told: &[Telling]) -> Option<Self> {
        let trust = told.iter().map(|telling| telling.trust).max()?;
        let mut seen = Self {
            trust,
            created_at: Timestamp(i64::MAX),
            importance: None,
            expires_at: Some(Timestamp(i64::MIN)),
            pinned: false,
            validity: (None, None),
            tags: BTreeSet::new(),
            runs: BTreeSet::new(),
            sessions: told.iter().filter_map(|telling| telling.session.clone()).collect(),
            sources: told.iter().flat_map(|telling| telling.sources.clone()).collect(),
            metadata: Map::new(),
        };
        let mut metadata = BTreeMap::new();
        for telling in told.iter().filter(|telling| telling.trust == trust) {
            seen.created_at = seen.created_at.min(telling.at);
            seen.importance = telling.importance.or(seen.importance);
            seen.pinned |= telling.pinned;
            seen.validity = (telling.valid_from, telling.valid_to);
            seen.tags.extend(telling.tags.clone());
            seen.runs.extend(telling.run.clone());
            metadata.extend(telling.metadata.clone());
            seen.expires_at = match (seen.expires_at, telling.expires_at) {
                (Some(late), Some(end)) => Some(late.max(end)),
                _ => None,
            };
        }
        seen.expires_at = seen.expires_at.filter(|_| !seen.pinned);
        seen.metadata = metadata.into_iter().collect();
        Some(seen)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Tell(Box<Telling>),
    ForgetSource(ItemId),
    ForgetSession(SessionId),
}

fn any_source() -> impl Strategy<Value = ItemId> {
    (0u8..4).prop_map(|n| ItemId::Message(MessageId::of_content(&[n])))
}

fn any_session() -> impl Strategy<Value = SessionId> {
    (0u8..3).prop_map(|n| SessionId::new(&n.to_string()).unwrap())
}

fn any_telling() -> impl Strategy<Value = Telling> {
    let time = || option::of((0i64..6).prop_map(Timestamp));
    let name = || option::of("[ab]");
    let trust = prop::sample::select(&[Trust::Untrusted, Trust::User, Trust::User, Trust::System][..]);
    let place = (0i64..6, trust, name(), option::of(any_session()), name(), vec(any_source(), 0..3));
    let metadata = vec(("[xyz]", 0i64..3), 0..3);
    let adds = (vec("[pqr]", 0..3), option::of(0u8..3), prop::bool::weighted(0.1), time(), time(), time(), metadata);
    (place, adds).prop_map(|((at, trust, origin, session, run, sources), adds)| {
        let (tags, importance, pinned, expires_at, valid_from, valid_to, metadata) = adds;
        let importance = importance.map(|n| f32::from(n) / 2.0);
        let metadata = metadata.into_iter().map(|(key, value)| (key, json!(value))).collect();
        let at = Timestamp(at);
        let (place, times) = ((origin, session, run), (expires_at, valid_from, valid_to));
        let ((origin, session, run), (expires_at, valid_from, valid_to)) = (place, times);
        Telling {
            at,
            trust,
            origin,
            session,
            run,
            sources,
            tags,
            importance,
            pinned,
            expires_at,
            valid_from,
            valid_to,
            metadata,
        }
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any_telling().prop_map(|telling| Step::Tell(Box::new(telling))),
        1 => any_source().prop_map(Step::ForgetSource),
        1 => any_session().prop_map(Step::ForgetSession),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_history_of_tellings_and_forgettings_shows_what_a_naive_model_shows(steps in vec(any_step(), 1..16)) {
        let (mut record, mut model): (Option<Record>, Vec<Telling>) = (None, Vec::new());
        for step in steps {
            match step {
                Step::Tell(telling) => {
                    record = Some(match record {
                        Some(record) => record.told((*telling).clone()),
                        None => Record { first: (*telling).clone(), ..Record::new("fact", "x", Timestamp(0)) },
                    });
                    model.push(*telling);
                }
                Step::ForgetSource(source) => {
                    record = record.and_then(|record| record.without(|telling| telling.sources.contains(&source)));
                    model.retain(|telling| !telling.sources.contains(&source));
                }
                Step::ForgetSession(session) => {
                    let is_of = |telling: &Telling| telling.session.as_ref() == Some(&session);
                    record = record.and_then(|record| record.without(is_of));
                    model.retain(|telling| !is_of(telling));
                }
            }
            prop_assert_eq!(record.as_ref().map(Seen::of), Seen::naive(&model));
            if let Some(record) = &record {
                prop_assert!(record.tellings().count() <= model.len());
                prop_assert_eq!(&Record::decode("test", &record.encode()).unwrap(), record);
            }
        }
    }
}
