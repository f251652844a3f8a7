//! Notes: found over all owners that have some, and settled.

use std::collections::BTreeMap;

use futures_util::future::{join_all, try_join_all};
use memory_core::error::{Error, Result};
use memory_core::id::{Seq, SessionId};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, IndexName, Note, Outcome, Target, latest_due, legible};
use memory_core::time::Timestamp;
use redis::cmd;

use super::indexes::{IndexState, find};
use crate::client::{Call, Redis, detached, pairs};
use crate::error::{damaged, pass_over};
use crate::owner::owner_of;
use crate::reply::number;
use crate::script;

const PENDING: &str = "read notes";
const SETTLE: &str = "settle notes";
const REVIVE: &str = "revive notes";
const BACKLOG: &str = "count notes";

/// How many owners are asked together.
const PAGE: usize = 64;

/// The microseconds are the first digits of a note's place.
const MICROS: usize = 18;

/// An owner that has notes, or had some, and when it was listed.
struct Listed {
    scope: Scope,
    score: String,
}

/// When a note is due, and its place among those that are due alike. Due at once sorts first.
type Due = (Option<i64>, String);

/// Returns up to `limit` notes of `index` that are due at `now`, those due longest first.
pub(super) async fn pending(redis: &Redis, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let Some(IndexState { token, .. }) = find(redis, index).await? else { return Ok(Vec::new()) };
    let mut found: Vec<(Due, Note)> = Vec::new();
    let mut idle: Vec<Listed> = Vec::new();
    // Notes that cannot be read hold up no other.
    let mut illegible: Option<Error> = None;
    let mut after = "-inf".to_owned();
    loop {
        let (owners, last) = listed(redis, &after).await?;
        let Some(last) = last else { break };
        after = format!("({last}");
        let begun = number(&last).unwrap_or(u64::MAX);
        let asked = owners.iter().map(|owner| ask(redis, &owner.scope, &token, now, limit));
        for (owner, answer) in owners.iter().zip(join_all(asked).await) {
            let Answer { notes, illegible: unread, has_any } = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    illegible = illegible.or(Some(error));
                    continue;
                }
            };
            illegible = illegible.or(unread);
            found.extend(notes);
            if !has_any {
                idle.push(Listed { scope: owner.scope.clone(), score: owner.score.clone() });
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.truncate(limit);
        // An owner's notes are not older than its place on the list, so whoever comes later has none that is due longer.
        let is_older = |((due, place), _): &(Due, Note)| {
            due.is_none()
                && place.get(..MICROS).and_then(|micros| micros.parse().ok()).is_some_and(|at: u64| at < begun)
        };
        if found.len() >= limit && found.last().is_some_and(is_older) {
            break;
        }
    }
    for owner in idle {
        unlist(redis, &owner).await?;
    }
    legible(found.into_iter().map(|(_, note)| Ok(note)).chain(illegible.map(Err)))
}

/// Returns some owners on the list, after a score, and the score behind which it goes on; none if there are no more. A key that no
/// owner has holds up no others.
async fn listed(redis: &Redis, after: &str) -> Result<(Vec<Listed>, Option<String>)> {
    let mut range = cmd("ZRANGEBYSCORE");
    range.arg(redis.keys().noted()).arg(after).arg("+inf").arg("WITHSCORES").arg("LIMIT").arg(0).arg(PAGE);
    // By the newer protocol, each entry is a list of its own, and scores are numbers.
    let entries: Vec<(Vec<u8>, String)> = pairs(redis.command(&range, PENDING).await?)?;
    let last = entries.last().map(|(_, score)| score.clone());
    let entry = |(key, score): (Vec<u8>, String)| Some(Listed { scope: owner_of(&key)?, score });
    Ok((entries.into_iter().filter_map(entry).collect(), last))
}

/// What an owner has for an index.
struct Answer {
    notes: Vec<(Due, Note)>,
    /// Why some of the notes cannot be read.
    illegible: Option<Error>,
    /// Whether he has any note for any index.
    has_any: bool,
}

/// Returns up to `limit` notes of an owner that are due. Where some cannot be read, the ones behind them take their places.
async fn ask(redis: &Redis, scope: &Scope, token: &str, now: Timestamp, limit: usize) -> Result<Answer> {
    let mut wanted = limit;
    loop {
        let asked = (wanted as u64).min(script::LARGEST);
        let call = Call::new(&script::PENDING, redis.keys().owner(scope)).arg(token);
        let call = call.number(now.0).number(latest_due(now).0).number(asked);
        let mut reply = redis.run(&call, PENDING).await?;
        let (entries, rows) = (reply.list()?.texts()?, reply.list()?.all_bytes()?);
        let (mut notes, mut illegible) = (Vec::new(), None);
        for (entry, row) in entries.iter().zip(rows) {
            match note(scope, entry, row) {
                Ok(note) => notes.push(note),
                Err(error) => illegible = illegible.or(Some(error)),
            }
        }
        if illegible.is_none() || notes.len() >= limit || entries.len() < wanted {
            notes.truncate(limit);
            return Ok(Answer { notes, illegible, has_any: reply.number()? > 0 });
        }
        wanted = wanted.saturating_mul(2);
    }
}

/// Takes an owner without notes off the list, unless a writer is about to note something.
async fn unlist(redis: &Redis, owner: &Listed) -> Result<()> {
    let idle = Call::new(&script::IDLE, redis.keys().owner(&owner.scope));
    if redis.run(&idle, PENDING).await?.number()? > 0 {
        let call = Call::new(&script::UNLIST, redis.keys().noted());
        redis.run(&call.arg(owner.scope.key()).arg(owner.score.as_str()), PENDING).await?;
    }
    Ok(())
}

