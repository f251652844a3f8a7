//! The methods of the store traits as one table, from which layers and stores are made.
//!
//! A new method of a trait is one line here. Guards, meters, taps, broken stores, the simulation's wire, stores whose server may be
//! away and the upkeep of a write-behind hand it on; the cache takes it for a change; the upkeep of a reference store asks its
//! notes; and the store without records refuses it. Everything else implements it by hand.

pub use std::time::Duration;

pub use async_trait::async_trait;

pub use crate::error::Result;
pub use crate::filter::Filter;
pub use crate::id::{ItemId, MessageId, RecordId, SessionId, Version};
pub use crate::message::StoredMessage;
pub use crate::record::StoredRecord;
pub use crate::scope::{Epoch, Scope};
pub use crate::store::blackboard::{Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
pub use crate::store::cache::Cache;
pub use crate::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Redacted, SessionState, Slice,
};
pub use crate::store::journal::{Journal, Queued, Rejection};
pub use crate::store::records::{RecordBatch, RecordStore, Replace};
pub use crate::store::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
pub use crate::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
pub use crate::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
pub use crate::store::{Durability, Erased, Health, Store};
pub use crate::time::Timestamp;
pub use crate::vector::EmbeddingSpace;

/// Hands the methods of some traits to a macro: `store_methods!(Store, Cache => made { A })` is
/// `made! { { A } Store { … } calls { … } Cache { … } calls { … } }`.
///
/// Methods before `calls` answer at once, the others when the store does. These begin with how a guard treats them, and with
/// what they do in words for errors:
///
/// - `quick` and `bulk` tell the deadline; both may be repeated after a lost answer, as the traits promise. A repeated read of a
///   blackboard may count as two uses.
/// - `once` is for what is added again by a repeat.
/// - `unguarded` is a store's end, also where it does not answer; and a journal, which is a file at hand.
///
/// An argument `scope` is the owner of a call. The module [`methods`](crate::methods) has all names that are used here.
#[doc(hidden)]
#[macro_export]
macro_rules! store_methods {
    ($($trait:ident),+ => $made:ident { $($given:tt)* }) => {
        $crate::store_methods! { @ [$($trait)+] $made { $($given)* } }
    };
    (@ [] $made:ident $($rows:tt)*) => {
        $made! { $($rows)* }
    };
    (@ [Store $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        Store { backend() -> &'static str; } calls {
            quick "answer a ping" ping() -> Health;
            unguarded "close a store" close() -> ();
            bulk "erase an owner" erase(scope: &Scope, below: Epoch) -> Erased;
        }
    } };
    (@ [ChatStore $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        ChatStore {} calls {
            quick "append messages" append(scope: &Scope, session: &SessionId, batch: &Append) -> Appended;
            bulk "restore messages"
                restore(scope: &Scope, session: &SessionId, fence: Option<Fence>, rows: &[StoredMessage]) -> Appended;
            quick "read messages" read(scope: &Scope, session: &SessionId, page: &Page) -> Slice;
            quick "get messages" get(scope: &Scope, ids: &[MessageId]) -> FoundMessages;
            quick "list sessions" sessions(scope: &Scope, after: Option<&SessionId>, limit: usize) -> Vec<SessionState>;
            quick "compact a session" compact(scope: &Scope, session: &SessionId, change: &Compaction) -> SessionState;
            quick "redact messages" redact(scope: &Scope, ids: &[MessageId]) -> Vec<Redacted>;
            bulk "delete a session" delete(scope: &Scope, seen: &SessionState) -> u64;
        }
    } };
    (@ [RecordStore $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        RecordStore { durability() -> Durability; } calls {
            quick "put records" put(scope: &Scope, batch: &RecordBatch) -> Vec<u64>;
            quick "get records" get(scope: &Scope, ids: &[RecordId]) -> Vec<StoredRecord>;
            quick "scan records"
                scan(scope: &Scope, filter: &Filter, after: Option<RecordId>, limit: usize) -> Vec<StoredRecord>;
            quick "read the newest records"
                newest(scope: &Scope, filter: &Filter, before: Option<(Timestamp, RecordId)>, limit: usize) -> Vec<StoredRecord>;
            quick "touch records" touch(scope: &Scope, ids: &[RecordId], at: Timestamp) -> ();
            quick "read the fence of records" fence(scope: &Scope) -> Fence;
            quick "raise the fence of records" advance(scope: &Scope, seen: Fence) -> Fence;
            quick "delete records" delete(scope: &Scope, records: &[(RecordId, u64)]) -> u64;
            bulk "restore records"
                restore(scope: &Scope, seen: Option<Epoch>, rows: &[StoredRecord], replace: Replace) -> ();
        }
    } };
    (@ [Upkeep $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        Upkeep {} calls {
            bulk "enlist an index" enlist(index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> bool;
            quick "doubt an index" doubt(index: &IndexName) -> ();
            quick "list indexes" indexes() -> Vec<Enlisted>;
            bulk "retire an index" retire(index: &IndexName) -> ();
            bulk "revive notes" revive(index: &IndexName) -> u64;
            quick "read notes" pending(index: &IndexName, now: Timestamp, limit: usize) -> Vec<Note>;
            bulk "settle notes" settle(index: &IndexName, notes: &[(Note, Outcome)]) -> ();
            quick "count notes" backlog(index: &IndexName) -> Backlog;
            quick "count an owner's notes" backlog_of(scope: &Scope, index: &IndexName) -> Backlog;
            bulk "delete expired records" sweep(now: Timestamp, limit: usize) -> u64;
            quick "list owners" owners(after: Option<&Scope>, limit: usize) -> Vec<Scope>;
            quick "bury an owner" bury(scope: &Scope, seen: Epoch) -> Epoch;
            quick "read an epoch" epoch(scope: &Scope) -> Epoch;
        }
    } };
    (@ [TextStore $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        TextStore { analysis() -> &str; } calls {
            quick "read the incarnation of the terms" incarnation() -> Incarnation;
            bulk "put terms" put(scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Vec<Rejected>;
            bulk "flush terms" flush() -> ();
            quick "search words" search(scope: &Scope, query: &TextQuery) -> TextHits;
            quick "read versions of terms" versions(scope: &Scope, items: &[ItemId]) -> Vec<(ItemId, Version)>;
            quick "list terms" scan(scope: &Scope, after: Option<&ItemId>, limit: usize) -> Vec<(ItemId, Version)>;
            bulk "delete terms" delete(scope: &Scope, what: &Deletion) -> ();
            bulk "clear terms" clear(scope: &Scope) -> ();
        }
    } };
    (@ [VectorStore $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        VectorStore { space() -> &EmbeddingSpace; } calls {
            quick "read the incarnation of the vectors" incarnation() -> Incarnation;
            bulk "put vectors" put(scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Vec<Rejected>;
            bulk "flush vectors" flush() -> ();
            quick "search vectors" search(scope: &Scope, query: &VectorQuery) -> Vec<VectorHit>;
            quick "read versions of vectors" versions(scope: &Scope, items: &[ItemId]) -> Vec<(ItemId, Version)>;
            quick "list vectors" scan(scope: &Scope, after: Option<&ItemId>, limit: usize) -> Vec<(ItemId, Version)>;
            bulk "delete vectors" delete(scope: &Scope, what: &Deletion) -> ();
            bulk "clear vectors" clear(scope: &Scope) -> ();
        }
    } };
    (@ [Cache $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        Cache {} calls {
            quick "get a cached value" get(scope: &Scope, epoch: Epoch, key: &str) -> Option<Vec<u8>>;
            quick "cache a value" put(scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> ();
            quick "drop cached values" delete(scope: &Scope, epoch: Epoch, keys: &[&str]) -> ();
            once "note an event"
                push(scope: &Scope, epoch: Epoch, key: &str, value: &[u8], cap: usize, ttl: Duration) -> ();
            quick "read events" tail(scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Vec<Vec<u8>>;
        }
    } };
    (@ [Blackboard $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        Blackboard {} calls {
            quick "put an entry" put(scope: &Scope, epoch: Epoch, entry: &BlackboardEntry) -> Vec<String>;
            quick "get an entry" get(scope: &Scope, epoch: Epoch, key: &str) -> Option<Posted>;
            quick "search a board"
                search(scope: &Scope, epoch: Epoch, query: &BoardQuery, limit: usize) -> Vec<BoardHit>;
            quick "delete an entry" delete(scope: &Scope, epoch: Epoch, key: &str) -> bool;
            quick "sweep a board" sweep(scope: &Scope, epoch: Epoch) -> u64;
            quick "read a board's figures" stats(scope: &Scope, epoch: Epoch) -> BlackboardStats;
        }
    } };
    (@ [Journal $($rest:ident)*] $($made:tt)*) => { $crate::store_methods! { @ [$($rest)*] $($made)*
        Journal { durability() -> Durability; } calls {
            unguarded "push messages" push(scope: &Scope, session: &SessionId, batch: &Append) -> u64;
            unguarded "read the queue"
                queued(owner: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Vec<Queued>;
            unguarded "acknowledge messages" acknowledge(numbers: &[u64]) -> ();
            unguarded "reject a message" reject(number: u64, why: &str) -> ();
            unguarded "read rejected messages" rejected(owner: Option<&Scope>, limit: usize) -> Vec<Rejection>;
            unguarded "count rejected messages" count_rejected(owner: Option<&Scope>) -> usize;
            unguarded "revive rejected messages" revive(revived: &[(u64, Option<Fence>)]) -> ();
            unguarded "discard rejected messages" discard(numbers: &[u64]) -> u64;
            unguarded "forget queued messages" forget(scope: &Scope, ids: &[MessageId]) -> u64;
            unguarded "erase an owner's messages"
                erase(scope: &Scope, session: Option<&SessionId>, below: Fence) -> u64;
            unguarded "close a journal" close() -> ();
        }
    } };
}
