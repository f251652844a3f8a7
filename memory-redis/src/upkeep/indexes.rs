//! Indexes that follow the conversations of a place.
//!
//! The place knows each by a token that is new with every enlistment, its incarnation, and how far all owners have been
//! told of it and have noted what they hold. An owner that is new learns of them with its first write: it is listed before
//! it reads the indexes, and an index is written before its owners are listed, so one of the two sees the other; an owner
//! that is told before its first write has that write look again.

use memory_core::error::Result;
use memory_core::scope::Scope;
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName};
use redis::{Value, cmd};
use uuid::Uuid;

use crate::client::{Call, Redis, detached, pairs};
use crate::error::{contended, damaged, pass_over};
use crate::keys::padded;
use crate::owner::{epoch, listed};
use crate::reply::bytes;
use crate::script;

const ENLIST: &str = "enlist an index";
const RETIRE: &str = "retire an index";
const FIND: &str = "find an index";
const DOUBT: &str = "doubt an index";
const LEAVE: &str = "leave the sessions of an erased owner";

/// How many owners are told together.
const PAGE: usize = 64;
/// How many sessions one script notes, so that other callers have their turn.
pub(super) const STEP: usize = 256;
/// How many owners one call comes to, whatever they have.
const OWNERS: usize = 256;
/// How often it is tried to change what others change too.
const TRIES: usize = 100;

/// What a place knows of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexState {
    /// The name of the lists in which owners keep its notes.
    pub(super) token: String,
    incarnation: Option<Incarnation>,
    progress: Progress,
}

/// How far what was stored before is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Progress {
    Done,
    /// Through this owner, and of the next one through this session; in the order of their keys.
    Walking {
        owner: String,
        next: Option<(String, String)>,
    },
}

impl IndexState {
    /// Returns whether all owners have been told of it.
    pub(super) fn is_noted(&self) -> bool {
        self.progress == Progress::Done
    }

    fn new(incarnation: Option<Incarnation>) -> Self {
        let progress = Progress::Walking { owner: String::new(), next: None };
        Self { token: Uuid::now_v7().simple().to_string(), incarnation, progress }
    }

    /// Neither keys of owners and sessions nor tokens hold blanks.
    fn text(&self) -> String {
        let incarnation = self.incarnation.map(|told| told.0.simple().to_string()).unwrap_or_default();
        let progress = match &self.progress {
            Progress::Done => "done".to_owned(),
            Progress::Walking { owner, next: None } => format!("walking {owner}"),
            Progress::Walking { owner, next: Some((next, session)) } => format!("walking {owner} {next} {session}"),
        };
        format!("{} {incarnation} {progress}", self.token)
    }

    fn read(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        let (token, incarnation, progress) = match *parts.as_slice() {
            // As an earlier version of this crate wrote it, which knew of no incarnations.
            [token, "done"] => (token, "", Progress::Done),
            [token, "walking"] => (token, "", Progress::Walking { owner: String::new(), next: None }),
            [token, told, "done"] => (token, told, Progress::Done),
            [token, told, "walking", owner] => (token, told, Progress::Walking { owner: owner.to_owned(), next: None }),
            [token, told, "walking", owner, next, session] => {
                let next = Some((next.to_owned(), session.to_owned()));
                (token, told, Progress::Walking { owner: owner.to_owned(), next })
            }
            _ => return Err(damaged("an index has no state")),
        };
        let incarnation = match incarnation {
            "" => None,
            told => Some(Incarnation(Uuid::parse_str(told).map_err(|_| damaged("an index has no state"))?)),
        };
        Ok(Self { token: token.to_owned(), incarnation, progress })
    }
}

/// Begins to keep notes for `index`, and notes some of what is stored. Returns whether all is noted.
pub(super) async fn enlist(redis: &Redis, index: &IndexName, told: Option<Incarnation>, limit: usize) -> Result<bool> {
    let (redis, index) = (redis.clone(), index.clone());
    let work = async move {
        let begun = begin(&redis, &index, told).await?;
        let mut state = begun.clone();
        let is_noted = note_some(&redis, &index, &mut state, limit).await?;
        if is_noted {
            state.progress = Progress::Done;
        }
        // Where another process went on meanwhile, what it has noted of it counts.
        let is_kept = state == begun || replace(&redis, &index, &begun, &state).await?;
        leave_erased(&redis, &state).await?;
        Ok(is_noted && is_kept)
    };
    detached(ENLIST, work).await
}

