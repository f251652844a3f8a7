//! What a record says after several tellings, and what is left of it when some are forgotten.

use std::collections::BTreeMap;
use std::time::Duration;

use memory_core::engine::{Addition, Forget, NotTaken, Remember, Remembered, Scoped, Search, Why};
use memory_core::record::Record;
use memory_core::{Filter, ItemId, Message, MessageId, RecordId, Role, SessionId, StoredRecord, Timestamp, Trust};
use memory_testkit::generate::Random;
use serde_json::{Value, json};

use crate::bench::Bench;

async fn say(ada: &Scoped, session: &SessionId, text: &str) -> ItemId {
    let message = Message::new(Role::User, text, Timestamp(0));
    let id = message.id;
    ada.session(session).append(vec![message]).await.unwrap();
    ItemId::Message(id)
}

async fn stored(ada: &Scoped, id: RecordId) -> Option<StoredRecord> {
    ada.get(&[id]).await.unwrap().pop()
}

fn name(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn message(item: &ItemId) -> MessageId {
    let ItemId::Message(id) = item else { panic!("{item:?}") };
    *id
}

#[tokio::test]
async fn what_a_forgotten_message_added_to_a_known_record_is_forgotten_with_it() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let (first, second) = (say(&ada, &name("s"), "Rome").await, say(&ada, &name("s"), "Rome, code 4711").await);
    let fact = || Remember::fact("Ada lives in Rome");
    let id = ada.remember(fact().with_source(first.clone())).await.unwrap().id;
    let again = fact().with_source(second.clone()).with_metadata("door_code", "4711").with_tag("door");
    assert_eq!(ada.remember(again).await.unwrap().id, id);
    bench.tend().await;
    let receipt = ada.forget(&Forget::Messages(vec![message(&second)])).await.unwrap();
    assert!(receipt.complete);
    let left = stored(&ada, id).await.unwrap();
    assert_eq!((left.record.metadata().len(), left.record.tags().len()), (0, 0));
    bench.tend().await;
    let with_door = Search::new("Rome").matching("tag = door".parse().unwrap());
    assert_eq!(ada.search(&with_door).await.unwrap().hits.len(), 0);
    assert_eq!(ada.search(&Search::new("Rome lives")).await.unwrap().hits.len(), 2, "the record and the first message");
    ada.forget(&Forget::Messages(vec![message(&first)])).await.unwrap();
    assert!(stored(&ada, id).await.is_none(), "nobody tells it any more");
}

#[tokio::test]
async fn forgetting_a_session_takes_back_what_was_told_in_it() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    say(&ada, &name("work"), "hello").await;
    let fact = |session: &str, key: &str| {
        Remember::fact("Ada lives in Rome").with_session(name(session)).with_metadata(key, 1)
    };
    let id = ada.remember(fact("home", "home")).await.unwrap().id;
    ada.remember(fact("work", "work")).await.unwrap();
    ada.forget(&Forget::Session(name("work"))).await.unwrap();
    let left = stored(&ada, id).await.unwrap();
    assert_eq!(left.record.metadata().keys().collect::<Vec<_>>(), ["home"]);
    assert_eq!(left.record.sessions(), [&name("home")]);
    ada.forget(&Forget::Session(name("home"))).await.unwrap();
    assert!(stored(&ada, id).await.is_none());
}

