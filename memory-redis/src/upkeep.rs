//! The upkeep of conversations. Notes lie with their owner, so that the script of a write makes them too; the place
//! keeps a list of owners that have some.

mod indexes;
mod pending;
mod walk;

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::time::Timestamp;

use crate::chat::RedisChat;
use crate::owner;

pub(crate) use indexes::step_back;
pub(crate) use walk::Walk;

#[async_trait]
impl Upkeep for RedisChat {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        indexes::enlist(&self.redis, index, incarnation, limit).await
    }

    async fn doubt(&self, index: &IndexName) -> Result<()> {
        indexes::doubt(&self.redis, index).await
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        indexes::indexes(&self.redis).await
    }

    async fn revive(&self, index: &IndexName) -> Result<u64> {
        pending::revive(&self.redis, index).await
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        indexes::retire(&self.redis, index).await
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        pending::pending(&self.redis, index, now, limit).await
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        pending::settle(&self.redis, index, notes).await
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        pending::backlog(&self.redis, index).await
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        pending::backlog_of(&self.redis, scope, index).await
    }

    /// Messages do not expire; owners that the lists lost are looked for instead.
    async fn sweep(&self, now: Timestamp, _limit: usize) -> Result<u64> {
        self.walk.step(&self.redis, now).await?;
        Ok(0)
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        owner::owners(&self.redis, after, limit).await
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        owner::bury(&self.redis, scope, seen).await
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        owner::epoch(&self.redis, scope).await
    }
}
