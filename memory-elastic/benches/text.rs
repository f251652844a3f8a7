//! How long putting and searching texts takes, beside the client alone making the same requests.
//!
//! `MEMORY_TEST_ELASTIC_URL=http://localhost:9200 cargo bench -p memory-elastic --bench text`

mod measure;

use std::time::Duration;

use elasticsearch::Elasticsearch;
use elasticsearch::http::Method;
use elasticsearch::http::headers::{CONTENT_TYPE, HeaderMap, HeaderValue};
use elasticsearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};
use memory_core::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::{
    Epoch, Error, Fields, Filter, ItemId, MessageId, Result, Scope, Seq, SessionId, Timestamp, Unit, Version,
};
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::generate::Random;
use serde_json::{Value, json};

use measure::{Times, heading, say};

const MESSAGES: usize = 4_000;
const CHUNK: usize = 250;
const SEARCHES: usize = 200;
const VOCABULARY: usize = 3_000;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A word; the n-th is about n times rarer than the first.
fn word(random: &mut Random) -> Result<Term> {
    let rank = ((VOCABULARY as f64).powf(random.unit()) - 1.0) as usize;
    Term::new(&format!("w{rank:x}"))
}

fn words(random: &mut Random, count: usize) -> Result<Vec<Term>> {
    let mut words: Vec<Term> = (0..count).map(|_| word(random)).collect::<Result<_>>()?;
    words.sort();
    words.dedup();
    Ok(words)
}

fn entries(random: &mut Random) -> Result<Vec<TextEntry>> {
    let entry = |number: usize| {
        let session = SessionId::new(&format!("session {}", number / 12))?;
        let mut fields = Fields::of_span(&session, Seq(number as u64 % 12 + 1), Timestamp(number as i64 * 1_000_000));
        fields.unit = Unit::Message;
        Ok(TextEntry {
            item: ItemId::Message(MessageId::fresh()),
            version: Version { epoch: Epoch(0), revision: 1 },
            own: words(random, 60)?.into_iter().map(|term| (term, 1)).collect(),
            near: words(random, 60)?.into_iter().map(|term| (term, 0.4)).collect(),
            fields,
        })
    };
    (0..MESSAGES).map(entry).collect()
}

/// The client alone, over the index that the adapter made.
struct Bare {
    client: Elasticsearch,
    alias: String,
    routing: &'static str,
}

impl Bare {
    async fn post(&self, end: &str, query: &[(&str, &str)], body: String) -> Result<Value> {
        let kind = if end == "_bulk" { "application/x-ndjson" } else { "application/json" };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        let patience = Some(Duration::from_secs(60));
        let path = format!("{}/{end}", self.alias);
        let sent = self.client.send(Method::Post, &path, headers, Some(query), Some(body), patience).await;
        let answer = sent.map_err(|error| Error::invalid(error.to_string()))?.json::<Value>().await;
        answer.map_err(|error| Error::invalid(error.to_string()))
    }

    /// The look at the owner's erasure, and the bulk with the second look behind the entries.
    async fn put(&self, lines: &str) -> Result<()> {
        let wanted = json!({ "docs": [{ "_id": "none", "routing": self.routing, "_source": ["below"] }] });
        self.post("_mget", &[], wanted.to_string()).await?;
        let look = json!({ "update": { "_id": "none", "routing": self.routing, "_source": true } });
        let body = format!("{lines}{look}\n{{\"doc\":{{}}}}\n");
        self.post("_bulk", &[("require_alias", "true"), ("refresh", "false")], body).await.map(|_| ())
    }

    fn lines(&self, entries: &[TextEntry]) -> String {
        let mut lines = String::new();
        for (number, entry) in entries.iter().enumerate() {
            let own: Vec<&str> = entry.own.iter().map(|(term, _)| term.as_str()).collect();
            let near: Vec<&str> = entry.near.iter().map(|(term, _)| term.as_str()).collect();
            let both = own.iter().chain(&near).map(|term| ((*term).to_owned(), json!("1:3ecccccd")));
            let document = json!({
                "scope": self.routing, "item": entry.item.key(), "unit": "message", "epoch": 0, "version": 1,
                "slot": number, "body": String::from_utf8_lossy(&entry.fields.encode()), "values": ["?.unit", "t.unit=message"],
                "at": entry.fields.at.0, "seq": 1, "trust": 0, "length": entry.length(),
                "own": own.join(" "), "near": near.join(" "), "counts": both.collect::<serde_json::Map<_, _>>(),
            });
            let head = json!({ "index": { "_id": entry.item.key(), "routing": self.routing, "version": 1, "version_type": "external_gte" } });
            lines.push_str(&format!("{head}\n{document}\n"));
        }
        lines
    }

