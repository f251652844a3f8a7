//! Searching a text index: in the cache, after reading what it lacks of the present state of the file.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use memory_core::posting::{Candidate, Evidence, Query, Totals, visit_lists};
use memory_core::rank::Bm25;
use memory_core::store::text::{TextHit, TextHits, TextQuery};
use memory_core::{Filter, Result};
use sqlx::{Row, SqliteConnection};

use super::bucket::{self, damaged};
use super::held::{Held, Key, ListRow, SegmentRow, content};
use super::{statistics, tail};
use crate::client::Sqlite;
use crate::error::{Doing, lost};
use crate::index::now::now;
use crate::index::rows::json_members;
use crate::index::stamp::Stamp;
use crate::index::{Choice, Chosen, Owner, best, corrupt};

/// Reads the segments of an owner and unit, with the documents of those that are not cached in their present state.
pub(super) const SEGMENTS: &str = "SELECT segment, changed, CASE WHEN is_known THEN NULL ELSE documents END, \
     CASE WHEN is_known THEN NULL ELSE shares END FROM (SELECT segment, changed, documents, shares, \
     (segment, changed) IN (SELECT CAST(key AS INTEGER), value FROM json_each(?)) AS is_known \
     FROM text_segment WHERE owner = ? AND unit = ?) ORDER BY segment";

const SEARCH: &str = "search the posting lists";

/// Returns the evidence for a query.
pub(super) async fn search(file: &Sqlite, key: &Key, query: &TextQuery) -> Result<TextHits> {
    let (scope, name, _) = key;
    let held = file.texts().get_or_begin(key, Held::default);
    if !held.is_blank() {
        let Some(wanted) = now(file, SEARCH, scope, name).await? else { return Ok(nothing(query)) };
        if let Some(hits) = find(&held, wanted, query)? {
            return Ok(hits);
        }
    }
    let (file, key, query) = (file.clone(), key.clone(), query.clone());
    // In a task of its own: if a caller that does not poll got the lock, all others would wait forever.
    let task = tokio::spawn(async move { lookup(&file, key, held, query).await });
    task.await.unwrap_or_else(|_| Err(lost(SEARCH)))
}

/// Reads what the cache lacks, when it is this search's turn, and returns the hits.
async fn lookup(file: &Sqlite, key: Key, held: Arc<Held>, query: TextQuery) -> Result<TextHits> {
    let turn = held.turn().await;
    let cache = file.clone();
    let work = file.snapshot(SEARCH, move |connection| {
        Box::pin(async move {
            let _turn = turn;
            let cache = cache.texts();
            let found = read(connection, &key, &held, &query).await;
            if !cache.has_room(&held) {
                // Below the bound, so that not every search has to evict.
                held.shed(cache.bound() / 4 * 3);
            }
            match &found {
                Ok(Some(_)) => cache.weigh(&key, &held),
                Ok(None) | Err(_) => cache.remove(&key),
            }
            Ok(found?.unwrap_or_else(|| nothing(&query)))
        })
    });
    work.await
}

/// Returns the hits, if the cache suffices.
fn find(held: &Held, wanted: Stamp, query: &TextQuery) -> Result<Option<TextHits>> {
    let TextQuery { terms, unit: _, filter, limit } = query;
    let Some((totals, evidence)) = held.evidence(wanted, &Query::new(terms))? else { return Ok(None) };
    let choice = Candidates::likely(&evidence, totals, *limit).choose(held, filter, *limit);
    Ok(match choice {
        Choice::Chosen(chosen) => Some(hits(totals, &evidence, chosen)),
        Choice::Lacks(_) | Choice::Selective => None,
    })
}

/// Returns the hits at the state of the file that `connection` sees; none for an owner without entries. Reads what the cache
/// lacks.
async fn read(
    connection: &mut SqliteConnection,
    key: &Key,
    held: &Held,
    query: &TextQuery,
) -> Result<Option<TextHits>> {
    let (scope, name, _) = key;
    let TextQuery { terms, unit: _, filter, limit } = query;
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(None) };
    let sought = Query::new(terms);
    renew(connection, &owner, key, held).await?;
    complete(connection, &owner, held, &sought).await?;
    let evidence = held.evidence(Stamp::of(&owner), &sought)?;
    let (totals, evidence) = evidence.ok_or_else(|| corrupt("a posting list is missing"))?;
    let mut candidates = Candidates::likely(&evidence, totals, *limit);
    loop {
        let chosen = match candidates.choose(held, filter, *limit) {
            Choice::Chosen(chosen) => chosen,
            Choice::Lacks(items) => {
                held.shelf.read(connection, owner.id, &items).await?;
                continue;
            }
            Choice::Selective => best(connection, owner.id, &held.shelf, filter, *limit, candidates.scored).await?,
        };
        return Ok(Some(hits(totals, &evidence, chosen)));
    }
}

