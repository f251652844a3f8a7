//! Choosing the best candidates that match a filter.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use memory_core::posting::{Candidate, take_best};
use memory_core::{Fields, Filter, ItemId, Result, Scope};
use sqlx::postgres::PgConnection;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::error::{Attempt, BACKEND, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::index::{corrupt, key};
use crate::statement::statement;

/// An item that is a hit.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) candidate: Candidate,
    pub(super) item: ItemId,
    pub(super) fields: Fields,
}

/// An owner in the state that a search has read.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchedOwner<'s> {
    pub(super) scope: &'s Scope,
    pub(super) owner: i64,
    /// The owner's next number; it has changed if anything was written meanwhile.
    pub(super) next: i64,
}

/// Returns the `limit` best candidates that match: highest score first, ties by newer `at`, then by item. Returns none if the
/// owner's index was written meanwhile, so that the items read here may not belong to the candidates.
///
/// Most filters let most items pass, so the best candidates are tested first. If too few of them match, the filter is resolved
/// once into the set of all matching items. So a selective filter costs one scan and never shortens the answer.
pub(super) async fn best(
    connection: &mut PgConnection,
    state: SearchedOwner<'_>,
    filter: &Filter,
    limit: usize,
    candidates: Vec<Candidate>,
) -> Attempt<Option<Vec<Chosen>>> {
    let mut heap = BinaryHeap::from(candidates);
    let spare = if *filter == Filter::All { 0 } else { limit.saturating_add(32) };
    let first = take_best(&mut heap, limit.saturating_add(spare));
    let Some(mut chosen) = matching(connection, state, filter, &first).await? else { return Ok(None) };
    if chosen.len() < limit && !heap.is_empty() {
        let Some(passing) = resolve(connection, state, filter).await? else { return Ok(None) };
        heap.retain(|candidate| passing.contains(&candidate.item));
        let rest = take_best(&mut heap, limit - chosen.len());
        let Some(rest) = matching(connection, state, &Filter::All, &rest).await? else { return Ok(None) };
        chosen.extend(rest);
    }
    chosen.truncate(limit);
    Ok(Some(chosen))
}

/// Returns those of the candidates that match, in order.
async fn matching(
    connection: &mut PgConnection,
    state: SearchedOwner<'_>,
    filter: &Filter,
    candidates: &[Candidate],
) -> Attempt<Option<Vec<Chosen>>> {
    let doing = "read the items";
    if candidates.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let ids: Vec<_> = candidates.iter().map(|candidate| candidate.item).collect();
    let mut sql = select(state, "item.id, item.item, item.fields", Some(&ids), filter)?;
    let rows = sql.build().fetch_all(connection).await.doing(doing)?;
    let Some(first) = rows.first() else { return Ok(None) };
    if first.try_get::<i64, _>("next").doing(doing)? != state.next {
        return Ok(None);
    }
    let mut found = HashMap::new();
    for row in &rows {
        if let Some(id) = row.try_get::<Option<i64>, _>("id").doing(doing)? {
            found.insert(id, row);
        }
    }
    let mut chosen = Vec::with_capacity(found.len());
    for candidate in candidates {
        let Some(row) = found.get(&candidate.item) else { continue };
        let item = key::decode(row.try_get("item").doing(doing)?)?;
        let fields = Fields::decode(BACKEND, row.try_get("fields").doing(doing)?)?;
        chosen.push(Chosen { candidate: *candidate, item, fields });
    }
    if *filter == Filter::All && chosen.len() < candidates.len() {
        return Err(corrupt("a search finds an item that is not there").into());
    }
    chosen.sort_by(|a, b| Reverse(a.candidate).cmp(&Reverse(b.candidate)).then_with(|| a.item.cmp(&b.item)));
    Ok(Some(chosen))
}

/// Returns the numbers of all items that match.
async fn resolve(
    connection: &mut PgConnection,
    state: SearchedOwner<'_>,
    filter: &Filter,
) -> Attempt<Option<HashSet<i64>>> {
    let mut sql = select(state, "item.id", None, filter)?;
    let rows: Vec<(i64, Option<i64>)> = sql.build_query_as().fetch_all(connection).await.doing("filter the items")?;
    let is_same = rows.first().is_some_and(|(next, _)| *next == state.next);
    Ok(is_same.then(|| rows.into_iter().filter_map(|(_, id)| id).collect()))
}

/// Returns the statement that reads the items of an owner that match, of these numbers or of all, beside the owner's next
/// number.
///
/// Names the owner for row-level security too. Limits and offsets keep the parts in this order: what stands behind them
/// is never planned into the rest, and needs its answers.
fn select(
    state: SearchedOwner<'_>,
    columns: &'static str,
    ids: Option<&[i64]>,
    filter: &Filter,
) -> Result<QueryBuilder<Postgres>> {
    let SearchedOwner { scope, owner, next: _ } = state;
    let text = "WITH shown AS MATERIALIZED (SELECT set_config('memory.scope', {scope}, true) AS scope) \
         SELECT mine.next, item.* FROM shown CROSS JOIN LATERAL (SELECT id, next FROM index_owner \
         WHERE scope = shown.scope AND id = {owner} AND NOT buried LIMIT 1) AS mine LEFT JOIN LATERAL \
         (SELECT {columns} FROM text_item AS item WHERE item.scope = {scope} AND item.owner = mine.id {among} \
         AND {filter} OFFSET 0) AS item ON true";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(scope.key().to_owned()),
            "owner" => sql.push_bind(owner),
            "columns" => sql.push(columns),
            "among" => match ids {
                Some(ids) => sql.push("AND item.id = ANY (").push_bind(ids.to_vec()).push(")"),
                None => sql,
            },
            _ => return push_filter(sql, FilteredTable::Index, filter),
        };
        Ok(())
    })
}
