//! Deleting items, sessions and erased epochs, without the server's own deletion by query, which not every server has.

use std::collections::BTreeMap;

use memory_core::error::{Error, Result};
use memory_core::store::text::{Deletion, Visibility};
use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, ItemId, Scope, SessionId, Version};
use serde_json::{Value, json};

use crate::bulk::{Act, Bulk, Done, Operation};
use crate::document::{erasure, erasure_id, id_of, of_owner, pack_most, unpack};
use crate::error::{Doing, Fault, garbled, stopped};
use crate::index::Index;
use crate::put::check_deleted;

const DELETE: &str = "delete entries";
const ERASE: &str = "erase the owner's index";
const CLEAR: &str = "clear the owner's index";

/// How many documents one pass deletes.
const PAGE: u64 = 5_000;

/// How often documents are read that others change meanwhile.
const ROUNDS: usize = 50;

/// How many passes there are at the most: 500 million documents, or others that write without a pause.
const PASSES: usize = 100_000;

/// Deletes items; findable no longer when it returns.
pub(crate) async fn delete(index: &Index, scope: &Scope, what: &Deletion) -> Result<()> {
    let call = index.elastic.enter().await?;
    let (index, scope) = (index.clone(), scope.clone());
    let task = match what {
        Deletion::Items(items) => {
            let mut bounds: BTreeMap<String, i64> = BTreeMap::new();
            for (item, through) in items {
                let bound = bounds.entry(id_of(&scope, item)).or_default();
                *bound = pack_most(*through).max(*bound);
            }
            if bounds.is_empty() {
                return Ok(());
            }
            tokio::spawn(async move {
                let _call = call;
                delete_items(&index, &scope, bounds.into_iter().collect()).await
            })
        }
        Deletion::Session(session, through) => {
            let (session, through) = (session.clone(), pack_most(*through));
            tokio::spawn(async move {
                let _call = call;
                delete_session(&index, &scope, &session, through).await
            })
        }
    };
    task.await.map_err(|_| stopped(DELETE))?
}

/// Deletes documents that are not newer than their bounds.
///
/// The server keeps versions of its own, which are not always those of the entries: so the documents are read, and each is
/// deleted only as it was read. What somebody changed meanwhile is read again.
async fn delete_items(index: &Index, scope: &Scope, mut bounds: Vec<(String, i64)>) -> Result<()> {
    for _ in 0..ROUNDS {
        let ids: Vec<&str> = bounds.iter().map(|(id, _)| id.as_str()).collect();
        let stored = index.look(scope.key(), &ids, "version", DELETE).await?;
        let found = bounds.iter().zip(stored).filter_map(|(bound, stored)| Some((bound, stored?)));
        let old = found.filter(|((_, through), stored)| stored.number <= *through).map(|(bound, stored)| {
            let act = Act::DeleteIf { seq_no: stored.seq_no, primary_term: stored.primary_term };
            (bound.clone(), Operation { id: bound.0.clone(), act })
        });
        let (tried, operations): (Vec<_>, Vec<_>) = old.unzip();
        if operations.is_empty() {
            // What an earlier call has deleted may be findable yet.
            return index.refresh(DELETE).await;
        }
        let Done { outcomes, .. } = bulk(index, scope, Visibility::OnReturn, DELETE).run(&operations).await?;
        check_deleted(&outcomes, DELETE)?;
        let late = tried.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_conflict());
        bounds = late.map(|(bound, _)| bound).collect();
        if bounds.is_empty() {
            return Ok(());
        }
    }
    Err(Fault::Answer { status: 409, kind: String::new(), after: None }).doing(DELETE)
}

/// Deletes the messages and spans of a session that are not newer than `through`, until a search behind a refresh finds
/// none.
async fn delete_session(index: &Index, scope: &Scope, session: &SessionId, through: i64) -> Result<()> {
    for _ in 0..PASSES {
        index.refresh(DELETE).await?;
        let operations = of_session(index, scope, session, through).await?;
        if operations.is_empty() {
            return Ok(());
        }
        let Done { outcomes, .. } = bulk(index, scope, Visibility::AfterFlush, DELETE).run(&operations).await?;
        check_deleted(&outcomes, DELETE)?;
    }
    Err(Fault::Answer { status: 409, kind: String::new(), after: None }).doing(DELETE)
}

/// Returns a deletion for each document of a session that is not newer than `through`.
///
/// Versions are in no index of the server, so those of all the session's documents are read.
async fn of_session(index: &Index, scope: &Scope, session: &SessionId, through: i64) -> Result<Vec<Operation>> {
    let (mut operations, mut after) = (Vec::new(), None);
    loop {
        let mut body = json!({
            "size": PAGE,
            "_source": ["version"],
            "seq_no_primary_term": true,
            "sort": [{ "item": "asc" }],
            "query": { "bool": { "filter": [of_owner(scope), { "term": { "held": session.key() } }] } },
        });
        let is_first = after.is_none();
        if let (Some(after), Some(body)) = (after.take(), body.as_object_mut()) {
            body.insert("search_after".to_owned(), after);
        }
        let found = index.search(scope.key(), body, DELETE).await?;
        let page = hits(&found, is_first).ok_or_else(|| garbled(DELETE))?;
        for hit in page {
            let version = hit.pointer("/_source/version").and_then(Value::as_i64).ok_or_else(|| garbled(DELETE))?;
            if version <= through {
                operations.push(deletion(hit).ok_or_else(|| garbled(DELETE))?);
            }
        }
        let Some(last) = page.last().filter(|_| page.len() as u64 == PAGE) else { return Ok(operations) };
        after = Some(last.get("sort").cloned().ok_or_else(|| garbled(DELETE))?);
    }
}