/// Brings the cache to the present state of the file.
async fn renew(connection: &mut SqliteConnection, owner: &Owner, (_, _, unit): &Key, held: &Held) -> Result<()> {
    let stamp = Stamp::of(owner);
    let Some(known) = held.known(stamp) else { return Ok(()) };
    let totals = statistics::load(connection, owner.id).await?.get(unit).copied().unwrap_or_default();
    let read = sqlx::query(SEGMENTS).bind(json_members(known)).bind(owner.id).bind(unit.name());
    let mut rows = read.fetch(&mut *connection);
    let mut segments: Vec<SegmentRow> = Vec::new();
    while let Some(row) = rows.try_next().await.doing(SEARCH)? {
        // Borrowed, because each copy of so many bytes takes its time.
        let documents: Option<&[u8]> = row.try_get(2).doing(SEARCH)?;
        let shares: Option<&[u8]> = row.try_get(3).doing(SEARCH)?;
        let content = documents.zip(shares).map(|(documents, shares)| content(documents, shares)).transpose()?;
        segments.push((row.try_get(0).doing(SEARCH)?, row.try_get(1).doing(SEARCH)?, content));
    }
    drop(rows);
    let tail = tail::load(connection, owner.id, *unit).await?;
    held.renew(stamp, totals, segments, tail)
}

/// Reads the missing parts of the lists of a query.
async fn complete(connection: &mut SqliteConnection, owner: &Owner, held: &Held, query: &Query<'_>) -> Result<()> {
    let lacking = held.lacking(query);
    if lacking.is_empty() {
        return Ok(());
    }
    let oldest = lacking.iter().map(|(_, upto)| *upto).min().unwrap_or_default();
    let segments = held.segments_after(oldest);
    let mut sought: HashMap<i64, Vec<&str>> = HashMap::new();
    for (term, upto) in &lacking {
        for (segment, _) in segments.iter().filter(|(_, renewal)| renewal > upto) {
            sought.entry(bucket::place(*segment, term)).or_default().push(term);
        }
    }
    let mut rows: Vec<ListRow> = Vec::new();
    for (place, bytes) in bucket::read(connection, owner.id, &sought.keys().copied().collect()).await? {
        let terms = sought.get(&place).map(Vec::as_slice).unwrap_or_default();
        visit_lists(&bytes, |term, list| {
            if terms.contains(&term) {
                rows.push((term.to_owned(), bucket::segment(place), list.to_owned()));
            }
        })
        .map_err(damaged)?;
    }
    held.add(lacking, query, rows)
}

/// The candidates of a search: the likely ones, or all. However often items are read for the choice, they are scored twice at the
/// most: the likely ones, and all once these are too few.
struct Candidates<'e> {
    evidence: &'e Evidence,
    totals: Totals,
    scored: Vec<Candidate>,
    is_all: bool,
}

impl<'e> Candidates<'e> {
    /// Returns those that are likely to suffice: most filters let most items pass.
    fn likely(evidence: &'e Evidence, totals: Totals, limit: usize) -> Self {
        let most = limit.saturating_mul(2).saturating_add(64);
        let (scored, is_all) = evidence.best(&Bm25::default(), totals.count(), totals.mean_length(), most);
        Self { evidence, totals, scored, is_all }
    }

    /// Chooses among them, and from then on among all if the likely ones are too few.
    fn choose(&mut self, held: &Held, filter: &Filter, limit: usize) -> Choice {
        match held.shelf.choose(filter, limit, &self.scored) {
            Choice::Chosen(chosen) if !self.is_all && chosen.len() < limit => {}
            Choice::Selective if !self.is_all => {}
            choice => return choice,
        }
        let (documents, mean_length) = (self.totals.count(), self.totals.mean_length());
        (self.scored, self.is_all) = (self.evidence.candidates(&Bm25::default(), documents, mean_length), true);
        held.shelf.choose(filter, limit, &self.scored)
    }
}

fn hits(totals: Totals, evidence: &Evidence, chosen: Vec<Chosen>) -> TextHits {
    let counts = evidence.counts(chosen.iter().map(|chosen| chosen.candidate.place));
    let hit = |(Chosen { candidate: _, item }, (own, near, length)): (Chosen, _)| TextHit {
        item: item.item.clone(),
        own,
        near,
        length,
        fields: item.fields.clone(),
    };
    TextHits {
        documents: totals.count(),
        mean_length: totals.mean_length(),
        containing: evidence.containing().to_vec(),
        hits: chosen.into_iter().zip(counts).map(hit).collect(),
    }
}

/// Returns the evidence of an owner without entries.
fn nothing(query: &TextQuery) -> TextHits {
    TextHits { containing: vec![0; query.terms.len()], ..TextHits::default() }
}
