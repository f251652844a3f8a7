//! Choosing the best candidates that match a filter.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use memory_core::posting::{Candidate, take_best};
use memory_core::{Fields, Filter, ItemId, Result};
use sqlx::SqliteConnection;

use super::corrupt;
use super::key::read_key;
use super::rows::{Packed, json_numbers};
use crate::error::{BACKEND, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::statement::statement;

/// Reads items by number, packed into one row. The fields of most are made of their columns, as [`Fields::encode`] would.
pub(crate) const ITEMS: &str = "WITH found (id, item, fields) AS MATERIALIZED (\
     SELECT item.id, item.item, CAST(coalesce(item.fields, json_object('v', 1, \
     'unit', CASE item.unit WHEN 0 THEN 'message' WHEN 1 THEN 'record' ELSE 'span' END, \
     'session', (SELECT session.name FROM index_session AS session WHERE session.id = item.session), 'seq', item.seq, \
     'role', CASE item.role WHEN 0 THEN 'system' WHEN 1 THEN 'developer' WHEN 2 THEN 'user' WHEN 3 THEN 'assistant' \
     WHEN 4 THEN 'tool' WHEN 5 THEN 'function' END, 'speaker', item.speaker, 'kind', item.kind, \
     'trust', CASE item.trust WHEN 0 THEN 'untrusted' WHEN 1 THEN 'tool' WHEN 2 THEN 'assistant' WHEN 3 THEN 'user' \
     ELSE 'system' END, 'at', item.at, 'expires_at', item.expires_at, 'valid_from', item.valid_from, \
     'valid_to', item.valid_to, 'superseded_at', item.superseded_at)) AS BLOB) \
     FROM json_each(?) AS wanted CROSS JOIN index_item AS item WHERE item.owner = ? AND item.id = wanted.value) \
     SELECT group_concat(id || ' ' || hex(item) || ' ' || length(fields), ' '), \
     CAST(group_concat(CAST(fields AS TEXT), '') AS BLOB) FROM found";

/// If fewer than one in this many candidates pass a filter, the filter is resolved in the file: reading one item costs about as
/// much as testing this many there.
const SELECTIVE: usize = 8;

/// An item with its filter fields.
#[derive(Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) item: ItemId,
    pub(crate) fields: Fields,
}

/// An item that is a hit.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: Candidate,
    pub(crate) item: Arc<Item>,
}

/// The choice of the best candidates, as far as it needs no file.
#[derive(Debug)]
pub(crate) enum Choice {
    /// The hits.
    Chosen(Vec<Chosen>),
    /// The numbers of items that must be read first.
    Lacks(Vec<i64>),
    /// The filter lets few items pass, so it must be resolved in the file.
    Selective,
}

/// A cache of items that were read, by number: all of one owner and one state of the file.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    items: RwLock<Shelved>,
}

#[derive(Debug, Default)]
struct Shelved {
    items: HashMap<i64, Arc<Item>>,
    bytes: usize,
}

impl Shelf {
    /// Returns its approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.items.read().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Drops all items.
    pub(crate) fn clear(&self) {
        *self.items.write().unwrap_or_else(PoisonError::into_inner) = Shelved::default();
    }

    /// Returns the `limit` best candidates that match: highest score first, ties by newer `at`, then by item.
    ///
    /// Most filters let most items pass. So the best candidates are tested first, then the next ones, as long as a good part of
    /// them matches.
    pub(crate) fn choose(&self, filter: &Filter, limit: usize, candidates: &[Candidate]) -> Choice {
        let mut heap = BinaryHeap::from(candidates.to_vec());
        let is_all = *filter == Filter::All;
        let mut next = if is_all { limit } else { limit.saturating_add(limit / 8).saturating_add(8) };
        let (mut chosen, mut tried) = (Vec::new(), 0);
        loop {
            let batch = take_best(&mut heap, next);
            tried += batch.len();
            match self.matching(filter, &batch) {
                Ok(matching) => chosen.extend(matching),
                Err(lacking) => return Choice::Lacks(lacking),
            }
            if chosen.len() >= limit || heap.is_empty() {
                chosen.truncate(limit);
                return Choice::Chosen(chosen);
            }
            if chosen.len() < tried / SELECTIVE {
                return Choice::Selective;
            }
            // As many as should suffice, by the share that has matched so far.
            let missing = (limit - chosen.len()).saturating_mul(tried) / chosen.len().max(1);
            next = missing.saturating_add(32);
        }
    }

