//! The actors of an owner, one for each store, and a run of many owners.

use memory_core::store::Durability;

use super::actor::Actor;
use super::boards::BoardActor;
use super::caches::CacheActor;
use super::journals::JournalActor;
use super::messages::MessageActor;
use super::owner::Owner;
use super::records::RecordActor;
use super::stores::Stores;
use super::texts::TextActor;
use super::vectors::VectorActor;
use crate::crowd::together;
use crate::generate::{self, Random};
use crate::{Bed, Failure, Scene, environment};

/// Owners of a run.
const OWNERS: usize = 64;

/// Plays one scenario's part of the cases with a cast of these stores for each of 64 owners with hostile names, all
/// owners at once.
pub(super) async fn play(bed: &Bed<Stores>, stores: Stores) -> Scene {
    let all = match bed.durability {
        Durability::Volatile => 1_000_000,
        Durability::Queued | Durability::Committed => 20_000,
    };
    let scenarios = bed.store.count() + 1;
    let cases = environment::cases().unwrap_or(all) / scenarios / OWNERS;
    let casts = Cast::of_owners(&stores, &bed.tenant, bed.seed, OWNERS)?;
    together(casts.into_iter().map(|mut cast| async move { cast.play(cases).await })).await
}

/// The actors of one owner.
pub(super) struct Cast {
    actors: Vec<Box<dyn Actor>>,
    random: Random,
}

impl Cast {
    /// Returns a cast for each of `count` owners with hostile names.
    pub(super) fn of_owners(stores: &Stores, tenant: &str, seed: u64, count: usize) -> Result<Vec<Self>, Failure> {
        let scopes = generate::owners(&mut Random::new(seed), tenant, count)?;
        let owners = scopes.into_iter().enumerate().map(|(number, scope)| Owner::new(scope, number, count));
        Ok(owners
            .enumerate()
            .map(|(number, owner)| {
                let random = Random::new(seed.wrapping_add(number as u64).wrapping_mul(0x9e37_79b9));
                Self { actors: actors(stores, &owner), random }
            })
            .collect())
    }

    /// Makes random calls on all stores, in turns with the other owners.
    pub(super) async fn play(&mut self, calls: usize) -> Scene {
        for _ in 0..calls {
            let place = self.random.below(self.actors.len());
            if let Some(actor) = self.actors.get_mut(place) {
                actor.step(&mut self.random).await?;
            }
            // A store in this process never waits: without this, one owner would have done before the next begins.
            tokio::task::yield_now().await;
        }
        self.audit().await
    }

    pub(super) async fn audit(&mut self) -> Scene {
        for actor in &mut self.actors {
            actor.audit().await?;
        }
        Ok(())
    }

    pub(super) async fn erase(&mut self) -> Scene {
        for actor in &mut self.actors {
            actor.erase().await?;
        }
        Ok(())
    }
}

fn actors(stores: &Stores, owner: &Owner) -> Vec<Box<dyn Actor>> {
    let Stores { chat, records, text, vectors, cache, blackboard, journal, is_behind: _ } = stores.clone();
    let mut actors: Vec<Box<dyn Actor>> = Vec::new();
    if let Some(store) = chat {
        actors.push(Box::new(MessageActor::new(store, owner.clone())));
    }
    if let Some(store) = records {
        actors.push(Box::new(RecordActor::new(store, owner.clone())));
    }
    if let Some(store) = text {
        actors.push(Box::new(TextActor::new(store, owner.clone())));
    }
    if let Some(store) = vectors {
        actors.push(Box::new(VectorActor::new(store, owner.clone())));
    }
    if let Some(store) = cache {
        actors.push(Box::new(CacheActor::new(store, owner.clone())));
    }
    if let Some(store) = blackboard {
        actors.push(Box::new(BoardActor::new(store, owner.clone())));
    }
    if let Some(store) = journal {
        actors.push(Box::new(JournalActor::new(store, owner.clone())));
    }
    actors
}
