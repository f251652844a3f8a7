//! A store at the other end of the wire.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::cache::Cache;
use memory_core::chat::{Append, Appended, ChatStore, Compaction, Fence, Found, Page, Redacted, SessionState, Slice};
use memory_core::record::{RecordBatch, RecordStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::{
    Epoch, Filter, ItemId, MessageId, RecordId, Result, Scope, SessionId, StoredMessage, StoredRecord, Timestamp,
    Version,
};

use super::wire::{Call, Caller, Wire};

/// A store as one process reaches it.
pub(super) struct Far<S: ?Sized> {
    pub(super) inner: Arc<S>,
    pub(super) part: &'static str,
    pub(super) caller: Caller,
    pub(super) wire: Arc<Wire>,
}

impl<S: ?Sized> std::fmt::Debug for Far<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Far({})", self.part)
    }
}

// A call may be carried out when its caller has gone, so it owns what it was given: what is lent (`r`), what may be lent
// (`o`), what is copied (`c`), and a list of lent texts (`k`).
macro_rules! own {
    (r $name:ident) => {
        $name.to_owned()
    };
    (o $name:ident) => {
        $name.cloned()
    };
    (c $name:ident) => {
        $name
    };
    (k $name:ident) => {
        $name.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>()
    };
}

macro_rules! again {
    (c $name:ident) => {
        $name
    };
    ($kind:ident $name:ident) => {
        $name.clone()
    };
}

macro_rules! lend {
    (r $name:ident) => {
        &$name
    };
    (o $name:ident) => {
        $name.as_ref()
    };
    (c $name:ident) => {
        $name
    };
    (k $name:ident) => {
        &$name.iter().map(String::as_str).collect::<Vec<&str>>()
    };
}

macro_rules! far {
    ($($trait:ident { $($plain:tt)* } calls {
        $($method:ident($($kind:ident $name:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for Far<S> {
            $($plain)*
            $(async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                $(let $name = own!($kind $name);)*
                let told = ($(again!($kind $name),)*);
                let inner = Arc::clone(&self.inner);
                let call = Call { part: self.part, method: stringify!($method) };
                let make = move || {
                    let inner = Arc::clone(&inner);
                    $(let $name = again!($kind $name);)*
                    async move { inner.$method($(lend!($kind $name)),*).await }
                };
                self.wire.send(&self.caller, call, &told, make).await
            })*
        }
    )+};
}

far! {
    Store {
        fn backend(&self) -> &'static str {
            self.inner.backend()
        }
    } calls {
        ping() -> Health;
        close() -> ();
        erase(r scope: &Scope, c below: Epoch) -> Erased;
    }
    ChatStore {} calls {
        append(r scope: &Scope, r session: &SessionId, r batch: &Append) -> Appended;
        restore(r scope: &Scope, r session: &SessionId, r rows: &[StoredMessage]) -> Appended;
        read(r scope: &Scope, r session: &SessionId, r page: &Page) -> Slice;
        get(r scope: &Scope, r ids: &[MessageId]) -> Found;
        sessions(r scope: &Scope, o after: Option<&SessionId>, c limit: usize) -> Vec<SessionState>;
        compact(r scope: &Scope, r session: &SessionId, r change: &Compaction) -> SessionState;
        redact(r scope: &Scope, r ids: &[MessageId]) -> Vec<Redacted>;
        delete(r scope: &Scope, r seen: &SessionState) -> u64;
    }
    RecordStore {} calls {
        put(r scope: &Scope, r batch: &RecordBatch) -> Vec<u64>;
        get(r scope: &Scope, r ids: &[RecordId]) -> Vec<StoredRecord>;
        scan(r scope: &Scope, r filter: &Filter, c after: Option<RecordId>, c limit: usize) -> Vec<StoredRecord>;
        touch(r scope: &Scope, r ids: &[RecordId], c at: Timestamp) -> ();
        fence(r scope: &Scope) -> Fence;
        advance(r scope: &Scope, c seen: Fence) -> Fence;
        delete(r scope: &Scope, r records: &[(RecordId, u64)]) -> u64;
        restore(r scope: &Scope, r rows: &[StoredRecord]) -> ();
    }
    Upkeep {} calls {
        enlist(r index: &IndexName, c incarnation: Option<Incarnation>, c limit: usize) -> bool;
        doubt(r index: &IndexName) -> ();
        revive(r index: &IndexName) -> u64;
        indexes() -> Vec<Enlisted>;
        retire(r index: &IndexName) -> ();
        pending(r index: &IndexName, c now: Timestamp, c limit: usize) -> Vec<Note>;
        settle(r index: &IndexName, r notes: &[(Note, Outcome)]) -> ();
        backlog(r index: &IndexName) -> Backlog;
        backlog_of(r scope: &Scope, r index: &IndexName) -> Backlog;
        sweep(c now: Timestamp, c limit: usize) -> u64;
        owners(o after: Option<&Scope>, c limit: usize) -> Vec<Scope>;
        bury(r scope: &Scope, c seen: Epoch) -> Epoch;
        epoch(r scope: &Scope) -> Epoch;
    }
    TextStore {
        fn analysis(&self) -> &str {
            self.inner.analysis()
        }
    } calls {
        incarnation() -> Incarnation;
        put(r scope: &Scope, r entries: &[TextEntry], c visibility: Visibility) -> Vec<Rejected>;
        flush() -> ();
        search(r scope: &Scope, r query: &TextQuery) -> TextHits;
        versions(r scope: &Scope, r items: &[ItemId]) -> Vec<(ItemId, Version)>;
        scan(r scope: &Scope, o after: Option<&ItemId>, c limit: usize) -> Vec<(ItemId, Version)>;
        delete(r scope: &Scope, r what: &Deletion) -> ();
    }
    VectorStore {
        fn space(&self) -> &EmbeddingSpace {
            self.inner.space()
        }
    } calls {
        incarnation() -> Incarnation;
        put(r scope: &Scope, r entries: &[VectorEntry], c visibility: Visibility) -> Vec<Rejected>;
        flush() -> ();
        search(r scope: &Scope, r query: &VectorQuery) -> Vec<VectorHit>;
        versions(r scope: &Scope, r items: &[ItemId]) -> Vec<(ItemId, Version)>;
        scan(r scope: &Scope, o after: Option<&ItemId>, c limit: usize) -> Vec<(ItemId, Version)>;
        delete(r scope: &Scope, r what: &Deletion) -> ();
    }
    Cache {} calls {
        get(r scope: &Scope, c epoch: Epoch, r key: &str) -> Option<Vec<u8>>;
        put(r scope: &Scope, c epoch: Epoch, r key: &str, r value: &[u8], c ttl: Duration) -> ();
        delete(r scope: &Scope, c epoch: Epoch, k keys: &[&str]) -> ();
        push(r scope: &Scope, c epoch: Epoch, r key: &str, r value: &[u8], c cap: usize, c ttl: Duration) -> ();
        tail(r scope: &Scope, c epoch: Epoch, r key: &str, c count: usize) -> Vec<Vec<u8>>;
    }
}
