//! How much of the speed of the client alone putting and searching texts keep: the client makes the same requests, with the
//! same documents and the same looks at the owner's erasure, and the two take turns. It ranks nothing.
//!
//! `MEMORY_TEST_ELASTIC_URL=http://localhost:9200 cargo bench -p memory-elastic --bench text -- [ROUNDS]`

mod bare;

use std::process::ExitCode;

use memory_core::store::Store as _;
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::{Epoch, Fields, Filter, ItemId, MessageId, Result, Scope, Seq, SessionId, Timestamp, Unit, Version};
use memory_elastic::ElasticText;
use memory_testkit::bench::{Outcome, Turns, against, numbers, say};
use memory_testkit::generate::Random;
use serde_json::{Map, Value, json};

use bare::{Bare, OWNER};

const MESSAGES: usize = 4_000;
const CHUNK: usize = 250;
const SEARCHES: usize = 100;
const VOCABULARY: usize = 3_000;

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

fn document(number: usize, entry: &TextEntry) -> Value {
    let own: Vec<&str> = entry.own.iter().map(|(term, _)| term.as_str()).collect();
    let near: Vec<&str> = entry.near.iter().map(|(term, _)| term.as_str()).collect();
    let both = own.iter().chain(&near).map(|term| ((*term).to_owned(), json!("1:3ecccccd")));
    let (held, values) = bare::of_session(&entry.fields);
    json!({
        "scope": OWNER, "item": entry.item.key(), "unit": "message", "epoch": 0, "version": 1, "slot": number,
        "held": held, "body": String::from_utf8_lossy(&entry.fields.encode()), "values": values,
        "at": entry.fields.at.0, "seq": entry.fields.seq.map(|seq| seq.0), "trust": 0, "length": entry.length(),
        "own": own.join(" "), "near": near.join(" "), "counts": both.collect::<Map<_, _>>(),
    })
}

/// Sends the same first request as the adapter.
async fn search(bare: &Bare, query: &TextQuery) -> Outcome<()> {
    let terms: Vec<&str> = query.terms.iter().map(Term::as_str).collect();
    let owner = json!({ "bool": { "filter": [{ "term": { "scope": OWNER } }] } });
    let holds = json!({ "bool": { "should": [{ "terms": { "own": terms } }, { "terms": { "near": terms } }], "minimum_should_match": 1 } });
    let unit = json!({ "term": { "unit": "message" } });
    let counted: Vec<Value> = terms.iter().map(|term| json!({ "term": { "own": term } })).collect();
    let columns = ["item".to_owned(), "at".to_owned(), "length".to_owned()];
    let columns: Vec<String> = columns.into_iter().chain(terms.iter().map(|term| format!("counts.{term}"))).collect();
    let body = json!({
        "size": 1_000, "track_total_hits": true, "query": owner,
        "post_filter": { "bool": { "filter": [unit, holds] } }, "sort": ["_doc"], "_source": ["body"],
        "docvalue_fields": columns,
        "aggs": { "below": { "max": { "field": "below" } }, "unit": { "filter": unit, "aggs": {
            "oldest": { "min": { "field": "epoch" } }, "length": { "sum": { "field": "length" } },
            "terms": { "filters": { "filters": counted } },
        }}},
    });
    let path = "hits.total.value,hits.hits._id,hits.hits._score,hits.hits._source,hits.hits.fields,aggregations";
    let query = [("routing", OWNER), ("allow_partial_search_results", "false"), ("filter_path", path)];
    bare.post("_search", &query, body.to_string()).await.map(|_| ())
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

async fn puts(store: &ElasticText, bare: &Bare, scope: &Scope, entries: &[TextEntry], rounds: usize) -> Outcome<()> {
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let put = async |entries| Ok(store.put(scope, entries, Visibility::AfterFlush).await?);
        turns.take("library", entries.chunks(CHUNK), put).await?;
        let put = async |entries: &[TextEntry]| {
            let documents = entries.iter().enumerate().map(|(number, entry)| document(number, entry));
            bare.put(&documents.collect::<Vec<_>>()).await
        };
        turns.take("client alone, the same requests", entries.chunks(CHUNK), put).await?;
    }
    turns.report(&format!("put of {CHUNK} messages"));
    store.flush().await?;
    Ok(())
}

async fn searches(
    store: &ElasticText,
    bare: &Bare,
    scope: &Scope,
    queries: &[TextQuery],
    rounds: usize,
) -> Outcome<()> {
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let ask = async |query| Ok(store.search(scope, query).await?);
        turns.take("library, ranked", queries, ask).await?;
        turns.take("client alone, the same requests", queries, async |query| search(bare, query).await).await?;
    }
    turns.report(&format!("search of {MESSAGES} by 8 words"));
    Ok(())
}

async fn run(url: String) -> Outcome<()> {
    let [rounds] = numbers([9]);
    let elastic = bare::reach(&url).await?;
    let store = ElasticText::open(&elastic, "bench").await?;
    let bare = Bare::connect(&url).await?;
    let health = store.ping().await?;
    say(&format!("{} {}; {MESSAGES} messages of each owner, {rounds} rounds", health.server, health.version));
    let (mut random, scope) = (Random::new(1), Scope::new("bench", "ada")?);
    let entries = entries(&mut random)?;
    puts(&store, &bare, &scope, &entries, rounds).await?;
    searches(&store, &bare, &scope, &queries(&mut random)?, rounds).await?;
    bare.delete().await
}

fn main() -> ExitCode {
    against("elastic", run)
}
