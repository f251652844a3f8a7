//! What is refused at the ends of the limits, and what is not.

use std::sync::Arc;

use super::*;
use crate::id::{MessageId, Seq, SessionId};
use crate::message::{Role, Slot};
use crate::model::CounterId;
use crate::time::Timestamp;

fn nested(depth: usize) -> Value {
    (1..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

fn holding(block: Block) -> Message {
    Message::of_blocks(Role::Tool, vec![block], Timestamp(0))
}

#[test]
fn pieces_that_could_not_be_read_back_are_refused() {
    let limits = Limits::default();
    let results = |depth: usize| (1..depth).fold(Block::text("x"), |inner, _| Block::tool_result("c", vec![inner]));
    let kinds: [&dyn Fn(usize) -> Block; 3] = [
        &|depth| Block::Media { value: nested(depth) },
        &|depth| Block::Other { slot: Slot::Content, value: nested(depth) },
        &results,
    ];
    for kind in kinds {
        let whole = holding(kind(limits.depth));
        assert!(limits.check_message(&whole).is_ok());
        assert_eq!(Message::decode("test", &whole.encode()).unwrap(), whole);
        for depth in [limits.depth + 1, 200] {
            assert!(matches!(limits.check_message(&holding(kind(depth))), Err(Error::Invalid { .. })), "{depth}");
        }
    }
}

#[test]
fn agents_and_runs_have_names_of_1_to_255_bytes() {
    let limits = Limits::default();
    for (name, is_legal) in [("", false), ("a", true), (&*"a".repeat(255), true), (&*"a".repeat(256), false)] {
        let message = Message::new(Role::User, "x", Timestamp(0));
        let mut record = Record::new("fact", "x", Timestamp(0));
        record.agent = Some(name.to_owned());
        assert_eq!(limits.check_record(&record).is_ok(), is_legal, "{}", name.len());
        assert_eq!(limits.check_message(&message.clone().with_agent(name)).is_ok(), is_legal, "{}", name.len());
        assert_eq!(limits.check_message(&message.with_run(name)).is_ok(), is_legal, "{}", name.len());
    }
}

#[test]
fn blank_records_and_tags_are_refused() {
    let limits = Limits::default();
    let record = |text: &str, tags: &[&str]| {
        let mut record = Record::new("fact", text, Timestamp(0));
        record.first.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        record
    };
    assert!(limits.check_record(&record("x", &["a", "b"])).is_ok());
    let long = "x".repeat(256);
    for bad in [record(" \n", &[]), record("x", &[""]), record("x", &[" "]), record("x", &[&long])] {
        assert!(matches!(limits.check_record(&bad), Err(Error::Invalid { .. })), "{bad:?}");
    }
    assert!(limits.check_record(&record("x", &["t"; 1_025])).is_err());
}

/// Returns what the limits say of a record and of a message that is made to hold `bytes` in one place.
fn refused(record: impl Fn(&mut Record), message: impl Fn(&mut Message)) -> [Option<String>; 2] {
    let limits = Limits::default();
    let (mut one, mut other) = (Record::new("fact", "x", Timestamp(0)), holding(Block::text("x")));
    record(&mut one);
    message(&mut other);
    [limits.check_record(&one), limits.check_message(&other)].map(|checked| checked.err().map(|e| e.to_string()))
}

#[test]
fn names_and_sources_have_an_end() {
    for (length, is_refused) in [(255, false), (256, true), (64 << 20, true)] {
        let name = "n".repeat(length);
        let kinds = refused(|r| r.kind = name.clone(), |m| m.speaker = Some(name.clone()));
        let origins = refused(|r| r.first.origin = Some(name.clone()), |m| m.origin = Some(name.clone()));
        assert!(kinds.iter().chain(&origins).all(|why| why.is_some() == is_refused), "{length}");
        assert!(kinds.iter().chain(&origins).flatten().all(|why| why.len() < 100), "what is too long is not quoted");
    }
    let limits = Limits::default();
    for (count, is_refused) in [(limits.sources, false), (limits.sources + 1, true), (200_000, true)] {
        let sources = || vec![ItemId::Message(MessageId::fresh()); count];
        let [record, message] = refused(|r| r.first.sources = sources(), |m| m.sources = sources());
        assert_eq!((record.is_some(), message.is_some()), (is_refused, is_refused), "{count}");
    }
    for (length, is_refused) in [(limits.call_bytes, false), (limits.call_bytes + 1, true)] {
        let id = "c".repeat(length);
        let call = |id: &str, name: &str| {
            let (id, name, arguments) = (id.to_owned(), name.to_owned(), "{}".to_owned());
            limits.check_message(&holding(Block::ToolCall { id, name, arguments, extra: Map::new() }))
        };
        let result = limits.check_message(&holding(Block::tool_result(id.clone(), Vec::new())));
        assert!([call(&id, "n"), call("c", &id), result].iter().all(|checked| checked.is_err() == is_refused));
    }
}

#[test]
fn a_record_as_a_whole_has_an_end_although_each_part_of_it_is_small_enough() {
    let words = |bytes: usize| Value::String("w".repeat(bytes));
    let held = |bytes: usize| refused(|r| _ = r.first.metadata.insert("k".to_owned(), words(bytes)), |_| {});
    assert_eq!(held(4_000_000)[0], None);
    assert!(held(64 << 20)[0].as_ref().is_some_and(|why| why.contains("the record has ")));
}

#[test]
fn pieces_and_the_values_in_them_have_an_end() {
    let limits = Limits::default();
    // The piece and its list are two of them.
    let of = |values: usize| holding(Block::Media { value: Value::Array(vec![Value::Null; values - 2]) });
    let many = |count: usize| Message::of_blocks(Role::User, vec![Block::text(""); count], Timestamp(0));
    let member = || Block::Text { text: String::new(), extra: Map::from_iter([("k".to_owned(), Value::Null)]) };
    let members = |count: usize| Message::of_blocks(Role::User, vec![member(); count.div_ceil(2)], Timestamp(0));
    for (count, is_legal) in [(limits.piece_values, true), (limits.piece_values + 1, false)] {
        assert_eq!(limits.check_message(&of(count)).is_ok(), is_legal, "{count}");
        assert_eq!(limits.check_message(&many(count)).is_ok(), is_legal, "{count}");
        assert_eq!(limits.check_message(&members(count)).is_ok(), is_legal, "{count}");
    }
}

#[test]
fn token_counts_have_an_end() {
    let limits = Limits::default();
    let message = Arc::new(holding(Block::text("x")));
    for (count, is_refused) in [(1 << 32, false), ((1 << 32) + 1, true), (i64::MAX as u64, true), (u64::MAX, true)] {
        let session = SessionId::new("s").unwrap();
        let (id, message, counter) = (message.id, Some(Arc::clone(&message)), CounterId::UNKNOWN);
        let row = StoredMessage {
            id,
            session,
            seq: Seq(1),
            tokens: count,
            counter,
            covers: None,
            archived_by: None,
            message,
        };
        assert_eq!(limits.check_row(&row).is_err(), is_refused, "{count}");
    }
}

#[test]
fn entries_of_boards_have_keys_of_1_to_255_bytes_and_values_of_up_to_64_kib() {
    let limits = Limits::default();
    let most = "x".repeat(limits.board_value_bytes);
    for (key, value, is_legal) in [
        ("", "x", false),
        ("k", "", true),
        (&*"k".repeat(255), &*most, true),
        (&*"k".repeat(256), "x", false),
        ("k", &*format!("{most}x"), false),
    ] {
        let checked = limits.check_board_entry(key, value);
        assert_eq!(checked.is_ok(), is_legal, "{} and {} bytes", key.len(), value.len());
        assert!(is_legal || matches!(checked, Err(Error::Invalid { .. })));
    }
}

#[test]
fn who_shares_is_another_owner_of_the_tenant_and_is_named_once() {
    let limits = Limits::default();
    let scope = |tenant: &str, subject: &str| Scope::new(tenant, subject).unwrap();
    let (ada, team) = (scope("acme", "ada"), scope("acme", "team"));
    let many = |count: usize| (0..count).map(|number| scope("acme", &number.to_string())).collect::<Vec<_>>();
    for good in [vec![], vec![team.clone()], vec![team.clone(), scope("acme", "team:x")], many(limits.sharing)] {
        assert!(limits.check_sharing(&ada, &good).is_ok(), "{good:?}");
    }
    let others = [scope("acme:", "team"), scope("ac", "team"), scope("Acme", "team")];
    let bad = [vec![ada.clone()], vec![team.clone(), ada.clone()], vec![team.clone(), team], many(limits.sharing + 1)];
    for bad in bad.into_iter().chain(others.map(|other| vec![other])) {
        assert!(matches!(limits.check_sharing(&ada, &bad), Err(Error::Invalid { .. })), "{bad:?}");
    }
}
