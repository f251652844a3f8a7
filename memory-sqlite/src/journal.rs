//! The journal of write-behind, in a file of its own.
//!
//! Messages wait here until the primary has them. One task owns the file: it has the only connection, and commits together
//! what waits at the same time. Every entry has a checksum that each reading compares, and the file tells how many entries it
//! holds: damage is [`Error::Corrupt`](memory_core::Error::Corrupt), and never another message, or one less.
//!
//! Of one damage nothing is told: if the end of the log is damaged while no process has the journal open, and it was not closed,
//! that looks like a write that a loss of power cut off. So the log is short: it is moved into the file every four MiB, when
//! nothing has been asked for a second, and when the journal is closed. On a full disk it stays, until there is room.

mod aside;
mod config;
mod entry;
mod fault;
mod leaf;
mod ledger;
mod lock;
mod log;
mod open;
mod owner;
mod places;
mod recover;
mod truth;
mod whole;

use async_trait::async_trait;
use memory_core::Scope;
use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::store::Durability;
use memory_core::store::chat::{Append, Fence};
use memory_core::store::journal::{Journal, Queued, Rejection};

use entry::{Draft, Entry};
use owner::Owner;

pub use config::JournalConfig;
pub use recover::Recovered;

/// A journal in a file. Cheap to clone. One process has it at a time.
///
/// ```
/// use memory_sqlite::{JournalConfig, SqliteJournal};
///
/// # async fn example() -> memory_core::Result<()> {
/// use memory_core::store::journal::Journal as _;
///
/// let journal = SqliteJournal::connect(JournalConfig::new("journal.db")).await?;
/// for waiting in journal.queued(None, None, 10).await? {
///     println!("{} {}", waiting.number, waiting.session.name());
/// }
/// journal.close().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteJournal {
    owner: Owner,
    durability: Durability,
}

impl SqliteJournal {
    /// Opens the journal, makes its file if there is none, and reads every entry.
    ///
    /// # Errors
    /// `Unsupported` if another process has it, and for a database of something else; `Corrupt` if it is damaged: then
    /// [`SqliteJournal::recover`] saves what is whole; `Backend` if the file cannot be opened.
    pub async fn connect(config: JournalConfig) -> Result<Self> {
        let opened = open::open(config).await?;
        let durability = opened.durability;
        Ok(Self { owner: Owner::begin(opened), durability })
    }

    /// Saves the whole entries of a damaged journal into a new file at its path, and keeps the damaged file beside it. Changes
    /// nothing if the journal is whole.
    ///
    /// If the damage hides which database the messages are meant for, [`JournalConfig::with_truth`] has to name it.
    ///
    /// # Errors
    /// `Unsupported` if another process has it, and if nothing tells which database the messages are meant for; `Backend` if the
    /// new file cannot be written.
    pub async fn recover(config: JournalConfig) -> Result<Recovered> {
        recover::recover(config).await
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    fn durability(&self) -> Durability {
        self.durability
    }

    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        let drafts = Draft::encode(scope, session, batch);
        self.owner.ask("push messages", move |ledger| Box::pin(async move { ledger.push(drafts) })).await
    }

    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>> {
        let (scope, session) = (scope.cloned(), session.cloned());
        let work = self.owner.ask("read the queue", move |ledger| {
            Box::pin(async move { ledger.read(scope.as_ref(), session.as_ref(), false, limit).await })
        });
        Ok(work.await?.into_iter().map(Entry::queued).collect())
    }

    async fn acknowledge(&self, numbers: &[u64]) -> Result<()> {
        let numbers = numbers.to_vec();
        let work = self.owner.ask("acknowledge messages", move |ledger| {
            Box::pin(async move {
                ledger.acknowledge(&numbers);
                Ok(())
            })
        });
        work.await
    }

    async fn reject(&self, number: u64, why: &str) -> Result<()> {
        let why = why.to_owned();
        let work = self.owner.ask("reject a message", move |ledger| {
            Box::pin(async move {
                ledger.reject(number, why);
                Ok(())
            })
        });
        work.await
    }

    async fn rejected(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>> {
        let scope = scope.cloned();
        let work = self.owner.ask("read rejected messages", move |ledger| {
            Box::pin(async move { ledger.read(scope.as_ref(), None, true, limit).await })
        });
        Ok(work.await?.into_iter().map(Entry::rejection).collect())
    }

    async fn count_rejected(&self, scope: Option<&Scope>) -> Result<usize> {
        let scope = scope.cloned();
        let work = self.owner.ask("count rejected messages", move |ledger| {
            Box::pin(async move { Ok(ledger.count_rejected(scope.as_ref())) })
        });
        work.await
    }

    async fn revive(&self, revived: &[(u64, Option<Fence>)]) -> Result<()> {
        let revived = revived.to_vec();
        let work = self
            .owner
            .ask("revive rejected messages", move |ledger| Box::pin(async move { ledger.revive(&revived).await }));
        work.await
    }

    async fn discard(&self, numbers: &[u64]) -> Result<u64> {
        let numbers = numbers.to_vec();
        let work = self
            .owner
            .ask("discard rejected messages", move |ledger| Box::pin(async move { Ok(ledger.discard(&numbers)) }));
        work.await
    }

    async fn forget(&self, scope: &Scope, ids: &[MessageId]) -> Result<u64> {
        let (scope, ids) = (scope.clone(), ids.to_vec());
        let work = self.owner.ask("forget queued messages", move |ledger| {
            Box::pin(async move { Ok(ledger.erase(&scope, |_, id, _| ids.contains(&id))) })
        });
        work.await
    }

    async fn erase(&self, scope: &Scope, session: Option<&SessionId>, below: Fence) -> Result<u64> {
        let (scope, session) = (scope.clone(), session.cloned());
        let work = self.owner.ask("erase an owner's messages", move |ledger| {
            Box::pin(async move {
                Ok(ledger.erase(&scope, |of, _, fence| {
                    session.as_ref().is_none_or(|session| session == of) && fence.is_none_or(|fence| fence < below)
                }))
            })
        });
        work.await
    }

    async fn close(&self) -> Result<()> {
        self.owner.close().await
    }
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod full;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod torn;
