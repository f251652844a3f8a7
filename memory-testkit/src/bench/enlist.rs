//! How long writers wait while an index is enlisted over many records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::store::upkeep::{Incarnation, IndexName};
use memory_core::time::Stopwatch;
use memory_core::{Message, Record, RecordId, Result, Role, Scope, SessionId, Timestamp, Truth};
use uuid::Uuid;

use super::{Outcome, say};

/// How many owners there are; each has as many records as the others, and one more owner has half of all.
const OWNERS: usize = 100;
/// How many items a step of upkeep notes.
const STEP: usize = 500;
/// How many calls are measured while nothing is enlisted.
const ALONE: usize = 500;

/// Stores `count` records, then appends messages and puts records while an index is enlisted over all that is stored.
///
/// # Errors
/// The first error of a store.
pub async fn enlisting(chat: &Truth<dyn ChatStore>, records: &Truth<dyn RecordStore>, count: usize) -> Outcome<()> {
    let tenant = Uuid::now_v7().to_string();
    let scopes = (0..=OWNERS).map(|owner| Scope::new(&tenant, &owner.to_string())).collect::<Result<Vec<_>>>()?;
    let watch = Stopwatch::start();
    for (number, scope) in scopes.iter().enumerate() {
        let mine = if number == OWNERS { count / 2 } else { count / 2 / OWNERS };
        for first in (0..mine).step_by(1_000) {
            records.store().put(scope, &batch(first..mine.min(first + 1_000))).await?;
        }
    }
    say(&format!("{count} records of {} owners, stored in {:.0} s", scopes.len(), watch.elapsed().as_secs_f64()));
    let index = IndexName::new(&format!("text/{tenant}"))?;
    let (told, is_over) = (Some(Incarnation::draw()), Arc::new(AtomicBool::new(false)));
    tell("alone: append", appends(chat, &scopes, |calls| calls < ALONE).await?);
    tell("alone: put of a record", puts(records, &scopes, |calls| calls < ALONE).await?);
    let over = Arc::clone(&is_over);
    let enlist = async {
        let (watch, mut steps) = (Stopwatch::start(), 0);
        for upkeep in [chat.upkeep(), records.upkeep()] {
            while !upkeep.enlist(&index, told, STEP).await? {
                steps += 1;
            }
        }
        over.store(true, Ordering::SeqCst);
        Ok::<_, memory_core::Error>((watch.elapsed(), steps))
    };
    let goes_on = |_| !is_over.load(Ordering::SeqCst);
    let (enlisted, appended, put) =
        tokio::try_join!(enlist, appends(chat, &scopes, goes_on), puts(records, &scopes, goes_on))?;
    let (took, steps) = enlisted;
    tell("meanwhile: append", appended);
    tell("meanwhile: put of a record", put);
    let noted = records.upkeep().backlog(&index).await?.pending;
    say(&format!("enlisted in {:.1} s and {steps} steps; {noted} records are noted", took.as_secs_f64()));
    for upkeep in [chat.upkeep(), records.upkeep()] {
        upkeep.retire(&index).await?;
    }
    Ok(())
}

fn batch(numbers: std::ops::Range<usize>) -> RecordBatch {
    let put = |number: usize| {
        let id = RecordId(Uuid::from_u64_pair(1, number as u64 + 1));
        let record =
            Record { id, ..Record::new("fact", format!("the rose number {number} is called Aurora"), Timestamp(1)) };
        Put { record: Arc::new(record), expect: Expect::Anything }
    };
    RecordBatch { fence: None, puts: numbers.map(put).collect() }
}

/// Appends messages to a session of each owner in turn while `goes_on`, and returns what each took.
async fn appends(
    chat: &Truth<dyn ChatStore>,
    scopes: &[Scope],
    goes_on: impl Fn(usize) -> bool,
) -> Result<Vec<Duration>> {
    let (session, mut took) = (SessionId::new("talk")?, Vec::new());
    for scope in scopes.iter().cycle() {
        if !goes_on(took.len()) {
            break;
        }
        let message = Message::new(Role::User, "the boiler was mended by Otto", Timestamp(1));
        let watch = Stopwatch::start();
        chat.store().append(scope, &session, &Append::new(vec![NewMessage::sized(message, 8)])).await?;
        took.push(watch.elapsed());
    }
    Ok(took)
}

/// Puts new records of each owner in turn while `goes_on`, and returns what each took.
async fn puts(
    records: &Truth<dyn RecordStore>,
    scopes: &[Scope],
    goes_on: impl Fn(usize) -> bool,
) -> Result<Vec<Duration>> {
    let mut took = Vec::new();
    for scope in scopes.iter().cycle() {
        if !goes_on(took.len()) {
            break;
        }
        let record = Record { id: RecordId(Uuid::now_v7()), ..Record::new("fact", "another rose", Timestamp(1)) };
        let puts = vec![Put { record: Arc::new(record), expect: Expect::Absent }];
        let watch = Stopwatch::start();
        records.store().put(scope, &RecordBatch { fence: None, puts }).await?;
        took.push(watch.elapsed());
    }
    Ok(took)
}

fn tell(name: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |hundredth: usize| {
        let place = (took.len() * hundredth / 100).min(took.len().saturating_sub(1));
        took.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    let (median, p99, greatest, calls) = (at(50), at(99), at(100), took.len());
    say(&format!(
        "{name:<28} median {median:>7.1} ms   p99 {p99:>7.1} ms   greatest {greatest:>7.1} ms   {calls} calls"
    ));
}