    /// The same first request as the adapter's.
    async fn search(&self, query: &TextQuery) -> Result<()> {
        let terms: Vec<&str> = query.terms.iter().map(Term::as_str).collect();
        let owner = json!({ "bool": { "filter": [{ "term": { "scope": self.routing } }] } });
        let holds = json!({ "bool": { "should": [{ "terms": { "own": terms } }, { "terms": { "near": terms } }], "minimum_should_match": 1 } });
        let unit = json!({ "term": { "unit": "message" } });
        let counted: Vec<Value> = terms.iter().map(|term| json!({ "term": { "own": term } })).collect();
        let columns = ["item".to_owned(), "at".to_owned(), "length".to_owned()];
        let columns: Vec<String> =
            columns.into_iter().chain(terms.iter().map(|term| format!("counts.{term}"))).collect();
        let body = json!({
            "size": 1_000, "track_total_hits": true, "query": owner,
            "post_filter": { "bool": { "filter": [unit, holds] } }, "sort": ["_doc"], "_source": ["body"],
            "docvalue_fields": columns,
            "aggs": { "below": { "max": { "field": "below" } }, "unit": { "filter": unit, "aggs": {
                "oldest": { "min": { "field": "epoch" } }, "length": { "sum": { "field": "length" } },
                "terms": { "filters": { "filters": counted } },
            }}},
        });
        self.post("_search", &[("routing", self.routing)], body.to_string()).await.map(|_| ())
    }
}

fn queries(random: &mut Random) -> Result<Vec<TextQuery>> {
    // Rare enough that one request of the adapter answers.
    let rare = |random: &mut Random| Term::new(&format!("w{:x}", 600 + random.below(VOCABULARY - 600)));
    let query = |random: &mut Random| {
        let mut terms = (0..8).map(|_| rare(random)).collect::<Result<Vec<_>>>()?;
        terms.sort();
        terms.dedup();
        Ok(TextQuery { terms, unit: Unit::Message, filter: Filter::All, limit: 100 })
    };
    (0..SEARCHES).map(|_| query(random)).collect()
}

async fn run() -> Outcome<()> {
    #[expect(clippy::disallowed_methods, reason = "the configuration of the bench")]
    let url = std::env::var("MEMORY_TEST_ELASTIC_URL")?;
    let prefix = format!("bench{}", std::process::id());
    let config = ElasticConfig::new(&url)?.with_prefix(&prefix)?.with_patience(Duration::from_secs(60));
    let elastic = Elastic::connect(config.with_bulk_patience(Duration::from_secs(60))).await?;
    let text = ElasticText::open(&elastic, "bench").await?;
    let pool = SingleNodeConnectionPool::new(elasticsearch::http::Url::parse(&url)?);
    let client = Elasticsearch::new(TransportBuilder::new(pool).disable_proxy().build()?);
    let path = format!("_alias/{prefix}-*");
    let found = client.send(Method::Get, &path, HeaderMap::new(), None::<&()>, None::<()>, None);
    let found = found.await?.json::<Value>().await?;
    let name = found.as_object().and_then(|found| found.keys().next()).ok_or("no index")?;
    let bare = Bare { client, alias: name.trim_end_matches("-000001").to_owned(), routing: "bare" };
    let (mut random, scope) = (Random::new(1), Scope::new("bench", "ada")?);
    let entries = entries(&mut random)?;
    heading();
    let chunks: Vec<&[TextEntry]> = entries.chunks(CHUNK).collect();
    let chunk = |number: usize| chunks.get(number).copied().unwrap_or_default();
    let lines: Vec<String> = chunks.iter().map(|chunk| bare.lines(chunk)).collect();
    let times = Times::of(chunks.len(), async |number| bare.put(lines.get(number).map_or("", String::as_str)).await);
    times.await?.report("client alone: put 250 messages");
    let put = async |number| text.put(&scope, chunk(number), Visibility::AfterFlush).await.map(|_| ());
    Times::of(chunks.len(), put).await?.report("adapter: put 250 messages");
    text.flush().await?;
    let queries = queries(&mut random)?;
    for _ in 0..2 {
        let ask = async |number| match queries.get(number) {
            Some(query) => bare.search(query).await,
            None => Ok(()),
        };
        Times::of(SEARCHES, ask).await?.report("client alone: search 8 words");
        let ask = async |number| match queries.get(number) {
            Some(query) => text.search(&scope, query).await.map(|_| ()),
            None => Ok(()),
        };
        Times::of(SEARCHES, ask).await?.report("adapter: search 8 words, ranked");
    }
    say(&format!("{MESSAGES} messages of each owner"));
    bare.client.send(Method::Delete, name, HeaderMap::new(), None::<&()>, None::<()>, None).await?;
    Ok(())
}

fn main() -> Outcome<()> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
