//! The state that the clones of a database share.

use std::sync::Arc;

use memory_core::outlive::Awaited;
use memory_core::recent::Recent;

use super::rest::Rest;
use super::settings::Server;
use crate::config::PostgresConfig;

/// An open database: its connections, and its server's settings when last read.
pub(super) struct Shared {
    pub(super) config: PostgresConfig,
    pub(super) rest: Arc<Rest>,
    /// The calls that run where they are awaited.
    pub(super) awaited: Awaited,
    pub(super) server: Recent<Server>,
}
