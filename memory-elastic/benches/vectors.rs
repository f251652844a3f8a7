//! How much of the speed of the client alone putting and searching vectors keep: the client makes the same requests, the
//! same documents, the same two searches at once, the same two looks at the owner's erasure, and the two take turns.
//!
//! `MEMORY_TEST_ELASTIC_URL=http://localhost:9200 cargo bench -p memory-elastic --bench vectors -- [ROUNDS]`

mod bare;

use std::process::ExitCode;

use futures_util::future::try_join;
use memory_core::Scope;
use memory_core::store::Store as _;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorEntry, VectorQuery};
use memory_core::vector::normalise;
use memory_elastic::ElasticVectors;
use memory_testkit::bench::{Outcome, Turns, against, numbers, say, vectors};
use serde_json::{Value, json};

use bare::{Bare, OWNER};

const ITEMS: usize = 4_096;
const CHUNK: usize = 256;
/// How many items the adapter asks for beyond those wanted.
const MARGIN: usize = 16;

fn document(number: usize, entry: &VectorEntry) -> Value {
    let pieces: Vec<Value> = entry.pieces.iter().map(|piece| json!({ "v": normalise(piece) })).collect();
    let (held, values) = bare::of_session(&entry.fields);
    json!({
        "scope": OWNER, "item": entry.item.key(), "unit": "message", "epoch": 0, "version": 1, "slot": number,
        "held": held, "body": String::from_utf8_lossy(&entry.fields.encode()), "values": values,
        "at": entry.fields.at.0, "seq": entry.fields.seq.map(|seq| seq.0), "trust": 0, "parts": pieces.len(), "pieces": pieces,
    })
}

/// Sends the same two requests as the adapter, and returns how many items were found.
async fn search(bare: &Bare, sought: &VectorQuery) -> Outcome<usize> {
    let owner = json!({ "term": { "scope": OWNER } });
    let count = sought.limit + MARGIN;
    let census = json!({
        "size": 0, "track_total_hits": true, "query": { "bool": { "filter": [owner] } },
        "aggs": { "below": { "max": { "field": "below" } } },
    });
    let nearest = json!({
        "size": count, "_source": ["body"], "docvalue_fields": ["item", "at", "epoch", "parts"],
        "knn": {
            "field": "pieces.v", "query_vector": normalise(&sought.vector), "k": count, "num_candidates": count,
            "filter": [owner, { "range": { "epoch": { "gte": 0 } } }, { "match_all": {} }],
        },
    });
    let path = "hits.total.value,hits.hits._id,hits.hits._score,hits.hits._source,hits.hits.fields,aggregations";
    let query = [("routing", OWNER), ("allow_partial_search_results", "false"), ("filter_path", path)];
    let ask = |body: Value| async move { bare.post("_search", &query, body.to_string()).await };
    let (_, found) = try_join(ask(census), ask(nearest)).await?;
    Ok(found.pointer("/hits/hits").and_then(Value::as_array).map_or(0, Vec::len))
}

async fn puts(store: &ElasticVectors, bare: &Bare, scope: &Scope, rounds: usize) -> Outcome<()> {
    let entries = vectors::entries(1, ITEMS)?;
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let put = async |entries| Ok(store.put(scope, entries, Visibility::AfterFlush).await?);
        turns.take("library", entries.chunks(CHUNK), put).await?;
        let put = async |entries: &[VectorEntry]| {
            let documents = entries.iter().enumerate().map(|(number, entry)| document(number, entry));
            bare.put(&documents.collect::<Vec<_>>()).await
        };
        turns.take("client alone, the same requests", entries.chunks(CHUNK), put).await?;
    }
    turns.report(&format!("put of {CHUNK} vectors"));
    store.flush().await?;
    Ok(())
}

async fn searches(store: &ElasticVectors, bare: &Bare, scope: &Scope, rounds: usize) -> Outcome<()> {
    let queries: Vec<_> = vectors::queries().into_iter().map(|vector| vectors::query(store, vector)).collect();
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let ask = async |query| vectors::whole(store.search(scope, query).await?.len(), query);
        turns.take("library", &queries, ask).await?;
        let ask = async |query| vectors::whole(search(bare, query).await?, query);
        turns.take("client alone, the same requests", &queries, ask).await?;
    }
    turns.report(&format!("search of {ITEMS}"));
    Ok(())
}

async fn run(url: String) -> Outcome<()> {
    let [rounds] = numbers([9]);
    let elastic = bare::reach(&url).await?;
    let store = ElasticVectors::open(&elastic, vectors::space("bench")).await?;
    let bare = Bare::connect(&url).await?;
    let (health, dimension) = (store.ping().await?, vectors::DIMENSION);
    say(&format!("{} {}; {ITEMS} items of {dimension} numbers each, {rounds} rounds", health.server, health.version));
    let scope = Scope::new("bench", "ada")?;
    puts(&store, &bare, &scope, rounds).await?;
    searches(&store, &bare, &scope, rounds).await?;
    bare.delete().await
}

fn main() -> ExitCode {
    against("elastic", run)
}
