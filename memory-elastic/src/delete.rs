//! Deleting items, sessions and erased epochs, without the server's own deletion by query, which not every server has.

use std::collections::BTreeSet;

use memory_core::error::{Error, Result};
use memory_core::store::{Erased, ErasureLevel};
use memory_core::text::{Deletion, Visibility};
use memory_core::{Epoch, Scope};
use serde_json::{Value, json};

use crate::bulk::{Act, Bulk, Done, Operation};
use crate::document::{erasure, erasure_id, id_of, of_owner};
use crate::error::{Doing, Fault, garbled, stopped};
use crate::index::Index;
use crate::put::check_deleted;

const DELETE: &str = "delete entries";
const ERASE: &str = "erase the owner's index";

/// How many documents one pass deletes.
const PAGE: u64 = 5_000;

/// How many passes there are at the most: 500 million documents, or others that write without a pause.
const PASSES: usize = 100_000;

/// Deletes items; findable no longer when it returns.
pub(crate) async fn delete(index: &Index, scope: &Scope, what: &Deletion) -> Result<()> {
    let call = index.elastic.enter().await?;
    let (index, scope) = (index.clone(), scope.clone());
    let task = match what {
        Deletion::Items(items) => {
            let ids: BTreeSet<String> = items.iter().map(|item| id_of(&scope, item)).collect();
            if ids.is_empty() {
                return Ok(());
            }
            tokio::spawn(async move {
                let _call = call;
                delete_items(&index, &scope, ids).await
            })
        }
        Deletion::Session(session) => {
            let of_session = json!({ "term": { "held": session.key() } });
            tokio::spawn(async move {
                let _call = call;
                sweep(&index, &scope, &of_session, DELETE).await.map(|_| ())
            })
        }
    };
    task.await.map_err(|_| stopped(DELETE))?
}

async fn delete_items(index: &Index, scope: &Scope, ids: BTreeSet<String>) -> Result<()> {
    let operations: Vec<Operation> = ids.into_iter().map(|id| Operation { id, act: Act::Delete }).collect();
    let Done { outcomes, .. } = bulk(index, scope, Visibility::OnReturn, DELETE).run(&operations).await?;
    check_deleted(&outcomes, DELETE)
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

/// Stores below which epoch the owner is erased, unless that is a higher one already.
async fn bury(index: &Index, scope: &Scope, below: i64) -> Result<()> {
    let act = Act::Put { version: below, source: erasure(scope, below) };
    let operation = Operation { id: erasure_id(scope), act };
    let Done { outcomes, .. } = bulk(index, scope, Visibility::AfterFlush, ERASE).run(&[operation]).await?;
    // This document is never deleted, so that a conflict means a higher epoch.
    let failed = outcomes.iter().find(|outcome| !outcome.is_done() && !outcome.is_conflict());
    failed.map_or(Ok(()), |outcome| Err(outcome.error(ERASE).unwrap_or_else(|error| error)))
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
        let operations = deletes(&found).ok_or_else(|| garbled(doing))?;
        if operations.is_empty() {
            return Ok(removed);
        }
        let Done { outcomes, .. } = bulk(index, scope, Visibility::AfterFlush, doing).run(&operations).await?;
        check_deleted(&outcomes, doing)?;
        removed += outcomes.iter().filter(|outcome| outcome.is_done()).count() as u64;
    }
    Err(Fault::Answer { status: 409, kind: String::new(), after: None }).doing(doing)
}

/// Returns a deletion for each document found; none for an answer that is none.
fn deletes(found: &Value) -> Option<Vec<Operation>> {
    let total = found.pointer("/hits/total/value")?.as_u64()?;
    let hits = match found.pointer("/hits/hits") {
        Some(hits) => hits.as_array()?.as_slice(),
        None if total == 0 => &[],
        None => return None,
    };
    let delete = |hit: &Value| {
        let (seq_no, primary_term) = (hit.get("_seq_no")?.as_i64()?, hit.get("_primary_term")?.as_i64()?);
        Some(Operation { id: hit.get("_id")?.as_str()?.to_owned(), act: Act::DeleteIf { seq_no, primary_term } })
    };
    hits.iter().map(delete).collect()
}

fn bulk<'a>(index: &'a Index, scope: &'a Scope, visibility: Visibility, doing: &'static str) -> Bulk<'a> {
    Bulk { index, routing: scope.key(), visibility, guard: None, doing }
}
