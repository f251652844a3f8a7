//! The store traits behind a guard: each method by name, what it does in words for errors, and how it may be treated.
//!
//! `quick` and `bulk` tell the deadline; both may be repeated after a lost answer, as the traits promise. `once` is for
//! what is added again by a repeat. A repeated read of a blackboard may count as two uses.

use std::time::Duration;

use async_trait::async_trait;

use crate::blackboard::{Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
use crate::cache::Cache;
use crate::chat::{Append, Appended, ChatStore, Compaction, Fence, Found, Page, Redacted, SessionState, Slice};
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, RecordId, SessionId, Version};
use crate::message::StoredMessage;
use crate::record::{RecordBatch, RecordStore, StoredRecord};
use crate::scope::{Epoch, Scope};
use crate::store::{Erased, Health, Store};
use crate::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use crate::time::Timestamp;
use crate::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use crate::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};

use super::Guarded;
use super::policy::Call;

/// The owner of a call, which is its argument `scope`: each argument is named twice, to be compared and to be used.
macro_rules! owner {
    (scope $scope:ident $($rest:ident)*) => {
        Some($scope)
    };
    ($($rest:ident)*) => {
        None
    };
}

macro_rules! guarded {
    ($($trait:ident $({ $($plain:tt)* })? calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for Guarded<S> {
            $($($plain)*)?
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                let owner = owner!($($argument $argument)*);
                self.guard.call(owner, Call::$kind($doing), || self.inner.$method($($argument),*)).await
            })*
        }
    )+};
}

guarded! {
    Store {
        fn backend(&self) -> &'static str {
            self.inner.backend()
        }

        /// Closes a store that does not answer too, so the breaker is not asked.
        async fn close(&self) -> Result<()> {
            self.inner.close().await
        }
    } calls {
        quick "answer a ping" ping() -> Health;
        bulk "erase an owner" erase(scope: &Scope, below: Epoch) -> Erased;
    }
    ChatStore calls {
        quick "append messages" append(scope: &Scope, session: &SessionId, batch: &Append) -> Appended;
        bulk "restore messages" restore(scope: &Scope, session: &SessionId, rows: &[StoredMessage]) -> Appended;
        quick "read messages" read(scope: &Scope, session: &SessionId, page: &Page) -> Slice;
        quick "get messages" get(scope: &Scope, ids: &[MessageId]) -> Found;
        quick "list sessions" sessions(scope: &Scope, after: Option<&SessionId>, limit: usize) -> Vec<SessionState>;
        quick "compact a session" compact(scope: &Scope, session: &SessionId, change: &Compaction) -> SessionState;
        quick "redact messages" redact(scope: &Scope, ids: &[MessageId]) -> Vec<Redacted>;
        bulk "delete a session" delete(scope: &Scope, seen: &SessionState) -> u64;
    }
    RecordStore calls {
        quick "put records" put(scope: &Scope, batch: &RecordBatch) -> Vec<u64>;
        quick "get records" get(scope: &Scope, ids: &[RecordId]) -> Vec<StoredRecord>;
        quick "scan records" scan(scope: &Scope, filter: &Filter, after: Option<RecordId>, limit: usize) -> Vec<StoredRecord>;
        quick "touch records" touch(scope: &Scope, ids: &[RecordId], at: Timestamp) -> ();
        quick "read the fence of records" fence(scope: &Scope) -> Fence;
        quick "raise the fence of records" advance(scope: &Scope, seen: Fence) -> Fence;
        quick "delete records" delete(scope: &Scope, records: &[(RecordId, u64)]) -> u64;
        bulk "restore records" restore(scope: &Scope, rows: &[StoredRecord]) -> ();
    }
    Upkeep calls {
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
    TextStore {
        fn analysis(&self) -> &str {
            self.inner.analysis()
        }
    } calls {
        quick "read the incarnation of the terms" incarnation() -> Incarnation;
        bulk "put terms" put(scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Vec<Rejected>;
        bulk "flush terms" flush() -> ();
        quick "search words" search(scope: &Scope, query: &TextQuery) -> TextHits;
        quick "read versions of terms" versions(scope: &Scope, items: &[ItemId]) -> Vec<(ItemId, Version)>;
        quick "list terms" scan(scope: &Scope, after: Option<&ItemId>, limit: usize) -> Vec<(ItemId, Version)>;
        bulk "delete terms" delete(scope: &Scope, what: &Deletion) -> ();
    }
    VectorStore {
        fn space(&self) -> &EmbeddingSpace {
            self.inner.space()
        }
    } calls {
        quick "read the incarnation of the vectors" incarnation() -> Incarnation;
        bulk "put vectors" put(scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Vec<Rejected>;
        bulk "flush vectors" flush() -> ();
        quick "search vectors" search(scope: &Scope, query: &VectorQuery) -> Vec<VectorHit>;
        quick "read versions of vectors" versions(scope: &Scope, items: &[ItemId]) -> Vec<(ItemId, Version)>;
        quick "list vectors" scan(scope: &Scope, after: Option<&ItemId>, limit: usize) -> Vec<(ItemId, Version)>;
        bulk "delete vectors" delete(scope: &Scope, what: &Deletion) -> ();
    }
    Cache calls {
        quick "get a cached value" get(scope: &Scope, epoch: Epoch, key: &str) -> Option<Vec<u8>>;
        quick "cache a value" put(scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> ();
        quick "drop cached values" delete(scope: &Scope, epoch: Epoch, keys: &[&str]) -> ();
        once "note an event" push(scope: &Scope, epoch: Epoch, key: &str, value: &[u8], cap: usize, ttl: Duration) -> ();
        quick "read events" tail(scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Vec<Vec<u8>>;
    }
    Blackboard calls {
        quick "put an entry" put(scope: &Scope, entry: &BlackboardEntry) -> Vec<String>;
        quick "get an entry" get(scope: &Scope, key: &str) -> Option<Posted>;
        quick "search a board" search(scope: &Scope, query: &BoardQuery, limit: usize) -> Vec<BoardHit>;
        quick "delete an entry" delete(scope: &Scope, key: &str) -> bool;
        quick "sweep a board" sweep(scope: &Scope) -> u64;
        quick "read a board's figures" stats(scope: &Scope) -> BlackboardStats;
    }
}