/// Returns the state of an index, new or begun anew where it is of another incarnation.
async fn begin(redis: &Redis, index: &IndexName, told: Option<Incarnation>) -> Result<IndexState> {
    let fresh = IndexState::new(told);
    let key = redis.keys().indexes();
    redis.command(cmd("HSETNX").arg(&key).arg(index.as_str()).arg(fresh.text()), ENLIST).await?;
    for _ in 0..TRIES {
        // Retired meanwhile, it is not enlisted again by this call.
        let Some(state) = find(redis, index).await? else {
            return Ok(IndexState { progress: Progress::Done, ..fresh });
        };
        if told.is_none() || told == state.incarnation {
            return Ok(state);
        }
        // The token stays, and with it the notes of what is gone.
        let anew = IndexState { token: state.token.clone(), ..IndexState::new(told) };
        if replace(redis, index, &state, &anew).await? {
            return Ok(anew);
        }
    }
    Err(contended(ENLIST))
}

/// Notes up to `limit` sessions, and moves the state on. Returns whether all are noted.
///
/// An owner that is damaged is passed over and not come back to: once it is mended, what it had before is noted when the index is
/// doubted and enlisted again.
async fn note_some(redis: &Redis, index: &IndexName, state: &mut IndexState, limit: usize) -> Result<bool> {
    let IndexState { token, incarnation: _, progress } = state;
    let Progress::Walking { owner: through, next } = progress else { return Ok(true) };
    let (mut rest, mut left) = (limit, OWNERS);
    loop {
        let after = if through.is_empty() { None } else { Some(scope_of(through)?) };
        let owners = listed(redis, after.as_ref(), PAGE).await?;
        if owners.is_empty() {
            return Ok(true);
        }
        for owner in owners {
            loop {
                if rest == 0 || left == 0 {
                    return Ok(false);
                }
                let after = next.take().filter(|(key, _)| key == owner.key()).map(|(_, session)| session);
                let noted = note_more(redis, &owner, (index, token), after, rest.min(STEP)).await;
                let (count, last) = pass_over(noted, (0, None))?;
                rest = rest.saturating_sub(count);
                let Some(last) = last else { break };
                *next = Some((owner.key().to_owned(), last));
            }
            (*through, *next) = (owner.key().to_owned(), None);
            left -= 1;
        }
    }
}

/// Lets an index, by its name and token, follow an owner, and notes up to `limit` sessions behind one. Returns how many
/// there were, and the last of them if there may be more.
pub(super) async fn note_more(
    redis: &Redis,
    owner: &Scope,
    (index, token): (&IndexName, &str),
    after: Option<String>,
    limit: usize,
) -> Result<(usize, Option<String>)> {
    let after = after.map_or_else(|| "-".to_owned(), |session| format!("({session}"));
    let call = Call::change(&script::ENLIST, redis.keys().owner(owner)).arg(index.as_str()).arg(token).arg(after);
    let mut reply = redis.change(owner, call.number(limit), ENLIST).await?;
    let (count, last) = (reply.number()?, reply.text()?);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok((count, (count >= limit).then_some(last)))
}

/// Lets an index no longer follow an owner.
pub(super) async fn leave(redis: &Redis, owner: &Scope, index: &str) -> Result<()> {
    redis.run(&Call::new(&script::RETIRE, redis.keys().owner(owner)).arg(index), RETIRE).await.map(drop)
}

fn scope_of(key: &str) -> Result<Scope> {
    Scope::from_key(key).map_err(|_| damaged("no owner has this key"))
}

/// Puts a state in the place of another; returns whether that was still there.
async fn replace(redis: &Redis, index: &IndexName, old: &IndexState, new: &IndexState) -> Result<bool> {
    let call = Call::new(&script::ENLISTED, redis.keys().indexes()).arg(index.as_str());
    Ok(redis.run(&call.arg(old.text()).arg(new.text()), ENLIST).await?.number()? == 1)
}

