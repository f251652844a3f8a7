//! Walks through all owners, a few pages with each call, and lists owners again that the lists have lost.
//!
//! An owner and the lists lie on different nodes of a cluster. A failover may lose what was put on a list last, while the
//! owner has it that he was put there. The server keeps how far the walk is, so that short processes go on with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use memory_core::error::{Error, Result};
use memory_core::scope::Scope;
use memory_core::store::upkeep::IndexName;
use memory_core::time::Timestamp;
use redis::{FromRedisValue, Value, cmd, from_redis_value};

use super::indexes::{self, IndexState};
use crate::client::{Call, Redis, detached};
use crate::error::damaged;
use crate::script;

const WALK: &str = "look for owners that no list names";

/// How many keys the server passes over for one answer.
const COUNT: usize = 1_000;
/// How many answers one call asks each master for.
const PAGES: usize = 10;
/// How long after one step the next one is made.
const PAUSE: Duration = Duration::from_secs(1);

/// When the last step was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    last: Arc<Mutex<Option<Timestamp>>>,
}

impl Walk {
    /// Goes on with the walk, unless that was done a moment ago.
    pub(super) async fn step(&self, redis: &Redis, now: Timestamp) -> Result<()> {
        if self.is_due(now) {
            let redis = redis.clone();
            detached(WALK, async move { step(&redis).await }).await?;
        }
        Ok(())
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let rests = last.is_some_and(|last| last <= now && last.checked_add(PAUSE).is_ok_and(|next| now < next));
        if !rests {
            *last = Some(now);
        }
        !rests
    }
}

async fn step(redis: &Redis) -> Result<()> {
    let key = redis.keys().walked();
    // An owner that cannot be seen to holds up no other.
    let mut first: Option<Error> = None;
    for master in redis.masters(WALK).await? {
        let begun = redis.command(cmd("HGET").arg(&key).arg(master.slot), WALK).await?;
        let mut cursor = read::<Option<u64>>(begun)?.unwrap_or(0);
        for _ in 0..PAGES {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(redis.keys().any_owner()).arg("COUNT").arg(COUNT);
            let (next, keys) = read::<(u64, Vec<Vec<u8>>)>(redis.command_to(master, &scan, WALK).await?)?;
            let owners: Vec<Scope> = keys.iter().filter_map(|key| redis.keys().owner_of(key)).collect();
            if let Err(error) = find_again(redis, owners).await {
                first = first.or(Some(error));
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        redis.command(cmd("HSET").arg(&key).arg(master.slot).arg(cursor), WALK).await?;
    }
    first.map_or(Ok(()), Err)
}

/// What an owner has of the lists.
struct Kept {
    /// The indexes that follow him, by name and token.
    entries: Vec<(String, String)>,
    /// Whether he takes it that he is listed as one with notes.
    is_dirty: bool,
}

/// Puts those of `owners` that something was written for on the lists that they are to be on.
async fn find_again(redis: &Redis, owners: Vec<Scope>) -> Result<()> {
    if owners.is_empty() {
        return Ok(());
    }
    // Owners first: a writer lists an owner before he writes him.
    let kept = join_all(owners.iter().map(|owner| kept(redis, owner))).await;
    let places = indexes::states(redis).await?;
    let listed = are_on(redis, &redis.keys().owners(), &owners).await?;
    let noted = are_on(redis, &redis.keys().noted(), &owners).await?;
    let mut first: Option<Error> = None;
    for (((owner, kept), is_listed), is_noted) in owners.iter().zip(kept).zip(listed).zip(noted) {
        if let Err(error) = list(redis, owner, kept, &places, (is_listed, is_noted)).await {
            first = first.or(Some(error));
        }
    }
    first.map_or(Ok(()), Err)
}

/// Reads what an owner has of the lists; none if nothing was written for him.
async fn kept(redis: &Redis, owner: &Scope) -> Result<Option<Kept>> {
    let fields = cmd("HMGET").arg(redis.keys().owner(owner)).arg("indexes").arg("dirty").take();
    let (indexes, dirty) = read::<(Option<String>, Option<String>)>(redis.command(&fields, WALK).await?)?;
    let Some(indexes) = indexes else { return Ok(None) };
    let entry = |entry: &str| entry.rsplit_once('=').map(|(name, token)| (name.to_owned(), token.to_owned()));
    Ok(Some(Kept { entries: indexes.split_whitespace().filter_map(entry).collect(), is_dirty: dirty.is_some() }))
}

/// Returns those of `owners` that are members of a sorted set.
async fn are_on(redis: &Redis, key: &str, owners: &[Scope]) -> Result<Vec<bool>> {
    let scores = cmd("ZMSCORE").arg(key).arg(owners.iter().map(Scope::key).collect::<Vec<_>>()).take();
    let scores = read::<Vec<Option<f64>>>(redis.command(&scores, WALK).await?)?;
    Ok(scores.into_iter().map(|score| score.is_some()).collect())
}

/// Puts an owner on the lists that do not have him, and tells him the indexes of the place first.
async fn list(
    redis: &Redis,
    owner: &Scope,
    kept: Result<Option<Kept>>,
    places: &[(IndexName, Option<IndexState>)],
    (is_listed, is_noted): (bool, bool),
) -> Result<()> {
    let Some(Kept { entries, is_dirty }) = kept? else { return Ok(()) };
    // What was retired may have passed him over, or he was told of it meanwhile: whatever he has of it goes.
    for (name, _) in entries.iter().filter(|(name, _)| !places.iter().any(|(place, _)| place.as_str() == name)) {
        indexes::leave(redis, owner, name).await?;
    }
    let known = places.iter().filter_map(|(name, state)| Some((name, state.as_ref()?)));
    let mut told: Vec<(&IndexName, &IndexState)> = known.collect();
    if is_listed {
        // Where an index is still being enlisted, its turn comes.
        told.retain(|(name, state)| {
            let follows = entries.iter().any(|(known, token)| known == name.as_str() && *token == state.token);
            state.is_noted() && !follows
        });
    }
    tell(redis, owner, told).await?;
    if !is_listed {
        redis.command(cmd("ZADD").arg(redis.keys().owners()).arg(0).arg(owner.key()), WALK).await?;
    }
    if is_dirty && !is_noted {
        redis.run(&Call::new(&script::LIST, redis.keys().noted()).arg(owner.key()).arg("-"), WALK).await?;
    }
    Ok(())
}

/// Lets indexes follow an owner, and notes all of him for each.
async fn tell(redis: &Redis, owner: &Scope, places: Vec<(&IndexName, &IndexState)>) -> Result<()> {
    for (name, state) in places {
        let mut after = None;
        while let Some(last) = indexes::note_more(redis, owner, (name, &state.token), after, indexes::STEP).await?.1 {
            after = Some(last);
        }
        // Retired meanwhile, it may have passed the owner before he was told.
        if indexes::find(redis, name).await?.is_none_or(|now| now.token != state.token) {
            indexes::leave(redis, owner, name.as_str()).await?;
        }
    }
    Ok(())
}

fn read<T: FromRedisValue>(value: Value) -> Result<T> {
    from_redis_value(value).map_err(|_| damaged("an answer has another shape"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_made_once_a_second_and_whenever_the_clock_went_back() {
        let walk = Walk::default();
        let second = 1_000_000;
        let table = [(5, true), (5, false), (5 + second - 1, false), (5 + second, true), (4, true), (i64::MAX, true)];
        for (now, is_due) in table {
            assert_eq!(walk.is_due(Timestamp(now)), is_due, "{now}");
        }
    }
}