#[tokio::test]
async fn a_text_that_is_told_in_several_places_stays_while_one_of_them_does() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let (first, second) = (say(&ada, &name("home"), "two").await, say(&ada, &name("work"), "two cats").await);
    let old = ada.remember(Remember::fact("Ada has a cat")).await.unwrap().id;
    let told = Remember::fact("Ada has two cats")
        .with_session(name("home"))
        .with_source(first)
        .also_told(Some(name("work")), Some("night".to_owned()), vec![second.clone()])
        .with_trust(Trust::Assistant)
        .with_tag("pets");
    let id = ada.supersede(old, told.clone()).await.unwrap().id;
    assert_eq!(ada.supersede(old, told.clone()).await.unwrap().id, id);
    ada.remember(told).await.unwrap();
    let both = stored(&ada, id).await.unwrap().record;
    assert_eq!(both.tellings().count(), 2, "a repeat adds none");
    assert!(both.tellings().all(|telling| telling.trust == Trust::Assistant && telling.tags == ["pets"]));
    ada.forget(&Forget::Session(name("home"))).await.unwrap();
    let left = stored(&ada, id).await.unwrap().record;
    assert_eq!(left.sessions(), [&name("work")]);
    assert_eq!((left.runs(), left.sources()), (vec!["night"], vec![&second]));
    ada.forget(&Forget::Messages(vec![message(&second)])).await.unwrap();
    assert!(stored(&ada, id).await.is_none());
    let gone = ada.remember(Remember::fact("Ada has three cats").also_told(None, None, vec![second])).await;
    assert!(gone.is_err(), "{gone:?}");
}

#[tokio::test]
async fn what_was_derived_from_a_record_stays_while_the_record_does() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let (first, second) = (say(&ada, &name("s"), "one").await, say(&ada, &name("s"), "two").await);
    let known = ada.remember(Remember::fact("The pin is 4711").with_source(first.clone())).await.unwrap().id;
    ada.remember(Remember::fact("The pin is 4711").with_source(second.clone())).await.unwrap();
    let derived = Remember::fact("The pin is weak").with_source(ItemId::Record(known));
    let derived = ada.remember(derived).await.unwrap().id;
    ada.forget(&Forget::Messages(vec![message(&second)])).await.unwrap();
    assert!(stored(&ada, known).await.is_some() && stored(&ada, derived).await.is_some());
    ada.forget(&Forget::Messages(vec![message(&first)])).await.unwrap();
    assert!(stored(&ada, known).await.is_none() && stored(&ada, derived).await.is_none());
}

#[tokio::test]
async fn what_a_person_says_is_found_at_her_trust_although_others_said_it_before() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let fact = || Remember::fact("Ada is allergic to peanuts");
    ada.remember(fact().with_trust(Trust::Untrusted).with_origin("web").with_tag("planted")).await.unwrap();
    let id = ada.remember(fact().with_trust(Trust::User).with_tag("health")).await.unwrap().id;
    bench.tend().await;
    let found = ada.search(&Search::new("what is Ada allergic to").min_trust(Trust::User)).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    let record = stored(&ada, id).await.unwrap().record;
    assert_eq!((record.tags(), record.origin()), (vec!["health"], None));
}

#[tokio::test]
async fn an_untrusted_repeat_adds_nothing_to_what_a_person_said_and_the_receipt_says_so() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let fact = || Remember::fact("Ada pays by card");
    let id = ada.remember(fact().with_metadata("limit", 100)).await.unwrap().id;
    let planted = fact().with_trust(Trust::Untrusted).with_metadata("iban", "EVIL").with_tag("verified");
    let receipt = ada.remember(planted.with_importance(1.0).pinned()).await.unwrap();
    let record = stored(&ada, id).await.unwrap().record;
    assert_eq!((record.trust(), record.is_pinned(), record.importance()), (Trust::User, false, None));
    assert_eq!((record.metadata().len(), record.tags().len()), (1, 0));
    let not_taken = |what| NotTaken { what, why: Why::LowerTrust };
    let iban = Addition::Metadata("iban".to_owned());
    let expected = [iban, Addition::Tag("verified".to_owned()), Addition::Importance, Addition::Pin].map(not_taken);
    assert_eq!(receipt.not_taken, expected);
    assert_eq!(ada.remember(fact().with_metadata("limit", 200)).await.unwrap().not_taken, []);
}

