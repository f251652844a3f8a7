//! An entry of the journal as a row, and the checksum that every reading compares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::error::{Error, Result};
use memory_core::id::SessionId;
use memory_core::store::chat::{Append, Fence, NewMessage};
use memory_core::store::journal::{Queued, Rejection};
use memory_core::{CounterId, Digest, Epoch, Message, Scope};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::{BACKEND, Doing};
use crate::number::runs;

/// The columns of an entry.
macro_rules! columns {
    () => {
        "number, scope, session, epoch, generation, asked, tokens, counter, body, why, sum"
    };
}
pub(super) use columns;

/// A message as it is stored, before it has a number.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    pub(super) fence: Option<Fence>,
    asked: u64,
    pub(super) new: NewMessage,
    body: Vec<u8>,
    /// Over all of the above.
    pub(super) digest: Digest,
}

impl Draft {
    /// Encodes the messages of a batch.
    pub(super) fn encode(scope: &Scope, session: &SessionId, batch: &Append) -> Vec<Self> {
        let Append { fence, asked, messages } = batch;
        let draft = |new: &NewMessage| {
            let (scope, session) = (scope.clone(), session.clone());
            Self::of(scope, session, *fence, *asked, new.clone(), new.message.encode())
        };
        messages.iter().map(draft).collect()
    }

    fn of(scope: Scope, session: SessionId, fence: Option<Fence>, asked: u64, new: NewMessage, body: Vec<u8>) -> Self {
        let counted = Counted { asked, tokens: new.tokens, counter: new.counter };
        let digest = digest(scope.key(), session.key(), fence, counted, &body);
        Self { scope, session, fence, asked, new, body, digest }
    }

    /// Returns it with another fence.
    pub(super) fn with_fence(self, fence: Option<Fence>) -> Self {
        let Self { scope, session, fence: _, asked, new, body, digest: _ } = self;
        Self::of(scope, session, fence, asked, new, body)
    }

    /// Returns how many bytes it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        (self.body.len() + self.scope.key().len() + self.session.key().len() + 64) as u64
    }
}

/// What is counted of a message.
#[derive(Clone, Copy)]
struct Counted {
    asked: u64,
    tokens: u64,
    counter: CounterId,
}

fn digest(scope: &str, session: &str, fence: Option<Fence>, counted: Counted, body: &[u8]) -> Digest {
    let Counted { asked, tokens, counter } = counted;
    let fence = fence.map(|Fence { epoch, generation }| [epoch.0.to_le_bytes(), generation.to_le_bytes()].concat());
    let (asked, tokens, counter) = (asked.to_le_bytes(), tokens.to_le_bytes(), counter.0.to_le_bytes());
    let fence = fence.unwrap_or_default();
    Digest::of(&[scope.as_bytes(), session.as_bytes(), &fence, &asked, &tokens, &counter, body])
}

/// Returns the checksum of an entry.
pub(super) fn sum(number: u64, digest: Digest, why: Option<&str>) -> u128 {
    let is_rejected = [u8::from(why.is_some())];
    short(Digest::of(&[&number.to_le_bytes(), &digest.0, &is_rejected, why.unwrap_or_default().as_bytes()]))
}

/// Returns the checksum of what the entries are as a whole.
pub(super) fn sum_of_whole(last: u64, count: u64, mark: u128, truth: Option<&str>) -> u128 {
    let is_named = [u8::from(truth.is_some())];
    let truth = truth.unwrap_or_default().as_bytes();
    short(Digest::of(&[b"whole", &last.to_le_bytes(), &count.to_le_bytes(), &mark.to_le_bytes(), &is_named, truth]))
}

fn short(digest: Digest) -> u128 {
    digest.0.first_chunk().copied().map(u128::from_le_bytes).unwrap_or_default()
}

/// The [`columns`] of an entry as they were read.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) number: u64,
    pub(super) scope: &'a str,
    pub(super) session: &'a str,
    pub(super) epoch: Option<i64>,
    pub(super) generation: Option<i64>,
    pub(super) asked: i64,
    pub(super) tokens: i64,
    /// No number of a counter where the row is damaged.
    pub(super) counter: i64,
    pub(super) body: &'a [u8],
    pub(super) why: Option<&'a str>,
    pub(super) sum: &'a [u8],
}

/// An entry with its number.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) draft: Draft,
    pub(super) why: Option<String>,
    pub(super) sum: u128,
}

