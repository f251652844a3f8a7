//! The scripts: each runs on the server as one step that nothing interleaves.

use std::sync::OnceLock;

/// The largest number that scripts know exactly.
pub(crate) const LARGEST: u64 = 1 << 53;

/// A script with the name that the server knows it by.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) source: &'static str,
    hash: OnceLock<String>,
}

impl Script {
    const fn new(source: &'static str) -> Self {
        Self { source, hash: OnceLock::new() }
    }

    /// Returns the name that the server knows the script by, once it has seen it.
    pub(crate) fn hash(&self) -> &str {
        self.hash.get_or_init(|| redis::Script::new(self.source).get_hash().to_owned())
    }
}

/// Declares scripts by their files; what they have in common stands before them.
macro_rules! scripts {
    ($($name:ident = $($file:literal)*;)*) => {
        $(pub(crate) static $name: Script = Script::new(concat!($(include_str!(concat!("scripts/", $file)), "\n"),*));)*
    };
}

scripts! {
    APPEND = "owner.lua" "notes.lua" "session.lua" "append.lua";
    BACKLOG = "owner.lua" "notes.lua" "backlog.lua";
    BOARD_DELETE = "board.lua" "board_delete.lua";
    BOARD_ERASE = "board.lua" "board_erase.lua";
    BOARD_GET = "full.lua" "board.lua" "board_get.lua";
    BOARD_PUT = "board.lua" "board_put.lua";
    BOARD_READ = "board.lua" "board_read.lua";
    BOARD_STATS = "board.lua" "board_stats.lua";
    BOARD_SWEEP = "board.lua" "board_sweep.lua";
    BOARD_USE = "full.lua" "board.lua" "board_use.lua";
    BURY = "full.lua" "owner.lua" "notes.lua" "bury.lua";
    CACHE_DELETE = "cache_delete.lua";
    CACHE_ERASE = "full.lua" "cache_erase.lua";
    CACHE_PUSH = "cache.lua" "cache_push.lua";
    CACHE_PUT = "cache.lua" "cache_put.lua";
    CACHE_TAIL = "cache_tail.lua";
    CLEAR = "owner.lua" "session.lua" "clear.lua";
    DELETE = "full.lua" "owner.lua" "notes.lua" "session.lua" "delete.lua";
    ENLIST = "owner.lua" "notes.lua" "enlist.lua";
    ENLISTED = "full.lua" "enlisted.lua";
    ERASE = "full.lua" "owner.lua" "notes.lua" "session.lua" "erase.lua";
    FOLD = "owner.lua" "session.lua" "change.lua" "fold.lua";
    GET = "owner.lua" "session.lua" "get.lua";
    IDLE = "owner.lua" "idle.lua";
    LIST = "full.lua" "list.lua";
    PENDING = "full.lua" "owner.lua" "notes.lua" "pending.lua";
    READ = "owner.lua" "session.lua" "read.lua";
    REDACT = "full.lua" "owner.lua" "notes.lua" "session.lua" "change.lua" "redact.lua";
    RESTORE = "owner.lua" "notes.lua" "session.lua" "restore.lua";
    RETIRE = "full.lua" "owner.lua" "notes.lua" "retire.lua";
    REVIVE = "owner.lua" "notes.lua" "revive.lua";
    SESSIONS = "owner.lua" "session.lua" "sessions.lua";
    SETTLE = "full.lua" "owner.lua" "notes.lua" "settle.lua";
    UNFOLD = "owner.lua" "session.lua" "change.lua" "unfold.lua";
    UNLIST = "unlist.lua";
}