    /// Returns the candidates that match, in order; or, if some items were not read, their numbers.
    fn matching(&self, filter: &Filter, candidates: &[Candidate]) -> std::result::Result<Vec<Chosen>, Vec<i64>> {
        let shelved = self.items.read().unwrap_or_else(PoisonError::into_inner);
        let (mut chosen, mut lacking) = (Vec::new(), Vec::new());
        for candidate in candidates {
            match shelved.items.get(&candidate.item) {
                Some(item) if filter.matches(&item.fields) => {
                    chosen.push(Chosen { candidate: *candidate, item: Arc::clone(item) });
                }
                Some(_) => {}
                None => lacking.push(candidate.item),
            }
        }
        if !lacking.is_empty() {
            return Err(lacking);
        }
        let order = |a: &Chosen, b: &Chosen| Reverse(a.candidate).cmp(&Reverse(b.candidate));
        chosen.sort_by(|a, b| order(a, b).then_with(|| a.item.item.cmp(&b.item.item)));
        Ok(chosen)
    }

    /// Reads items.
    pub(crate) async fn read(&self, connection: &mut SqliteConnection, owner: i64, ids: &[i64]) -> Result<()> {
        let read = sqlx::query_as(ITEMS).bind(json_numbers(ids.iter().copied())).bind(owner);
        let packed: Packed = read.fetch_one(connection).await.doing("read the items")?;
        let rows = packed.rows::<2>()?;
        if rows.len() < ids.len() {
            return Err(corrupt("a search finds an item that is not there"));
        }
        let mut shelved = self.items.write().unwrap_or_else(PoisonError::into_inner);
        for ([id, key], fields) in rows {
            // Its texts have allocations of their own, so they take more than their bytes.
            shelved.bytes += size_of::<Item>() + 2 * (key.len() + fields.len());
            let key = unhex(key).ok_or_else(|| corrupt("an item has a key that is none"))?;
            let item = Item { item: read_key(&key)?, fields: Fields::decode(BACKEND, fields)? };
            let id = id.parse().map_err(|_| corrupt("an item without a number"))?;
            shelved.items.insert(id, Arc::new(item));
        }
        Ok(())
    }
}

/// Returns the `limit` best candidates that match, in the order of [`Shelf::choose`], and reads the items that `shelf` lacks.
///
/// If too few of the best match, the filter is resolved once into the set of all matching items. So a selective filter costs
/// one scan and never shortens the answer.
pub(crate) async fn best(
    connection: &mut SqliteConnection,
    owner: i64,
    shelf: &Shelf,
    filter: &Filter,
    limit: usize,
    candidates: Vec<Candidate>,
) -> Result<Vec<Chosen>> {
    let (mut filter, mut candidates) = (filter, candidates);
    loop {
        match shelf.choose(filter, limit, &candidates) {
            Choice::Chosen(chosen) => return Ok(chosen),
            Choice::Lacks(ids) => shelf.read(connection, owner, &ids).await?,
            Choice::Selective => {
                let passing = resolve(connection, owner, filter).await?;
                candidates.retain(|candidate| passing.contains(&candidate.item));
                filter = &Filter::All;
            }
        }
    }
}

/// Returns the numbers of all items that match.
async fn resolve(connection: &mut SqliteConnection, owner: i64, filter: &Filter) -> Result<HashSet<i64>> {
    let text = "SELECT item.id FROM index_item AS item WHERE item.owner = {owner} AND {filter}";
    let mut sql = statement(text, |sql, hole| match hole {
        "filter" => push_filter(sql, FilteredTable::Index(owner), filter),
        _ => {
            sql.push_bind(owner);
            Ok(())
        }
    })?;
    let ids: Vec<i64> = sql.build_query_scalar().fetch_all(connection).await.doing("filter the items")?;
    Ok(ids.into_iter().collect())
}

/// Returns the bytes that hex digits name.
fn unhex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
