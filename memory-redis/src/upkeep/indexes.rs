//! Indexes that follow the conversations of a place.
//!
//! The place knows each by a token that is new with every enlistment, and whether all owners have been told of it. An
//! owner that is new learns of them with its first write: it is listed before it reads the indexes, and an index is
//! written before its owners are listed, so one of the two sees the other.

use memory_core::error::Result;
use memory_core::scope::Scope;
use memory_core::upkeep::IndexName;
use redis::cmd;
use uuid::Uuid;

use crate::client::{Call, Redis, detached};
use crate::error::damaged;
use crate::owner::listed;
use crate::reply::bytes;
use crate::script;

const ENLIST: &str = "enlist an index";
const RETIRE: &str = "retire an index";
const FIND: &str = "find an index";

/// How many owners are told together.
const PAGE: usize = 64;

/// Begins to keep notes for `index`, and notes everything that is stored; nothing if it is known.
pub(super) async fn enlist(redis: &Redis, index: &IndexName) -> Result<()> {
    let (redis, index) = (redis.clone(), index.clone());
    let work = async move {
        let fresh = format!("{} walking", Uuid::now_v7().simple());
        let key = redis.keys().indexes();
        redis.command(cmd("HSETNX").arg(&key).arg(index.as_str()).arg(fresh), ENLIST).await?;
        // An enlistment that was cut off is taken up again.
        let Some((token, false)) = find(&redis, &index).await? else { return Ok(()) };
        let mut after: Option<Scope> = None;
        loop {
            let owners = listed(&redis, after.as_ref(), PAGE).await?;
            let Some(last) = owners.last().cloned() else { break };
            for owner in &owners {
                let call = Call::change(&script::ENLIST, redis.keys().owner(owner));
                redis.change(owner, call.arg(index.as_str()).arg(token.as_str()), ENLIST).await?;
            }
            after = Some(last);
        }
        let done = Call::new(&script::ENLISTED, key).arg(index.as_str()).arg(token);
        redis.run(&done, ENLIST).await.map(drop)
    };
    detached(ENLIST, work).await
}

/// Drops `index` with its notes.
pub(super) async fn retire(redis: &Redis, index: &IndexName) -> Result<()> {
    let (redis, index) = (redis.clone(), index.clone());
    let work = async move {
        redis.command(cmd("HDEL").arg(redis.keys().indexes()).arg(index.as_str()), RETIRE).await?;
        let mut after: Option<Scope> = None;
        loop {
            let owners = listed(&redis, after.as_ref(), PAGE).await?;
            let Some(last) = owners.last().cloned() else { return Ok(()) };
            for owner in &owners {
                let call = Call::new(&script::RETIRE, redis.keys().owner(owner)).arg(index.as_str());
                redis.run(&call, RETIRE).await?;
            }
            after = Some(last);
        }
    };
    detached(RETIRE, work).await
}

/// Returns the token of an index, and whether all owners know it; none for an unknown one.
pub(super) async fn find(redis: &Redis, index: &IndexName) -> Result<Option<(String, bool)>> {
    let state = redis.command(cmd("HGET").arg(redis.keys().indexes()).arg(index.as_str()), FIND).await?;
    let Some(state) = bytes(state)? else { return Ok(None) };
    let state = String::from_utf8(state).map_err(|_| damaged("an index has no state"))?;
    let (token, state) = state.split_once(' ').ok_or_else(|| damaged("an index has no state"))?;
    Ok(Some((token.to_owned(), state == "done")))
}