#[tokio::test]
async fn a_fact_told_again_without_an_end_of_its_truth_does_not_end() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let hour = Duration::from_secs(3_600);
    let end = bench.memory.now().checked_add(hour).unwrap();
    ada.remember(Remember::fact("Ada works at Initech").valid(None, Some(end))).await.unwrap();
    ada.remember(Remember::fact("Ada works at Initech")).await.unwrap();
    bench.tend().await;
    bench.clock.advance(hour);
    assert_eq!(ada.search(&Search::new("where does Ada work")).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn a_repeat_changes_nothing_and_a_shorter_life_is_named_as_not_taken() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let fact = || Remember::fact("Ada pays by card").with_metadata("limit", 100).with_tag("money");
    let first = ada.remember(fact()).await.unwrap();
    bench.clock.advance(Duration::from_secs(1));
    let again = ada.remember(fact()).await.unwrap();
    assert_eq!((again.outcome, again.version), (Remembered::Reinforced, first.version));
    let brief = ada.remember(fact().with_ttl(Duration::from_secs(1)).with_origin("other")).await.unwrap();
    assert_eq!(brief.not_taken, [NotTaken { what: Addition::Expiry, why: Why::Outlived }]);
}

#[tokio::test]
async fn a_record_has_a_bounded_number_of_tellings_and_the_receipt_says_when_it_is_full() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let fact = |n: usize| Remember::fact("Ada pays by card").with_session(name(&n.to_string())).with_metadata("n", n);
    let mut id = None;
    for n in 0..1_024 {
        let receipt = ada.remember(fact(n)).await.unwrap();
        assert_eq!(receipt.not_taken, []);
        id = Some(receipt.id);
    }
    let full = ada.remember(fact(1_024)).await.unwrap();
    let not_taken = [Addition::Telling, Addition::Metadata("n".to_owned())];
    assert_eq!(full.not_taken, not_taken.map(|what| NotTaken { what, why: Why::Full }));
    assert_eq!(stored(&ada, id.unwrap()).await.unwrap().record.metadata()["n"], 1_023);
}

#[tokio::test]
async fn a_full_record_still_stands_on_what_was_told_last() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let messages: Vec<Message> = (0..1_026).map(|n| Message::new(Role::User, format!("{n}"), Timestamp(n))).collect();
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    ada.session(&name("s")).append(messages).await.unwrap();
    let fact = |id: &MessageId| Remember::fact("Ada pays by card").with_source(ItemId::Message(*id)).with_tag("money");
    let (last, earlier) = ids.split_last().unwrap();
    let mut id = None;
    for earlier in earlier {
        bench.clock.advance(Duration::from_micros(1));
        let receipt = ada.remember(fact(earlier)).await.unwrap();
        assert_eq!(receipt.not_taken, []);
        id = Some(receipt.id);
    }
    let made = stored(&ada, id.unwrap()).await.unwrap().record.created_at();
    let told = ada.remember(fact(last)).await.unwrap();
    assert_eq!((told.id, told.outcome, told.not_taken), (id.unwrap(), Remembered::Reinforced, vec![]));
    let again = ada.remember(fact(last)).await.unwrap();
    assert_eq!((again.version, again.not_taken), (told.version, vec![]), "a repeat changes nothing");
    let full = stored(&ada, told.id).await.unwrap().record;
    assert_eq!((full.tellings().count(), full.created_at(), full.tags()), (1_024, made, vec!["money"]));
    // Less trusted words take no other's place, and the receipt says so.
    let less = ada.remember(fact(&ids[1]).with_trust(Trust::Tool)).await.unwrap();
    assert!(less.not_taken.contains(&NotTaken { what: Addition::Telling, why: Why::Full }), "{less}");
    ada.forget(&Forget::Messages(earlier.to_vec())).await.unwrap();
    let left = stored(&ada, told.id).await.unwrap().record;
    assert_eq!(left.sources(), [&ItemId::Message(*last)]);
}