impl Entry {
    /// Returns a message that waits.
    pub(super) fn waiting(number: u64, draft: Draft) -> Self {
        let sum = sum(number, draft.digest, None);
        Self { number, draft, why: None, sum }
    }

    /// Reads a row of [`columns`].
    ///
    /// # Errors
    /// `Corrupt` if it is not as it was written.
    pub(super) fn read(row: &SqliteRow, doing: &'static str) -> Result<Self> {
        let count = |column: usize| row.try_get::<i64, _>(column).doing(doing);
        let perhaps = |column: usize| row.try_get::<Option<i64>, _>(column).doing(doing);
        Self::of(&Stored {
            number: count(0)?.cast_unsigned(),
            scope: row.try_get(1).doing(doing)?,
            session: row.try_get(2).doing(doing)?,
            epoch: perhaps(3)?,
            generation: perhaps(4)?,
            asked: count(5)?,
            tokens: count(6)?,
            counter: count(7)?,
            body: row.try_get(8).doing(doing)?,
            why: row.try_get(9).doing(doing)?,
            sum: row.try_get(10).doing(doing)?,
        })
    }

    /// Returns the entry that was stored.
    ///
    /// # Errors
    /// `Corrupt` if it does not match its checksum.
    pub(super) fn of(stored: &Stored<'_>) -> Result<Self> {
        let damaged = || Error::corrupt(BACKEND, "an entry of the journal is damaged");
        let Stored { number, scope, session, epoch, generation, asked, tokens, counter, body, why, sum: expected } =
            *stored;
        let fence = match (epoch.map(i64::cast_unsigned), generation.map(i64::cast_unsigned)) {
            (Some(epoch), Some(generation)) => Some(Fence { epoch: Epoch(epoch), generation }),
            (None, None) => None,
            _ => return Err(damaged()),
        };
        let (asked, tokens) = (asked.cast_unsigned(), tokens.cast_unsigned());
        let counter = CounterId(u32::try_from(counter).map_err(|_| damaged())?);
        let digest = digest(scope, session, fence, Counted { asked, tokens, counter }, body);
        let sum = sum(number, digest, why);
        if expected != sum.to_le_bytes() {
            return Err(damaged());
        }
        let (scope, session) = (Scope::from_key(scope)?, SessionId::from_key(session)?);
        let new = NewMessage { message: Arc::new(Message::decode(BACKEND, body)?), tokens, counter };
        let draft = Draft { scope, session, fence, asked, new, body: body.to_owned(), digest };
        Ok(Self { number, draft, why: why.map(str::to_owned), sum })
    }

    /// Returns the message as queued.
    pub(super) fn queued(self) -> Queued {
        let Self { number, draft, .. } = self;
        let Draft { scope, session, fence, asked, new, .. } = draft;
        Queued { number, scope, session, fence, asked, new }
    }

    /// Returns the message as rejected.
    pub(super) fn rejection(self) -> Rejection {
        let why = self.why.clone().unwrap_or_default();
        Rejection { queued: self.queued(), why }
    }
}

/// Inserts entries.
pub(super) async fn insert(connection: &mut SqliteConnection, entries: &[Entry]) -> sqlx::Result<()> {
    for some in runs(entries) {
        let mut query = sqlx::query(statement(some.len()));
        for Entry { number, draft, why, sum } in some {
            let Draft { scope, session, fence, asked, new, body, digest: _ } = draft;
            query = query.bind(number.cast_signed()).bind(scope.key()).bind(session.key());
            query = query.bind(fence.map(|fence| fence.epoch.0.cast_signed()));
            query = query.bind(fence.map(|fence| fence.generation.cast_signed()));
            query = query.bind(asked.cast_signed()).bind(new.tokens.cast_signed()).bind(i64::from(new.counter.0));
            query = query.bind(body.as_slice()).bind(why.as_deref()).bind(sum.to_le_bytes().to_vec());
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Returns the statement that inserts this many entries. Each is made once and kept forever, because [`runs`] have few lengths.
fn statement(entries: usize) -> &'static str {
    static TEXTS: Mutex<BTreeMap<usize, &'static str>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.entry(entries).or_insert_with(|| {
        let values = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"; entries].join(", ");
        format!(concat!("INSERT INTO entry (", columns!(), ") VALUES {}"), values).leak()
    })
}
