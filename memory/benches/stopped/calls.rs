//! The calls of every store that a backend has.

use std::sync::Arc;
use std::time::Duration;

use memory::store::blackboard::{BlackboardEntry, BoardQuery};
use memory::store::chat::{Append, NewMessage, Page};
use memory::store::records::{Expect, Put, RecordBatch};
use memory::store::text::{Deletion, Term, TextEntry, TextQuery, Visibility};
use memory::store::upkeep::IndexName;
use memory::store::vectors::{VectorEntry, VectorQuery, VectorStore};
use memory::store::{Epoch, Fields, Version};
use memory::{
    Filter, ItemId, Message, MessageId, Record, RecordId, Result, Role, Scope, Seq, SessionId, Stores, Timestamp, Unit,
};
use memory_testkit::Boxed;

/// How long what is cached lives.
const TTL: Duration = Duration::from_secs(60);

/// A call that every owner may make.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    make: Box<dyn Fn(Scope) -> Boxed<'static, Result<()>> + Send + Sync>,
}

impl Call {
    /// Returns the call of an owner, which begins when it is first polled.
    pub(crate) fn make(&self, owner: usize) -> Result<Boxed<'static, Result<()>>> {
        Ok((self.make)(Scope::new("stopped", &format!("owner {owner}"))?))
    }
}

/// Adds calls of a store: each with its name, and with the owner whose call it is.
macro_rules! add {
    ($calls:ident, $store:expr => $($name:literal |$one:ident, $scope:ident| $call:expr;)+) => {$(
        let store = Arc::clone($store);
        let make = move |scope: Scope| {
            let store = Arc::clone(&store);
            let call = async move {
                let ($one, $scope) = (&store, &scope);
                $call.await.map(drop)
            };
            Box::pin(call) as Boxed<'static, Result<()>>
        };
        $calls.push(Call { name: $name, make: Box::new(make) });
    )+};
}

/// Returns the calls of all stores that are there.
pub(crate) fn of(stores: &Stores) -> Vec<Call> {
    let mut calls = Vec::new();
    of_truth(stores, &mut calls);
    of_indexes(stores, &mut calls);
    of_cache_and_board(stores, &mut calls);
    calls
}

fn of_truth(stores: &Stores, calls: &mut Vec<Call>) {
    if let Some(chat) = &stores.chat {
        add!(calls, chat.store() =>
            "ping" |chat, _scope| chat.ping();
            "append" |chat, scope| chat.append(scope, &session()?, &append());
            "read" |chat, scope| chat.read(scope, &session()?, &Page::newest(10));
            "get" |chat, scope| chat.get(scope, &[MessageId::fresh()]);
            "sessions" |chat, scope| chat.sessions(scope, None, 10);
            "redact" |chat, scope| chat.redact(scope, &[MessageId::fresh()]);
        );
        add!(calls, chat.upkeep() =>
            "pending" |upkeep, _scope| upkeep.pending(&index()?, Timestamp(1), 10);
            "backlog" |upkeep, scope| upkeep.backlog_of(scope, &index()?);
            "epoch" |upkeep, scope| upkeep.epoch(scope);
        );
    }
    if let Some(records) = &stores.records {
        add!(calls, records.store() =>
            "put" |records, scope| records.put(scope, &batch());
            "get" |records, scope| records.get(scope, &[RecordId::fresh()]);
            "scan" |records, scope| records.scan(scope, &Filter::All, None, 10);
            "newest" |records, scope| records.newest(scope, &Filter::All, None, 10);
            "touch" |records, scope| records.touch(scope, &[RecordId::fresh()], Timestamp(1));
            "fence" |records, scope| records.fence(scope);
            "delete" |records, scope| records.delete(scope, &[(RecordId::fresh(), 1)]);
        );
    }
}