#[tokio::test]
async fn a_fact_stored_before_order_counted_is_known_when_it_is_told_again() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    // The id was made from the sorted words.
    let parts = ["fingerprint-1", "fact", "ada", "cat", "has", "two"];
    let content: Vec<u8> =
        parts.iter().flat_map(|part| [&(part.len() as u64).to_le_bytes()[..], part.as_bytes()].concat()).collect();
    let mut record = Record::new("fact", "Ada has two cats.", bench.memory.now());
    record.id = RecordId::of_content(&content);
    let row = StoredRecord { record: record.clone().into(), version: 3, accessed_at: None, access_count: 0 };
    ada.restore(&[row]).await.unwrap();
    let other = ada.remember(Remember::fact("Two cats has Ada.")).await.unwrap();
    let again = ada.remember(Remember::fact("Ada has two cats!").with_tag("pets")).await.unwrap();
    assert_eq!((again.id, again.outcome), (record.id, Remembered::Reinforced));
    assert_eq!((other.outcome, ada.records(&Filter::All, None, 10).await.unwrap().len()), (Remembered::Stored, 2));
}

/// What was told of one fact and not taken back, in order: trust, session, source, and the value of the key `k`.
type Model = Vec<(Trust, Option<usize>, Option<usize>, Option<u64>)>;

/// Returns the trust and the value that a record shows by the rule.
fn shown(model: &Model) -> Option<(Trust, Option<Value>)> {
    let trust = model.iter().map(|told| told.0).max()?;
    let value = model.iter().rev().filter(|told| told.0 == trust).find_map(|told| told.3);
    Some((trust, value.map(|value| json!(value))))
}

/// How many histories there are: `MEMORY_HISTORIES`, or 1,000.
#[expect(clippy::disallowed_methods, reason = "the configuration of the test")]
fn histories() -> u64 {
    std::env::var("MEMORY_HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000)
}

#[tokio::test]
async fn every_history_of_tellings_and_forgettings_leaves_what_a_naive_model_has() {
    let bench = Bench::new().await;
    let (sessions, facts) = ([name("a"), name("b")], ["Ada lives in Rome", "Ada likes tea"]);
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let ada = bench.owner(&format!("ada{seed}"));
        let mut sources = Vec::new();
        for place in 0..4 {
            sources.push((place % 2, say(&ada, &sessions[place % 2], &format!("words {place}")).await));
        }
        let mut models: BTreeMap<RecordId, Model> = BTreeMap::new();
        for _ in 0..10 {
            match random.below(8) {
                0 => {
                    let place = random.below(4);
                    ada.forget(&Forget::Messages(vec![message(&sources[place].1)])).await.unwrap();
                    models.values_mut().for_each(|model| model.retain(|told| told.2 != Some(place)));
                }
                1 => {
                    let session = random.below(2);
                    ada.forget(&Forget::Session(sessions[session].clone())).await.unwrap();
                    let is_of = |place: Option<usize>| place.is_some_and(|place| sources[place].0 == session);
                    models
                        .values_mut()
                        .for_each(|model| model.retain(|told| told.1 != Some(session) && !is_of(told.2)));
                }
                _ => {
                    let trust = random.pick(&[2, 3, 3, 4]);
                    let trust = [Trust::Untrusted, Trust::Tool, Trust::Assistant, Trust::User, Trust::System][trust];
                    let (session, source) = (random.below(3), random.below(6));
                    let value = random.chance(1, 2).then(|| random.number() % 3);
                    let fact = random.below(2);
                    let mut remember = Remember::fact(facts[fact]).with_trust(trust);
                    if let Some(session) = sessions.get(session) {
                        remember = remember.with_session(session.clone());
                    }
                    if let Some((_, source)) = sources.get(source) {
                        remember = remember.with_source(source.clone());
                    }
                    if let Some(value) = value {
                        remember = remember.with_metadata("k", value);
                    }
                    // A source that is gone is refused.
                    let Ok(receipt) = ada.remember(remember).await else { continue };
                    let told = (trust, (session < 2).then_some(session), (source < 4).then_some(source), value);
                    models.entry(receipt.id).or_default().push(told);
                }
            }
            for (id, model) in &models {
                let record = stored(&ada, *id).await.map(|stored| stored.record);
                let found = record.map(|record| (record.trust(), record.metadata().get("k").cloned()));
                assert_eq!(found, shown(model), "history {seed}: {model:?}");
            }
        }
    }
}