/// Takes the walks that are in the midst of an owner's sessions back to before the first, so that they name none that is erased.
pub(crate) async fn step_back(redis: &Redis, owner: &Scope) -> Result<()> {
    for _ in 0..TRIES {
        let told = redis.command(cmd("HGETALL").arg(redis.keys().indexes()), LEAVE).await?;
        let mut is_left = true;
        for (name, state) in pairs::<String>(told)? {
            // One that cannot be read holds up no erasure.
            let (Ok(name), Ok(state)) = (IndexName::new(&name), IndexState::read(&state)) else { continue };
            let Progress::Walking { owner: through, next: Some((next, _)) } = &state.progress else { continue };
            if next == owner.key() {
                let progress = Progress::Walking { owner: through.clone(), next: None };
                is_left &= replace(redis, &name, &state, &IndexState { progress, ..state.clone() }).await?;
            }
        }
        if is_left {
            return Ok(());
        }
    }
    Err(contended(LEAVE))
}

/// Steps back from a session that is not there any more. Its owner may have been erased after the walk came by, and before the name
/// stood where the erasure looks for it.
async fn leave_erased(redis: &Redis, state: &IndexState) -> Result<()> {
    let Progress::Walking { owner: _, next: Some((owner, session)) } = &state.progress else { return Ok(()) };
    let owner = scope_of(owner)?;
    let epoch = padded(epoch(redis, &owner).await?);
    let sessions = format!("{}:{epoch}:sessions", redis.keys().owner(&owner));
    let place = redis.command(cmd("ZSCORE").arg(sessions).arg(session.as_str()), LEAVE).await?;
    if place == Value::Nil { step_back(redis, &owner).await } else { Ok(()) }
}

/// Forgets in which incarnation `index` was enlisted.
pub(super) async fn doubt(redis: &Redis, index: &IndexName) -> Result<()> {
    for _ in 0..TRIES {
        let Some(state) = find(redis, index).await? else { return Ok(()) };
        let doubted = IndexState { incarnation: None, ..state.clone() };
        if state == doubted || replace(redis, index, &state, &doubted).await? {
            return Ok(());
        }
    }
    Err(contended(DOUBT))
}

/// Returns the indexes that follow, in the order of their names. One whose state cannot be read is as one in doubt, and can be
/// retired.
pub(super) async fn indexes(redis: &Redis) -> Result<Vec<Enlisted>> {
    let enlisted = |(name, state): (IndexName, Option<IndexState>)| {
        let is_noted = state.as_ref().is_some_and(IndexState::is_noted);
        Enlisted { name, incarnation: state.and_then(|state| state.incarnation), is_noted }
    };
    Ok(states(redis).await?.into_iter().map(enlisted).collect())
}

/// Returns what is known of each index, in the order of their names; none where that cannot be read. Neither that nor a name that
/// no index has holds up the others.
pub(super) async fn states(redis: &Redis) -> Result<Vec<(IndexName, Option<IndexState>)>> {
    let told = redis.command(cmd("HGETALL").arg(redis.keys().indexes()), FIND).await?;
    let mut states = Vec::new();
    for (name, state) in pairs::<String>(told)? {
        let Ok(name) = IndexName::new(&name) else {
            tracing::warn!("an index is passed over: no index has its name");
            continue;
        };
        let state = IndexState::read(&state);
        if let Err(error) = &state {
            tracing::warn!(%error, index = name.as_str(), "the state of an index cannot be read");
        }
        states.push((name, state.ok()));
    }
    states.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(states)
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
                pass_over(leave(&redis, owner, index.as_str()).await, ())?;
            }
            after = Some(last);
        }
    };
    detached(RETIRE, work).await
}

/// Returns what is known of an index; none for an unknown one.
pub(super) async fn find(redis: &Redis, index: &IndexName) -> Result<Option<IndexState>> {
    let state = redis.command(cmd("HGET").arg(redis.keys().indexes()).arg(index.as_str()), FIND).await?;
    let Some(state) = bytes(state)? else { return Ok(None) };
    let state = String::from_utf8(state).map_err(|_| damaged("an index has no state"))?;
    IndexState::read(&state).map(Some)
}
