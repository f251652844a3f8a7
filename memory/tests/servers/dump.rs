//! Everything that the four servers hold of an owner, as text that can be compared.

use std::time::Duration;

use memory::analysis::Analysis;
use memory::store::chat::{Page, View};
use memory::store::text::TextQuery;
use memory::store::vectors::VectorQuery;
use memory::{Filter, Result, Scope, Seq, Stores, Unit};

use crate::places::embedder;

/// More than an owner of these tests has of anything.
const ALL: usize = 1_000;
/// What the cache holds of everybody.
const KEY: &str = "kept";

/// What is held of an owner, every field of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    sessions: Vec<String>,
    messages: Vec<String>,
    records: Vec<String>,
    words: Vec<String>,
    meanings: Vec<String>,
    cached: Option<Vec<u8>>,
}

impl Dump {
    /// Reads everything of `scope` from every store.
    pub(crate) async fn of(stores: &Stores, scope: &Scope) -> Result<Self> {
        let (mut sessions, mut messages) = (Vec::new(), Vec::new());
        for state in stores.chat()?.store().sessions(scope, None, ALL).await? {
            let page = Page::after(Seq(0), ALL, View::All);
            let slice = stores.chat()?.store().read(scope, &state.session, &page).await?;
            messages.extend(slice.messages.iter().map(|row| format!("{row:?}")));
            sessions.push(format!("{state:?}"));
        }
        let mut records = Vec::new();
        if let Some(truth) = &stores.records {
            let rows = truth.store().scan(scope, &Filter::All, None, ALL).await?;
            records.extend(rows.iter().map(|row| format!("{row:?}")));
        }
        let cached = match &stores.cache {
            Some(cache) => cache.get(scope, stores.chat()?.upkeep().epoch(scope).await?, KEY).await?,
            None => None,
        };
        let (words, meanings) = (words(stores, scope).await?, meanings(stores, scope).await?);
        Ok(Self { sessions, messages, records, words, meanings, cached })
    }

    /// Returns whether each of the stores holds something.
    pub(crate) fn is_everywhere(&self) -> bool {
        let Self { sessions, messages, records, words, meanings, cached } = self;
        [sessions, messages, records, words, meanings].into_iter().all(|lines| !lines.is_empty()) && cached.is_some()
    }

    /// Returns whether none of the stores holds anything.
    pub(crate) fn is_nowhere(&self) -> bool {
        let Self { sessions, messages, records, words, meanings, cached } = self;
        [sessions, messages, records, words, meanings].into_iter().all(Vec::is_empty) && cached.is_none()
    }
}

/// Puts something of `scope` into the cache that outlives the test.
pub(crate) async fn put_cached(stores: &Stores, scope: &Scope) -> Result<()> {
    let Some(cache) = &stores.cache else { return Ok(()) };
    let epoch = stores.chat()?.upkeep().epoch(scope).await?;
    let value = format!("of {} in {epoch:?}", scope.key());
    cache.put(scope, epoch, KEY, value.as_bytes(), Duration::from_secs(3_600)).await
}

/// Returns all evidence of the words that every owner uses: of each item, and the owner's own counts.
async fn words(stores: &Stores, scope: &Scope) -> Result<Vec<String>> {
    let Some(store) = &stores.text else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        let terms = Analysis::english().query("kite parcel tea");
        let query = TextQuery { terms, unit, filter: Filter::All, limit: ALL };
        let found = store.search(scope, &query).await?;
        if found.documents > 0 {
            lines.push(format!("{} {} {:?}", found.documents, found.mean_length, found.containing));
        }
        lines.extend(found.hits.iter().map(|hit| format!("{hit:?}")));
    }
    Ok(lines)
}

/// Returns all items with their nearest pieces.
async fn meanings(stores: &Stores, scope: &Scope) -> Result<Vec<String>> {
    let Some((store, _)) = stores.vectors.first() else { return Ok(Vec::new()) };
    let query = VectorQuery {
        space: store.space().clone(),
        vector: embedder().vector("kite parcel tea"),
        filter: Filter::All,
        limit: ALL,
        floor: None,
        with_vectors: true,
    };
    Ok(store.search(scope, &query).await?.iter().map(|hit| format!("{hit:?}")).collect())
}
