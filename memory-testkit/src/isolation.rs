//! Nobody reads, changes or erases what is not his: random calls of many owners, each compared with a model of its own.
//!
//! A case is one call with its check. A store in this process gets 1,000,000 cases, any other 20,000, spread over the
//! scenarios; `MEMORY_TEST_CASES` sets another number.

mod actor;
mod boards;
mod caches;
mod journals;
mod messages;
mod openers;
mod owner;
mod records;
mod texts;
mod together;
mod vectors;

use memory_core::store::Durability;

use crate::bed::{Boards, Caches, Chat, Journals, Records, Subject, Texts, Vectors};
use crate::{Bed, Boxed, Scenario, Scene, environment};

use actor::Cast;

pub(crate) use openers::Openers;

/// The stores of one backend, opened over one setting.
#[derive(Clone, Default)]
pub struct Stores {
    /// The conversations.
    pub chat: Option<Chat>,
    /// The records.
    pub records: Option<Records>,
    /// The text index.
    pub text: Option<Texts>,
    /// The vector index.
    pub vectors: Option<Vectors>,
    /// The cache.
    pub cache: Option<Caches>,
    /// The blackboard.
    pub blackboard: Option<Boards>,
    /// The journal.
    pub journal: Option<Journals>,
}

/// Returns the scenarios of isolation, one for each kind of store and those of all stores together.
pub fn table() -> Vec<Scenario<Stores>> {
    [
        messages::TABLE,
        records::TABLE,
        texts::TABLE,
        vectors::TABLE,
        caches::TABLE,
        boards::TABLE,
        journals::TABLE,
        together::TABLE,
    ]
    .concat()
}

/// Returns the scenarios for the stores that are given.
pub(crate) fn table_of(given: &Openers) -> Vec<Scenario<Stores>> {
    let Openers { chat, records, text, vectors, cache, blackboard, journal } = given;
    let groups = [
        (chat.is_some(), messages::TABLE),
        (records.is_some(), records::TABLE),
        (text.is_some(), texts::TABLE),
        (vectors.is_some(), vectors::TABLE),
        (cache.is_some(), caches::TABLE),
        (blackboard.is_some(), boards::TABLE),
        (journal.is_some(), journals::TABLE),
    ];
    let given: Vec<_> = groups.into_iter().filter(|(is_given, _)| *is_given).map(|(_, table)| table).collect();
    let together = if given.is_empty() { &[] } else { together::TABLE };
    [given.concat().as_slice(), together].concat()
}

/// Owners of a run.
const OWNERS: usize = 64;

/// Plays one scenario's part of the cases with a cast of these stores for each of 64 owners with hostile names, all
/// owners at once.
async fn play(bed: &Bed<Stores>, stores: Stores) -> Scene {
    let all = match bed.durability {
        Durability::Volatile => 1_000_000,
        Durability::Queued | Durability::Committed => 20_000,
    };
    let scenarios = bed.store.count() + 1;
    let cases = environment::cases().unwrap_or(all) / scenarios / OWNERS;
    let casts = Cast::of_owners(&stores, &bed.tenant, bed.seed, OWNERS)?;
    crate::crowd::together(casts.into_iter().map(|mut cast| async move { cast.play(cases).await })).await
}

impl Stores {
    fn count(&self) -> usize {
        let Self { chat, records, text, vectors, cache, blackboard, journal } = self;
        let indexes = usize::from(text.is_some()) + usize::from(vectors.is_some());
        let truth = usize::from(chat.is_some()) + usize::from(records.is_some());
        let rest = [cache.is_some(), blackboard.is_some(), journal.is_some()];
        truth + indexes + rest.into_iter().filter(|is_given| *is_given).count()
    }
}

impl Subject for Stores {
    fn health(&self) -> Boxed<'_, memory_core::Result<memory_core::store::Health>> {
        let Self { chat, records, text, vectors, cache, blackboard, journal } = self;
        let asked = chat.as_ref().map(Subject::health);
        let asked = asked.or_else(|| records.as_ref().map(Subject::health));
        let asked = asked.or_else(|| text.as_ref().map(Subject::health));
        let asked = asked.or_else(|| vectors.as_ref().map(Subject::health));
        let asked = asked.or_else(|| cache.as_ref().map(Subject::health));
        let asked = asked.or_else(|| blackboard.as_ref().map(Subject::health));
        let asked = asked.or_else(|| journal.as_ref().map(Subject::health));
        asked.unwrap_or_else(|| Box::pin(async { Err(memory_core::Error::invalid("no store is given")) }))
    }

    fn close(&self) -> Boxed<'_, memory_core::Result<()>> {
        let Self { chat, records, text, vectors, cache, blackboard, journal } = self;
        let truth = [chat.as_ref().map(Subject::close), records.as_ref().map(Subject::close)];
        let indexes = [text.as_ref().map(Subject::close), vectors.as_ref().map(Subject::close)];
        let rest = [cache.as_ref().map(Subject::close), blackboard.as_ref().map(Subject::close)];
        let all = [truth, indexes, rest, [journal.as_ref().map(Subject::close), None]];
        Box::pin(async move {
            for closing in all.into_iter().flatten().flatten() {
                closing.await?;
            }
            Ok(())
        })
    }
}