fn of_indexes(stores: &Stores, calls: &mut Vec<Call>) {
    if let Some(text) = &stores.text {
        add!(calls, text =>
            "put terms" |text, scope| text.put(scope, &[text_entry()?], Visibility::OnReturn);
            "flush terms" |text, _scope| text.flush();
            "search words" |text, scope| text.search(scope, &words()?);
            "versions of terms" |text, scope| text.versions(scope, &[item()]);
            "scan terms" |text, scope| text.scan(scope, None, 10);
            "delete terms" |text, scope| text.delete(scope, &Deletion::Items(vec![(item(), version())]));
        );
    }
    for (vectors, _) in &stores.vectors {
        add!(calls, vectors =>
            "put vectors" |vectors, scope| vectors.put(scope, &[vector_entry(vectors.as_ref())?], Visibility::OnReturn);
            "flush vectors" |vectors, _scope| vectors.flush();
            "search vectors" |vectors, scope| vectors.search(scope, &near(vectors.as_ref()));
            "versions of vectors" |vectors, scope| vectors.versions(scope, &[item()]);
            "scan vectors" |vectors, scope| vectors.scan(scope, None, 10);
            "delete vectors" |vectors, scope| vectors.delete(scope, &Deletion::Items(vec![(item(), version())]));
        );
    }
}

fn of_cache_and_board(stores: &Stores, calls: &mut Vec<Call>) {
    if let Some(cache) = &stores.cache {
        add!(calls, cache =>
            "cached value" |cache, scope| cache.get(scope, Epoch(0), "key");
            "cache" |cache, scope| cache.put(scope, Epoch(0), "key", b"value", TTL);
            "drop from the cache" |cache, scope| cache.delete(scope, Epoch(0), &["other"]);
            "push" |cache, scope| cache.push(scope, Epoch(0), "list", b"value", 10, TTL);
            "tail" |cache, scope| cache.tail(scope, Epoch(0), "list", 10);
        );
    }
    if let Some(board) = &stores.blackboard {
        add!(calls, board =>
            "post" |board, scope| board.put(scope, Epoch(0), &BlackboardEntry::new("key", "value"));
            "posted" |board, scope| board.get(scope, Epoch(0), "key");
            "search a board" |board, scope| board.search(scope, Epoch(0), &BoardQuery::Terms(vec![rose()?]), 3);
            "sweep" |board, scope| board.sweep(scope, Epoch(0));
            "figures" |board, scope| board.stats(scope, Epoch(0));
        );
    }
}

fn session() -> Result<SessionId> {
    SessionId::new("talk")
}

fn index() -> Result<IndexName> {
    IndexName::new("text/stopped")
}

fn rose() -> Result<Term> {
    Term::new("rose")
}

fn item() -> ItemId {
    ItemId::Message(MessageId::fresh())
}

fn version() -> Version {
    Version { epoch: Epoch(0), revision: 0 }
}

fn append() -> Append {
    Append::new(vec![NewMessage::sized(Message::new(Role::User, "a rose is a rose", Timestamp(1)), 5)])
}

fn batch() -> RecordBatch {
    let record = Record { id: RecordId::fresh(), ..Record::new("fact", "a rose is a rose", Timestamp(1)) };
    RecordBatch { fence: None, puts: vec![Put { record: Arc::new(record), expect: Expect::Anything }] }
}

fn fields() -> Result<Fields> {
    Ok(Fields { unit: Unit::Message, ..Fields::of_span(&session()?, Seq(1), Timestamp(1)) })
}

fn text_entry() -> Result<TextEntry> {
    Ok(TextEntry { item: item(), version: version(), own: vec![(rose()?, 2)], near: Vec::new(), fields: fields()? })
}

fn words() -> Result<TextQuery> {
    Ok(TextQuery { terms: vec![rose()?], unit: Unit::Message, filter: Filter::All, limit: 10 })
}

fn direction(vectors: &dyn VectorStore) -> Vec<f32> {
    (0..vectors.space().dimension).map(|place| if place == 0 { 1.0 } else { 0.0 }).collect()
}

fn vector_entry(vectors: &dyn VectorStore) -> Result<VectorEntry> {
    Ok(VectorEntry { item: item(), version: version(), pieces: vec![direction(vectors)], fields: fields()? })
}

fn near(vectors: &dyn VectorStore) -> VectorQuery {
    let (space, vector) = (vectors.space().clone(), direction(vectors));
    VectorQuery { space, vector, filter: Filter::All, limit: 10, floor: None, with_vectors: false }
}
