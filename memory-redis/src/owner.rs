//! Owners: their epochs, their burial and their erasure.

use futures_util::future::try_join_all;
use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::{Erased, ErasureLevel};
use redis::{Value, cmd};

use crate::client::{Call, Redis, detached};
use crate::error::{damaged, pass_over};
use crate::keys::padded;
use crate::reply::{Reply, bytes, number};
use crate::script;

const ERASE: &str = "erase an owner";
const BURY: &str = "begin an erasure";
const EPOCH: &str = "read an epoch";
const OWNERS: &str = "list owners";

/// How many sessions one step of an erasure takes away, so that other callers have their turn.
const STEP: usize = 256;

/// How many owners are looked at together.
const PAGE: usize = 256;

/// Removes everything of `scope` written in an epoch before `below`, then counts what is left.
pub(crate) async fn erase(redis: &Redis, scope: &Scope, below: Epoch) -> Result<Erased> {
    below.check()?;
    let (redis, scope) = (redis.clone(), scope.clone());
    let work = async move {
        let mut removed = 0;
        loop {
            let call = Call::release(&script::ERASE, redis.keys().owner(&scope)).arg(padded(below)).number(STEP);
            let mut step = redis.change(&scope, call, ERASE).await?;
            removed += step.number()?;
            let remaining = step.number()?;
            if remaining == 0 {
                return Ok(Erased { removed, remaining, level: ErasureLevel::Logical });
            }
        }
    };
    detached(ERASE, work).await
}

/// Raises the owner's epoch above `seen` and notes the erasure for every index, unless that was done; returns the epoch.
pub(crate) async fn bury(redis: &Redis, scope: &Scope, seen: Epoch) -> Result<Epoch> {
    seen.check()?;
    let (redis, scope) = (redis.clone(), scope.clone());
    let work = async move {
        let call = Call::release(&script::BURY, redis.keys().owner(&scope)).arg(padded(seen));
        Ok(Epoch(redis.change(&scope, call, BURY).await?.number()?))
    };
    detached(BURY, work).await
}

/// Returns the owner's epoch; zero for an unknown one.
pub(crate) async fn epoch(redis: &Redis, scope: &Scope) -> Result<Epoch> {
    let epoch = redis.command(cmd("HGET").arg(redis.keys().owner(scope)).arg("epoch"), EPOCH).await?;
    let Some(epoch) = bytes(epoch)? else { return Ok(Epoch(0)) };
    let text = String::from_utf8(epoch).map_err(|_| damaged("an epoch is no number"))?;
    Ok(Epoch(number(&text)?))
}

/// Returns up to `count` owners after `after`, in the order of their keys.
pub(crate) async fn owners(redis: &Redis, after: Option<&Scope>, count: usize) -> Result<Vec<Scope>> {
    let mut found: Vec<Scope> = Vec::new();
    let mut after = after.cloned();
    while found.len() < count {
        let listed = listed(redis, after.as_ref(), PAGE).await?;
        let Some(last) = listed.last().cloned() else { break };
        after = Some(last);
        // An owner is listed before its first write, which may have come to nothing.
        let known = listed.iter().map(|scope| is_known(redis, scope));
        let known = try_join_all(known).await?;
        found.extend(listed.into_iter().zip(known).filter(|(_, is_known)| *is_known).map(|(scope, _)| scope));
    }
    found.truncate(count);
    Ok(found)
}

/// Returns up to `count` owners that something was written for, or nearly, after `after`; none if there are no more. A key that no
/// owner has holds up no others.
pub(crate) async fn listed(redis: &Redis, after: Option<&Scope>, count: usize) -> Result<Vec<Scope>> {
    let mut from = after.map_or_else(|| b"-".to_vec(), |after| behind(after.key().as_bytes()));
    loop {
        let mut range = cmd("ZRANGEBYLEX");
        range.arg(redis.keys().owners()).arg(from).arg("+").arg("LIMIT").arg(0).arg(count);
        let keys = Reply::open(redis.command(&range, OWNERS).await?)?.all_bytes()?;
        let owners: Vec<Scope> = keys.iter().flatten().filter_map(|key| owner_of(key)).collect();
        match keys.last() {
            Some(Some(last)) if owners.is_empty() => from = behind(last),
            _ => return Ok(owners),
        }
    }
}

/// Returns the bound of what is behind a member.
fn behind(member: &[u8]) -> Vec<u8> {
    [b"(".as_slice(), member].concat()
}

/// Returns the owner with this key; none if no owner has it.
pub(crate) fn owner_of(key: &[u8]) -> Option<Scope> {
    let owner = std::str::from_utf8(key).ok().and_then(|key| Scope::from_key(key).ok());
    if owner.is_none() {
        tracing::warn!("a key in a list of owners is passed over: no owner has it");
    }
    owner
}

async fn is_known(redis: &Redis, scope: &Scope) -> Result<bool> {
    let known = redis.command(cmd("HEXISTS").arg(redis.keys().owner(scope)).arg("indexes"), OWNERS).await;
    // Something is there, whatever it is.
    let known = pass_over(known, Value::Int(1))?;
    Ok(known == Value::Int(1) || known == Value::Boolean(true))
}
