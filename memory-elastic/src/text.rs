//! Search by words.

mod entry;
mod hit;
mod search;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::error::{Error, Result};
use memory_core::store::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Digest, Epoch, ItemId, Scope, Version};
use serde_json::{Map, json};

use crate::client::Elastic;
use crate::error::BACKEND;
use crate::index::{Index, Plan};
use crate::{delete, put, scan};

/// A text index on a server. Cheap to clone.
///
/// The server finds what holds a word; core scores it, from counts and from statistics of this owner alone. A search
/// reads the counts of everything that matches, so its time rises with the number of matches, and it is exact.
#[derive(Clone, Debug)]
pub struct ElasticText {
    index: Index,
    analysis: String,
}

impl ElasticText {
    /// Opens the index of the terms of `analysis`, or makes it.
    ///
    /// # Errors
    /// `Unsupported` for an index of this name that is another's, or that does not sync what it acknowledges; `Backend`
    /// if the server does not answer.
    pub async fn open(elastic: &Elastic, analysis: &str) -> Result<Self> {
        let index = Index::open(elastic, Arc::new(plan(&elastic.config().index, analysis))).await?;
        Ok(Self { index, analysis: analysis.to_owned() })
    }
}

/// Rises with each change of what documents hold: an older index is not read, but filled anew under another name.
const FORMAT: &str = "text-1";

fn plan(prefix: &str, analysis: &str) -> Plan {
    let digest = Digest::of(&[FORMAT.as_bytes(), analysis.as_bytes()]);
    let fingerprint: String = digest.0.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    // Terms are core's: the server only parts them at the blanks between them. An analyzer that is defined by this name
    // is refused by servers without most modules, the one that is built in is not.
    let terms = json!({ "type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": false });
    let fields = Map::from_iter([
        ("own".to_owned(), terms.clone()),
        ("near".to_owned(), terms),
        ("counts".to_owned(), json!({ "type": "flattened", "index": false })),
        ("length".to_owned(), json!({ "type": "long" })),
    ]);
    Plan {
        alias: format!("{prefix}-text-{fingerprint}"),
        recipe: format!("{FORMAT}/{analysis}"),
        fields,
        // All else is found by its index or read from its columns.
        source: json!({ "includes": ["item", "body", "version", "below"] }),
    }
}

#[async_trait]
impl Store for ElasticText {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.index.ping().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        delete::erase(&self.index, scope, below).await
    }

    async fn close(&self) -> Result<()> {
        self.index.close().await
    }
}

#[async_trait]
impl TextStore for ElasticText {
    fn analysis(&self) -> &str {
        &self.analysis
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.index.incarnation().await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        let (incoming, mut rejected) =
            Rejected::split(entries, |entry| entry::document(scope, entry).map_err(Rejected::of(&entry.item)));
        rejected.extend(put::put(&self.index, scope, incoming, visibility).await?);
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        self.index.flush().await
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least one hit"));
        }
        let _call = self.index.elastic.enter().await?;
        search::search(&self.index, scope, query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        delete::versions(&self.index, scope, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        scan::scan(&self.index, scope, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        delete::delete(&self.index, scope, what).await
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        delete::clear(&self.index, scope).await
    }
}
