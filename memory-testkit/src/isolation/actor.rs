//! An actor: it makes the random calls of one owner on one store.

use async_trait::async_trait;

use crate::Scene;
use crate::generate::Random;

/// Makes the calls of one owner on one store, and knows what each has to answer.
#[async_trait]
pub(super) trait Actor: Send {
    /// Makes one random call and compares its answer.
    async fn step(&mut self, random: &mut Random) -> Scene;

    /// Compares everything that the owner has with what he has to have.
    async fn audit(&mut self) -> Scene;

    /// Erases the owner from the store.
    async fn erase(&mut self) -> Scene;
}