/// Returns the versions of those of the items that are stored.
pub(crate) async fn versions(index: &Index, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
    let doing = "read versions";
    let _call = index.elastic.enter().await?;
    let ids: Vec<String> = items.iter().map(|item| id_of(scope, item)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let stored = index.look(scope.key(), &ids, "version", doing).await?;
    let found = items.iter().zip(stored).filter_map(|(item, stored)| Some((item, stored?)));
    Ok(found.map(|(item, stored)| (item.clone(), unpack(stored.number))).collect())
}

/// Notes below which epoch the owner is erased, then deletes until nothing older is left.
pub(crate) async fn erase(index: &Index, scope: &Scope, below: Epoch) -> Result<Erased> {
    let below = i64::try_from(below.0).map_err(|_| Error::invalid("the epoch is larger than this index can hold"))?;
    let call = index.elastic.enter().await?;
    let (index, scope) = (index.clone(), scope.clone());
    let task = tokio::spawn(async move {
        let _call = call;
        if below > 0 {
            bury(&index, &scope, below).await?;
        }
        let older = json!({ "range": { "epoch": { "lt": below } } });
        let removed = sweep(&index, &scope, &older, ERASE).await?;
        // The server merges files when it likes, so bytes of what was deleted may remain in them.
        Ok(Erased { removed, remaining: 0, level: ErasureLevel::Logical })
    });
    task.await.map_err(|_| stopped(ERASE))?
}

/// Deletes all entries of an owner, but not the document that says below which epoch it is erased.
pub(crate) async fn clear(index: &Index, scope: &Scope) -> Result<()> {
    // Not a task of its own: a call that was given up may not delete what is put afterwards.
    let _call = index.elastic.enter().await?;
    let others = json!({ "bool": { "must_not": { "ids": { "values": [erasure_id(scope)] } } } });
    sweep(index, scope, &others, CLEAR).await.map(|_| ())
}

/// Stores below which epoch the owner is erased, unless that is a higher one already.
async fn bury(index: &Index, scope: &Scope, below: i64) -> Result<()> {
    let act = Act::Put { version: below, source: erasure(scope, below) };
    let operation = Operation { id: erasure_id(scope), act };
    let Done { outcomes, .. } = bulk(index, scope, Visibility::AfterFlush, ERASE).run(&[operation]).await?;
    // This document is never deleted, so that a conflict means a higher epoch.
    let failed = outcomes.iter().find(|outcome| !outcome.is_done() && !outcome.is_conflict());
    failed.map_or(Ok(()), |outcome| Err(outcome.error(ERASE, None).unwrap_or_else(|error| error)))
}

/// Deletes the owner's documents that match until a search behind a refresh finds none; returns how many.
///
/// What is written meanwhile is found by the next pass, and a document that changed is left to it too.
async fn sweep(index: &Index, scope: &Scope, matching: &Value, doing: &'static str) -> Result<u64> {
    let body = json!({
        "size": PAGE,
        "_source": false,
        "seq_no_primary_term": true,
        "sort": ["_doc"],
        "query": { "bool": { "filter": [of_owner(scope), matching] } },
    });
    let mut removed = 0;
    for _ in 0..PASSES {
        index.refresh(doing).await?;
        let found = index.search(scope.key(), body.clone(), doing).await?;
        let operations: Option<Vec<Operation>> =
            hits(&found, true).and_then(|hits| hits.iter().map(deletion).collect());
        let operations = operations.ok_or_else(|| garbled(doing))?;
        if operations.is_empty() {
            return Ok(removed);
        }
        let Done { outcomes, .. } = bulk(index, scope, Visibility::AfterFlush, doing).run(&operations).await?;
        check_deleted(&outcomes, doing)?;
        removed += outcomes.iter().filter(|outcome| outcome.is_done()).count() as u64;
    }
    Err(Fault::Answer { status: 409, kind: String::new(), after: None }).doing(doing)
}

/// Returns the documents found; none for an answer that is none, or whose first page shows nothing of what it counts. Further pages
/// count what came before.
pub(crate) fn hits(found: &Value, is_first: bool) -> Option<&[Value]> {
    let total = found.pointer("/hits/total/value")?.as_u64()?;
    // What is empty is left out of an answer.
    let hits = found.pointer("/hits/hits").map_or(Some(&[][..]), |hits| hits.as_array().map(Vec::as_slice))?;
    let is_shown = total == 0 || !is_first || !hits.is_empty();
    is_shown.then_some(hits)
}

/// Returns the deletion of a document as it was found.
fn deletion(hit: &Value) -> Option<Operation> {
    let (seq_no, primary_term) = (hit.get("_seq_no")?.as_i64()?, hit.get("_primary_term")?.as_i64()?);
    Some(Operation { id: hit.get("_id")?.as_str()?.to_owned(), act: Act::DeleteIf { seq_no, primary_term } })
}

fn bulk<'a>(index: &'a Index, scope: &'a Scope, visibility: Visibility, doing: &'static str) -> Bulk<'a> {
    Bulk { index, routing: scope.key(), visibility, guard: None, doing }
}
