//! A server that fails on purpose: what is acknowledged is there, and what is not is said.

#[cfg(test)]
mod fault;
#[cfg(test)]
mod server;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use elasticsearch::Elasticsearch;
    use elasticsearch::http::Url;
    use elasticsearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};
    use memory_core::store::text::{Rejected, Term, TextEntry, TextQuery, TextStore as _, Visibility};
    use memory_core::store::vectors::{VectorEntry, VectorQuery, VectorStore as _};
    use memory_core::store::{Durability, Store as _};
    use memory_core::vector::EmbeddingSpace;
    use memory_core::{
        Epoch, Error, Fields, Filter, ItemId, MessageId, Result, Scope, Seq, SessionId, Timestamp, Version,
    };
    use memory_elastic::{Elastic, ElasticConfig, ElasticText, ElasticVectors};
    use memory_testkit::RunningWatch;
    use memory_testkit::doubles::ManualClock;
    use memory_testkit::generate::{Random, deletion};
    use serde_json::{Value, json};
    use uuid::Uuid;

    use crate::fault::Fault;
    use crate::server::{self, Stub};

    const SEED: u64 = 20;

    type Check = fn(&Error) -> bool;

    async fn connect(stub: &Stub) -> Elastic {
        let config = ElasticConfig::new(&stub.url()).unwrap().with_bulk_patience(Duration::from_secs(20));
        Elastic::connect(config.with_patience(Duration::from_secs(20))).await.unwrap()
    }

    async fn open(stub: &Stub) -> ElasticText {
        ElasticText::open(&connect(stub).await, "test").await.unwrap()
    }

    fn entry(number: u64, revision: u64, is_bad: bool) -> TextEntry {
        let session = SessionId::new("s").unwrap();
        let mut fields = Fields::of_span(&session, Seq(1), Timestamp(0));
        fields.unit = memory_core::Unit::Message;
        fields.tags = if is_bad { vec![server::REFUSED.to_owned()] } else { Vec::new() };
        TextEntry {
            item: ItemId::Message(MessageId(Uuid::from_u64_pair(0, number))),
            version: Version { epoch: Epoch(0), revision },
            own: vec![(Term::new("river").unwrap(), 1)],
            near: Vec::new(),
            fields,
        }
    }

    fn of_epoch(number: u64, epoch: u64) -> TextEntry {
        let entry = entry(number, 1, false);
        TextEntry { version: Version { epoch: Epoch(epoch), revision: 1 }, ..entry }
    }

    /// Puts until the call succeeds, as upkeep does: every write may be repeated.
    async fn put(text: &ElasticText, scope: &Scope, entries: &[TextEntry]) -> Vec<Rejected> {
        for _ in 0..200 {
            match text.put(scope, entries, Visibility::OnReturn).await {
                Ok(rejected) => return rejected,
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
        }
        panic!("200 puts failed");
    }

    /// 40 tasks of 25 bulks each, five entries a bulk; one in 20 entries is refused for what it holds.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_thousand_bulks_with_random_faults_lose_nothing_and_store_nothing_twice() {
        let stub = Stub::start(SEED, Fault::often()).await;
        let text = Arc::new(open(&stub).await);
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..40u64 {
            let text = Arc::clone(&text);
            tasks.spawn(async move {
                let (scope, mut random) = (Scope::new("stub", &format!("{task}")).unwrap(), Random::new(SEED ^ task));
                let mut promised = std::collections::BTreeMap::new();
                for bulk in 0..25u64 {
                    let mut entries: Vec<TextEntry> = Vec::new();
                    for number in 0..5u64 {
                        let number = number + 5 * random.below(4) as u64;
                        let late = if random.chance(1, 5) { 3 } else { 0 };
                        entries.push(entry(number, bulk.saturating_sub(late), random.chance(1, 20)));
                    }
                    let rejected = put(&text, &scope, &entries).await;
                    let bad: Vec<&TextEntry> = entries.iter().filter(|entry| !entry.fields.tags.is_empty()).collect();
                    assert_eq!(rejected.len(), bad.len(), "seed {SEED}: each refused entry is told once");
                    for entry in bad {
                        assert!(rejected.iter().any(|rejected| rejected.item == entry.item));
                    }
                    for entry in entries.iter().filter(|entry| entry.fields.tags.is_empty()) {
                        let newest = promised.entry(entry.item.key()).or_insert(0);
                        *newest = entry.version.revision.max(*newest);
                    }
                }
                (scope, promised)
            });
        }
        let mut bulks = 0;
        while let Some(ended) = tasks.join_next().await {
            let (scope, promised) = ended.unwrap();
            assert_eq!(stub.stored(&scope), promised, "seed {SEED}");
            bulks += 25;
        }
        assert_eq!(bulks, 1_000);
        let faults = stub.faults();
        assert!(faults.len() >= 11 && faults.values().all(|count| *count > 10), "{faults:?}");
    }

    #[tokio::test]
    async fn an_item_that_stays_busy_fails_the_call_and_can_be_put_later() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "busy").unwrap());
        stub.fail_with(Fault::always_busy());
        let error = text.put(&scope, &[entry(1, 1, false)], Visibility::AfterFlush).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
        assert!(stub.stored(&scope).is_empty());
        stub.fail_with(Fault::never());
        assert!(text.put(&scope, &[entry(1, 1, false)], Visibility::AfterFlush).await.unwrap().is_empty());
        assert_eq!(stub.stored(&scope).len(), 1);
    }

    #[tokio::test]
    async fn what_an_index_that_is_not_as_it_was_made_refuses_is_no_refused_entry_and_can_be_put_later() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "mapping").unwrap());
        for kind in ["strict_dynamic_mapping_exception", "illegal_argument_exception"] {
            stub.refuse_documents(Some(json!({ "type": kind, "reason": "canary" })));
            let error = text.put(&scope, &[entry(1, 1, false)], Visibility::AfterFlush).await.unwrap_err();
            assert!(matches!(error, Error::Backend { .. }), "{kind}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{kind}");
        }
        stub.refuse_documents(None);
        assert!(text.put(&scope, &[entry(1, 1, false)], Visibility::AfterFlush).await.unwrap().is_empty());
        assert_eq!(stub.stored(&scope).len(), 1);
    }

    #[tokio::test]
    async fn what_an_index_can_read_nothing_of_is_no_refused_entry_and_can_be_put_later() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "types").unwrap());
        let both = [entry(1, 1, false), entry(2, 1, false)];
        stub.refuse_documents(Some(json!({ "type": "document_parsing_exception", "reason": "canary" })));
        let error = text.put(&scope, &both, Visibility::AfterFlush).await.unwrap_err();
        assert!(matches!(error, Error::Backend { .. }), "{error:?}");
        stub.refuse_documents(None);
        assert!(text.put(&scope, &both, Visibility::AfterFlush).await.unwrap().is_empty());
        assert_eq!(stub.stored(&scope).len(), 2);
    }

    #[tokio::test]
    async fn what_an_index_refuses_that_takes_others_is_a_refused_entry_and_holds_up_no_other() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "others").unwrap());
        let (mut odd, other) = (entry(1, 1, false), entry(2, 1, false));
        odd.fields.tags = vec![server::ODD.to_owned()];
        let refused = text.put(&scope, &[odd.clone(), other], Visibility::AfterFlush).await.unwrap();
        assert!(refused.len() == 1 && refused[0].item == odd.item, "{refused:?}");
        assert!(matches!(refused[0].error, Error::Invalid { .. }), "{refused:?}");
        assert_eq!(stub.stored(&scope).len(), 1);
    }

    #[tokio::test]
    async fn a_put_of_which_nothing_was_stored_refreshes_nothing() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "refreshes").unwrap());
        stub.refuse_documents(Some(json!({ "type": "illegal_argument_exception", "reason": "canary" })));
        text.put(&scope, &[entry(1, 1, false)], Visibility::OnReturn).await.unwrap_err();
        assert_eq!(stub.refreshes(), 0);
        stub.refuse_documents(None);
        assert!(put(&text, &scope, &[entry(1, 1, false)]).await.is_empty());
        assert_eq!(stub.refreshes(), 1);
    }

    #[tokio::test]
    async fn each_odd_answer_is_a_typed_error() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "odd").unwrap());
        let table: [(u16, &str, &str, Check); 9] = [
            (200, "cut", "{\"items\":[{\"index\":{\"status\":200}}", Error::is_retryable),
            (200, "no json", "<html>canary</html>", Error::is_retryable),
            (200, "too few items", "{\"errors\":false,\"items\":[]}", Error::is_retryable),
            (413, "empty", "", |error| matches!(error, Error::Invalid { .. })),
            (429, "empty", "", Error::is_retryable),
            (503, "a plain text", "{\"error\":\"canary\",\"status\":503}", Error::is_retryable),
            (
                404,
                "a missing index",
                "{\"error\":{\"type\":\"index_not_found_exception\",\"reason\":\"canary\"}}",
                |error| matches!(error, Error::Corrupt { .. }),
            ),
            (401, "no user", "{\"error\":{\"type\":\"security_exception\"}}", |error| !error.is_retryable()),
            (307, "elsewhere", "", |error| !error.is_retryable()),
        ];
        for (status, what, body, is_right) in table {
            stub.answer_bulks(status, body);
            let found = text.put(&scope, &[entry(1, 1, false)], Visibility::OnReturn).await;
            let error = match found {
                Err(error) => error,
                // A single entry that is too large is refused alone.
                Ok(rejected) => rejected.into_iter().next().map(|rejected| rejected.error).unwrap(),
            };
            assert!(is_right(&error), "{what}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{what}");
        }
        stub.fail_with(Fault::never());
        assert!(text.put(&scope, &[entry(1, 1, false)], Visibility::OnReturn).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_server_that_is_silent_or_gone_is_told_in_time() -> Result<()> {
        let stub = Stub::start(SEED, Fault::never()).await;
        let config = ElasticConfig::new(&stub.url())?.with_patience(Duration::from_millis(200));
        let elastic = Elastic::connect(config.with_bulk_patience(Duration::from_millis(200))).await?;
        let text = ElasticText::open(&elastic, "test").await?;
        stub.be_silent();
        let begun = RunningWatch::start();
        let silent = tokio::time::timeout(Duration::from_secs(60), text.ping()).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(silent.expect("an answer in time").unwrap_err().is_retryable());
        drop(stub);
        assert!(text.ping().await.unwrap_err().is_retryable());
        Ok(())
    }

    #[tokio::test]
    async fn what_is_findable_on_return_waits_for_no_refresh_of_the_servers_own() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let config = ElasticConfig::new(&stub.url()).unwrap().with_patience(Duration::from_secs(20));
        let elastic = Elastic::connect(config.with_bulk_patience(Duration::from_millis(500))).await.unwrap();
        let (text, scope) = (ElasticText::open(&elastic, "test").await.unwrap(), Scope::new("stub", "rare").unwrap());
        let entry = entry(1, 1, false);
        put(&text, &scope, std::slice::from_ref(&entry)).await;
        assert_eq!(stub.stored(&scope).len(), 1);
        text.delete(&scope, &deletion([entry.item])).await.unwrap();
        assert!(stub.stored(&scope).is_empty());
    }

    #[tokio::test]
    async fn a_server_that_sends_elsewhere_is_not_followed() {
        let elsewhere = Stub::start(SEED, Fault::never()).await;
        let place = format!("{}/_nodes/_local", elsewhere.url());
        let answer = format!("HTTP/1.1 307 Said\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
        let config = ElasticConfig::new(&server::say(answer).await).unwrap().with_user("ada", "canary");
        let error = Elastic::connect(config).await.unwrap_err();
        assert!(!error.is_retryable(), "{error:?}");
    }

    #[tokio::test]
    async fn an_answer_that_is_too_long_is_not_read() {
        let spaces = " ".repeat(2_000);
        let (told, open) = ("content-length: 2000\r\n\r\n", "transfer-encoding: chunked\r\n\r\n7d0\r\n");
        for (status, head, is_retryable) in [(200, told, false), (200, open, false), (503, told, true)] {
            let answer = format!("HTTP/1.1 {status} Said\r\n{head}{spaces}\r\n0\r\n\r\n");
            let config = ElasticConfig::new(&server::say(answer).await).unwrap().with_answer_bytes(1_000);
            let error = Elastic::connect(config).await.unwrap_err();
            assert_eq!(error.is_retryable(), is_retryable, "{status} {head}: {error:?}");
        }
    }

    #[tokio::test]
    async fn a_long_error_that_a_given_client_meets_keeps_its_status() {
        let answer = "HTTP/1.1 503 Said\r\ncontent-length: 2000000\r\n\r\n".to_owned();
        let url = server::say(answer).await;
        let pool = SingleNodeConnectionPool::new(Url::parse(&url).unwrap());
        let client = Elasticsearch::new(TransportBuilder::new(pool).disable_proxy().build().unwrap());
        let config = ElasticConfig::new(&url).unwrap().with_answer_bytes(1_000);
        let error = Elastic::from_client(client, config).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
    }

    #[tokio::test]
    async fn an_erasure_of_what_the_server_counts_but_does_not_show_is_not_done() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "hidden").unwrap());
        assert_eq!(text.erase(&scope, Epoch(1)).await.unwrap().remaining, 0);
        stub.hide();
        let error = text.erase(&scope, Epoch(1)).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
    }

    /// A search asks twice: for the erasures of the owner, when a late write of an erased epoch cannot be found yet, and for what
    /// is near, when it can be.
    #[tokio::test]
    async fn what_a_late_write_brings_back_between_the_requests_of_a_search_is_no_hit() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (model, recipe) = ("test".to_owned(), "plain-1".to_owned());
        let space = EmbeddingSpace { model, dimension: 2, normalised: true, recipe };
        let vectors = ElasticVectors::open(&connect(&stub).await, space.clone()).await.unwrap();
        let scope = Scope::new("stub", "late").unwrap();
        let [old, new] = [of_epoch(1, 0), of_epoch(2, 1)].map(|entry| {
            let TextEntry { item, version, fields, .. } = entry;
            VectorEntry { item, version, pieces: vec![vec![1.0, 0.0]], fields }
        });
        let (vector, filter) = (vec![1.0, 0.0], Filter::All);
        let query = VectorQuery { space, vector, filter, limit: 10, floor: None, with_vectors: false };
        let found = async || {
            let hits = vectors.search(&scope, &query).await.unwrap();
            hits.into_iter().map(|hit| hit.item).collect::<Vec<_>>()
        };
        assert!(vectors.put(&scope, &[old, new.clone()], Visibility::AfterFlush).await.unwrap().is_empty());
        assert_eq!(found().await.len(), 2);
        vectors.erase(&scope, Epoch(1)).await.unwrap();
        assert_eq!(found().await, [new.item]);
    }

    /// A search by words asks again where more items match than its first request has found.
    #[tokio::test]
    async fn each_further_request_of_a_search_by_words_leaves_out_what_is_erased() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "words").unwrap());
        let (old, new) = (of_epoch(1, 0), of_epoch(2, 1));
        assert!(put(&text, &scope, &[old, new.clone()]).await.is_empty());
        text.erase(&scope, Epoch(1)).await.unwrap();
        let earlier = stub.searches().len();
        let (terms, filter) = (vec![Term::new("river").unwrap()], Filter::All);
        let query = TextQuery { terms, unit: memory_core::Unit::Message, filter, limit: 10 };
        let found: Vec<ItemId> =
            text.search(&scope, &query).await.unwrap().hits.into_iter().map(|hit| hit.item).collect();
        assert_eq!(found, [new.item]);
        let bound = |body: &Value| body.pointer("/query/bool/filter/0/bool/must_not/0/range/epoch/lt").cloned();
        let bounds: Vec<Option<Value>> = stub.searches()[earlier..].iter().map(bound).collect();
        assert_eq!(bounds, [None, Some(Value::from(1)), Some(Value::from(1))]);
    }

    /// The client may read ten times as much of an answer.
    #[tokio::test]
    async fn hits_that_take_long_to_read_together_are_read_in_parts() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "long").unwrap());
        stub.be_wordy();
        let (terms, filter) = (vec![Term::new("river").unwrap()], Filter::All);
        let query = TextQuery { terms, unit: memory_core::Unit::Message, filter, limit: 10 };
        assert!(text.search(&scope, &query).await.unwrap().hits.is_empty());
        let sizes: Vec<Option<u64>> = stub.searches().iter().map(|body| body["size"].as_u64()).collect();
        assert_eq!(sizes, [Some(1_000), Some(0), Some(2), Some(1)]);
    }

    /// The stub's erasure finds nothing to delete, as one that came before the put had written, whose answer then was lost.
    #[tokio::test]
    async fn a_put_that_is_repeated_clears_away_what_it_left_of_an_erased_epoch() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "left").unwrap());
        let old = [of_epoch(1, 0), of_epoch(2, 0), of_epoch(3, 0)];
        assert!(put(&text, &scope, &old).await.is_empty());
        text.erase(&scope, Epoch(1)).await.unwrap();
        assert!(put(&text, &scope, &[of_epoch(2, 1)]).await.is_empty());
        assert_eq!(stub.stored(&scope).len(), 3);
        assert!(put(&text, &scope, &old).await.is_empty());
        let stored: Vec<String> = stub.stored(&scope).into_keys().collect();
        assert_eq!(stored, [old[1].item.key()], "what was told anew stays");
    }

    #[tokio::test]
    async fn what_a_large_put_left_is_looked_for_in_parts() {
        let stub = Stub::start(SEED, Fault::never()).await;
        let (text, scope) = (open(&stub).await, Scope::new("stub", "much left").unwrap());
        let old: Vec<TextEntry> = (1..=1_001).map(|number| of_epoch(number, 0)).collect();
        assert!(put(&text, &scope, &old).await.is_empty());
        text.erase(&scope, Epoch(1)).await.unwrap();
        assert!(put(&text, &scope, &old).await.is_empty());
        assert!(stub.stored(&scope).is_empty());
    }

    #[tokio::test]
    async fn an_index_that_syncs_its_writes_no_more_is_told_and_left_alone_within_a_minute() {
        let (stub, clock) = (Stub::start(SEED, Fault::never()).await, Arc::new(ManualClock::default()));
        let config = ElasticConfig::new(&stub.url()).unwrap().with_clock(clock.clone());
        let text = ElasticText::open(&Elastic::connect(config).await.unwrap(), "test").await.unwrap();
        let scope = Scope::new("stub", "translog").unwrap();
        assert_eq!(text.ping().await.unwrap().durability, Durability::Committed);
        stub.set_translog("async");
        clock.advance(Duration::from_secs(60));
        let refused = text.put(&scope, &[entry(1, 1, false)], Visibility::OnReturn).await;
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
        assert!(text.ping().await.is_err() && stub.stored(&scope).is_empty());
        stub.set_translog("request");
        assert!(text.put(&scope, &[entry(1, 1, false)], Visibility::OnReturn).await.unwrap().is_empty());
    }
}