fn note(scope: &Scope, entry: &str, row: Option<Vec<u8>>) -> Result<(Due, Note)> {
    let odd = || damaged("a note has another shape");
    let row = row.and_then(|row| String::from_utf8(row).ok()).ok_or_else(odd)?;
    let (place, target) = entry.split_once(' ').ok_or_else(odd)?;
    let mut parts = row.split(' ');
    let mut part = || parts.next().ok_or_else(odd);
    let note = Note {
        scope: scope.clone(),
        target: read_target(target)?,
        epoch: Epoch(number(part()?)?),
        from: Seq(number(part()?)?),
        upto: Seq(number(part()?)?),
        stamp: number(part()?)?,
        attempts: u32::try_from(number(part()?)?).unwrap_or(u32::MAX),
        gone: part()? == "1",
    };
    let due = match part()? {
        "-inf" => None,
        due => Some(due.parse().map_err(|_| odd())?),
    };
    Ok(((due, place.to_owned()), note))
}

fn read_target(text: &str) -> Result<Target> {
    match text.split_at_checked(1) {
        Some(("s", key)) => {
            SessionId::from_key(key).map(Target::Messages).map_err(|_| damaged("no session has this key"))
        }
        Some(("o", "")) => Ok(Target::Owner),
        _ => Err(damaged("a note names nothing that can be")),
    }
}

fn target(target: &Target) -> Option<String> {
    match target {
        Target::Messages(session) => Some(format!("s{}", session.key())),
        Target::Owner => Some("o".to_owned()),
        Target::Record(_) => None,
    }
}

/// Takes in the outcomes of notes whose targets have not changed since they were read.
pub(super) async fn settle(redis: &Redis, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let (redis, index, notes) = (redis.clone(), index.clone(), notes.to_vec());
    let work = async move {
        let Some(IndexState { token, .. }) = find(&redis, &index).await? else { return Ok(()) };
        let mut calls: BTreeMap<Scope, Call> = BTreeMap::new();
        for (note, outcome) in &notes {
            let Some(target) = target(&note.target) else { continue };
            let call = calls
                .remove(&note.scope)
                .unwrap_or_else(|| Call::new(&script::SETTLE, redis.keys().owner(&note.scope)).arg(token.as_str()));
            let call = call.arg(target).number(note.stamp).number(note.upto.0).number(note.attempts);
            let call = match outcome {
                Outcome::Done { through } => call.arg("done").number(through.0),
                Outcome::Retry { at, why: _ } => call.arg("retry").number(at.0),
                Outcome::Dead { why: _ } => call.arg("dead").arg("-"),
            };
            calls.insert(note.scope.clone(), call);
        }
        // All of them, whatever becomes of one.
        let settled = join_all(calls.values().map(|call| redis.run(call, SETTLE))).await;
        settled.into_iter().collect::<Result<Vec<_>>>().map(drop)
    };
    detached(SETTLE, work).await
}

/// Makes the notes of `index` that were given up due again, and returns how many there were.
pub(super) async fn revive(redis: &Redis, index: &IndexName) -> Result<u64> {
    let (redis, index) = (redis.clone(), index.clone());
    let work = async move {
        let Some(IndexState { token, .. }) = find(&redis, &index).await? else { return Ok(0) };
        let (mut revived, mut after) = (0, "-inf".to_owned());
        loop {
            let (owners, last) = listed(&redis, &after).await?;
            let Some(last) = last else { return Ok(revived) };
            after = format!("({last}");
            let calls = owners.iter().map(|owner| async {
                let call = Call::new(&script::REVIVE, redis.keys().owner(&owner.scope)).arg(token.as_str());
                pass_over(redis.run(&call, REVIVE).await.and_then(|mut reply| reply.number()), 0)
            });
            revived += try_join_all(calls).await?.into_iter().sum::<u64>();
        }
    };
    detached(REVIVE, work).await
}

/// Returns how far `index` is behind.
pub(super) async fn backlog(redis: &Redis, index: &IndexName) -> Result<Backlog> {
    let Some(IndexState { token, .. }) = find(redis, index).await? else { return Ok(Backlog::default()) };
    let mut backlog = Backlog::default();
    let mut after = "-inf".to_owned();
    loop {
        let (owners, last) = listed(redis, &after).await?;
        let Some(last) = last else { return Ok(backlog) };
        after = format!("({last}");
        for one in join_all(owners.iter().map(|owner| count(redis, &owner.scope, &token))).await {
            let one = pass_over(one, Backlog::default())?;
            backlog.pending += one.pending;
            backlog.dead += one.dead;
        }
    }
}

/// Returns how far `index` is behind for one owner.
pub(super) async fn backlog_of(redis: &Redis, scope: &Scope, index: &IndexName) -> Result<Backlog> {
    let Some(IndexState { token, .. }) = find(redis, index).await? else { return Ok(Backlog::default()) };
    count(redis, scope, &token).await
}

/// Counts an owner's notes for the index with this token.
async fn count(redis: &Redis, scope: &Scope, token: &str) -> Result<Backlog> {
    let call = Call::new(&script::BACKLOG, redis.keys().owner(scope)).arg(token);
    let mut reply = redis.run(&call, BACKLOG).await?;
    let (pending, all): (u64, u64) = (reply.number()?, reply.number()?);
    Ok(Backlog { pending, dead: all.saturating_sub(pending) })
}
