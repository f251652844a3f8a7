//! Enlisting and retiring indexes, in short steps that hold up no others for long.

use std::time::Duration;

use memory_core::error::Result;
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName};
use tokio::time::sleep;
use uuid::Uuid;

use crate::client::{Call, Postgres};
use crate::error::{Doing, late};
use crate::number::limit;
use crate::owner::Truth;

const ENLIST: &str = "enlist an index";

/// How many notes one step of retiring deletes at most.
const STEP: usize = 10_000;

/// How often enlisting and retiring try to begin while others write, and the pause between two tries.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long a try to retire waits for writers, while others wait behind it.
const WAIT: Duration = Duration::from_millis(20);
/// After so many tries each waits longer than the one before, by this much.
const SHORT_TRIES: u32 = 80;
const MORE: Duration = Duration::from_millis(50);

/// The row of an index: its name, its incarnation, and whether all items stored before are noted.
type Row = (String, Option<Uuid>, bool);

/// Begins to keep notes for `index`, and notes some stored items. Returns whether all are noted.
pub(crate) async fn enlist(
    server: &Postgres,
    truth: Truth,
    index: &IndexName,
    incarnation: Option<Incarnation>,
    count: usize,
) -> Result<bool> {
    let known = rows(server, truth, ENLIST).await?.into_iter().find(|(name, ..)| name == index.as_str());
    match known {
        Some((_, kept, is_noted)) if incarnation.is_none_or(|told| kept == Some(told.0)) => {
            if is_noted {
                return Ok(true);
            }
        }
        _ => begin(server, truth, index, incarnation).await?,
    }
    let step = server.run(Call::transaction(ENLIST).rows(count), index.clone(), move |connection, index| {
        Box::pin(async move {
            let step = sqlx::query_scalar("SELECT note_stored($1, $2, $3)").bind(truth.number());
            step.bind(index.as_str()).bind(limit(count)).fetch_one(connection).await.doing(ENLIST)
        })
    });
    step.await
}

/// Makes every later write note itself for `index`.
async fn begin(server: &Postgres, truth: Truth, index: &IndexName, incarnation: Option<Incarnation>) -> Result<()> {
    between_writers(ENLIST, |_| {
        let input = (index.clone(), incarnation.map(|told| told.0));
        server.run(Call::transaction(ENLIST), input, move |connection, (index, told)| {
            Box::pin(async move {
                let begin = sqlx::query_scalar("SELECT begin_enlisting($1, $2, $3)").bind(truth.number());
                begin.bind(index.as_str()).bind(told).fetch_one(connection).await.doing(ENLIST)
            })
        })
    })
    .await
}

/// Tries a step until no writer is in its way; late after 100 tries, which take less than a minute. The step gets the number of the
/// try. The step returns false if it would have to wait for long, because others would wait behind it.
async fn between_writers<F>(doing: &'static str, mut step: impl FnMut(u32) -> F) -> Result<()>
where
    F: Future<Output = Result<bool>>,
{
    for tried in 1..=TRIES {
        if step(tried).await? {
            return Ok(());
        }
        sleep(pause(tried)).await;
    }
    Err(late(doing))
}

fn pause(tried: u32) -> Duration {
    (PAUSE * tried).min(LONGEST_PAUSE)
}

/// Returns how long a try to retire waits: 20 ms, and up to a second in the last tries, because under load there may be no moment
/// without a writer.
fn wait(tried: u32) -> Duration {
    WAIT.max(MORE * tried.saturating_sub(SHORT_TRIES))
}

/// Forgets the incarnation of `index`.
pub(crate) async fn doubt(server: &Postgres, truth: Truth, index: &IndexName) -> Result<()> {
    let doing = "doubt an index";
    let doubt = server.run(Call::statement(doing), index.clone(), move |connection, index| {
        Box::pin(async move {
            let sql = "UPDATE enlisted SET incarnation = NULL WHERE truth = $1 AND name = $2";
            let doubt = sqlx::query(sql).bind(truth.number()).bind(index.as_str());
            doubt.execute(connection).await.doing(doing).map(|_| ())
        })
    });
    doubt.await
}

/// Returns the enlisted indexes, in the order of their names. A name that no index has holds up no others.
pub(crate) async fn indexes(server: &Postgres, truth: Truth) -> Result<Vec<Enlisted>> {
    let mut enlisted = Vec::new();
    for (name, incarnation, is_noted) in rows(server, truth, "list indexes").await? {
        match IndexName::new(&name) {
            Ok(name) => enlisted.push(Enlisted { name, incarnation: incarnation.map(Incarnation), is_noted }),
            Err(_) => tracing::warn!("a row of the list of indexes is passed over: no index has its name"),
        }
    }
    Ok(enlisted)
}

async fn rows(server: &Postgres, truth: Truth, doing: &'static str) -> Result<Vec<Row>> {
    let rows = server.run(Call::statement(doing), (), move |connection, ()| {
        Box::pin(async move {
            let sql = "SELECT name, incarnation, is_noted FROM enlisted WHERE truth = $1 ORDER BY name";
            sqlx::query_as(sql).bind(truth.number()).fetch_all(connection).await.doing(doing)
        })
    });
    rows.await
}

/// Makes the dead notes of `index` due again, and returns how many there were.
pub(crate) async fn revive(server: &Postgres, truth: Truth, index: &IndexName) -> Result<u64> {
    let doing = "revive notes";
    let revived = server.run(Call::statement(doing).rows(usize::MAX), index.clone(), move |connection, index| {
        Box::pin(async move {
            let sql = "UPDATE note SET dead = false, attempts = 0, due = -9223372036854775808, why = NULL, \
                 stamp = nextval('note_number'), place = nextval('note_number') \
                 WHERE dead AND enlisted = (SELECT id FROM enlisted WHERE truth = $1 AND name = $2)";
            let revive = sqlx::query(sql).bind(truth.number()).bind(index.as_str());
            Ok(revive.execute(connection).await.doing(doing)?.rows_affected())
        })
    });
    revived.await
}

/// Drops `index` with its notes. Late if writers leave no room for it for most of a minute.
pub(crate) async fn retire(server: &Postgres, truth: Truth, index: &IndexName) -> Result<()> {
    let doing = "retire an index";
    between_writers(doing, |tried| {
        let wait = i64::try_from(wait(tried).as_millis()).unwrap_or(i64::MAX);
        server.run(Call::transaction(doing), index.clone(), move |connection, index| {
            Box::pin(async move {
                let begin = sqlx::query_scalar("SELECT begin_retiring($1, $2, $3)").bind(truth.number());
                begin.bind(index.as_str()).bind(wait).fetch_one(connection).await.doing(doing)
            })
        })
    })
    .await?;
    loop {
        let step = server.run(Call::transaction(doing).rows(STEP), (), move |connection, ()| {
            Box::pin(async move {
                let step = sqlx::query_scalar("SELECT drop_retired($1)").bind(limit(STEP));
                step.fetch_one(connection).await.doing(doing)
            })
        });
        if !step.await? {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retiring_waits_longer_in_the_end_and_for_less_than_a_minute_in_all() {
        assert_eq!([1, SHORT_TRIES, TRIES].map(wait), [20, 20, 1_000].map(Duration::from_millis));
        let all: Duration = (1..=TRIES).map(|tried| wait(tried) + pause(tried)).sum();
        assert!(Duration::from_secs(45) < all && all < Duration::from_secs(55), "{all:?}");
    }
}
