//! The server: a map of documents behind as much of the protocol as the text store speaks to put entries.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use memory_core::Scope;
use memory_testkit::generate::Random;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::fault::Fault;

/// A tag of entries that the server refuses.
pub(crate) const REFUSED: &str = "refused";

/// A tag of entries that the server refuses as an index does that is not as it was made.
pub(crate) const ODD: &str = "odd";

struct State {
    random: Random,
    fault: Fault,
    fixed: Option<(u16, String)>,
    /// What every write of a document fails with.
    refusal: Option<Value>,
    is_silent: bool,
    is_hiding: bool,
    is_wordy: bool,
    refreshes: usize,
    translog: &'static str,
    indexes: BTreeMap<String, Value>,
    /// Version and source by id.
    documents: BTreeMap<String, (i64, Value)>,
    writes: i64,
    /// The bodies of searches by words and of listings.
    searches: Vec<Value>,
    faults: BTreeMap<String, usize>,
}

pub(crate) struct Stub {
    port: u16,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stub {
    pub(crate) async fn start(seed: u64, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State {
            random: Random::new(seed),
            fault,
            fixed: None,
            refusal: None,
            is_silent: false,
            is_hiding: false,
            is_wordy: false,
            refreshes: 0,
            translog: "request",
            indexes: BTreeMap::new(),
            documents: BTreeMap::new(),
            writes: 0,
            searches: Vec::new(),
            faults: BTreeMap::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(talk(stream, Arc::clone(&shared)));
            }
        });
        Self { port, state, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn fail_with(&self, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        (state.fault, state.fixed) = (fault, None);
    }

    /// Answers every bulk like this from now on.
    pub(crate) fn answer_bulks(&self, status: u16, body: &str) {
        self.state.lock().unwrap().fixed = Some((status, body.to_owned()));
    }

    /// Fails every write of a document with this error from now on, or with none.
    pub(crate) fn refuse_documents(&self, error: Option<Value>) {
        self.state.lock().unwrap().refusal = error;
    }

    /// Sets when writes are synced.
    pub(crate) fn set_translog(&self, durability: &'static str) {
        self.state.lock().unwrap().translog = durability;
    }

    /// Counts a document in every sweep, and shows none.
    pub(crate) fn hide(&self) {
        self.state.lock().unwrap().is_hiding = true;
    }

    /// Answers searches for more than one hit at length.
    pub(crate) fn be_wordy(&self) {
        self.state.lock().unwrap().is_wordy = true;
    }

    /// Returns how often it was asked to refresh an index.
    pub(crate) fn refreshes(&self) -> usize {
        self.state.lock().unwrap().refreshes
    }

    pub(crate) fn be_silent(&self) {
        self.state.lock().unwrap().is_silent = true;
    }

    /// Returns the version of each item of an owner; in the first epoch that is the revision.
    pub(crate) fn stored(&self, scope: &Scope) -> BTreeMap<String, u64> {
        let state = self.state.lock().unwrap();
        let is_meant = |source: &Value| source["scope"] == scope.key() && source["item"].is_string();
        let of_owner = state.documents.values().filter(|(_, source)| is_meant(source));
        let mut stored = BTreeMap::new();
        for (_, source) in of_owner {
            let twice = stored.insert(source["item"].as_str().unwrap().to_owned(), source["version"].as_u64().unwrap());
            assert_eq!(twice, None, "an item is stored twice");
        }
        stored
    }

    /// Returns the bodies of all searches so far but those by meaning.
    pub(crate) fn searches(&self) -> Vec<Value> {
        self.state.lock().unwrap().searches.clone()
    }

    pub(crate) fn faults(&self) -> BTreeMap<String, usize> {
        self.state.lock().unwrap().faults.clone()
    }
}

/// Starts a server that says this to everybody, whatever is asked; returns its URL.
pub(crate) async fn say(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            if read(&mut stream).await.is_some() {
                stream.write_all(answer.as_bytes()).await.unwrap_or_default();
            }
        }
    });
    url
}

async fn talk(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    while let Some((method, path, body)) = read(&mut stream).await {
        let (status, answer, cut) = {
            let mut state = state.lock().unwrap();
            // Nor does it refresh an index by itself.
            if state.is_silent || path.contains("refresh=wait_for") {
                break;
            }
            state.answer(&method, &path, &body)
        };
        let length = answer.len() + usize::from(cut) * 10;
        let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\n\r\n");
        let sent = stream.write_all(format!("{head}{answer}").as_bytes()).await;
        if sent.is_err() || cut {
            return;
        }
    }
    // Silent, but there.
    std::future::pending::<()>().await;
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<(String, String, String)> {
    let (mut line, mut length) = (String::new(), 0);
    stream.read_line(&mut line).await.ok().filter(|bytes| *bytes > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        match header.trim_end().to_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((method, path, String::from_utf8(body).ok()?))
}

impl State {
    /// Returns the status, the body, and whether it breaks off.
    fn answer(&mut self, method: &str, path: &str, body: &str) -> (u16, String, bool) {
        let name = path.split('?').next().unwrap_or_default().trim_start_matches('/').to_owned();
        if name == "_nodes/_local" {
            return (200, json!({ "nodes": { "n": { "version": "9.0.0-stub" } } }).to_string(), false);
        }
        if name.starts_with("_cluster/health") {
            return (200, json!({ "status": "green" }).to_string(), false);
        }
        match (method, name.rsplit_once('/').map(|(_, end)| end)) {
            ("PUT", None) => self.create(&name, body),
            ("GET", None) => self.describe(&name),
            ("POST", Some("_mget")) => self.look(body),
            ("POST", Some("_search")) => {
                let (status, answer, cut) = self.search(body);
                let is_long = self.is_wordy && self.searches.last().is_some_and(|body| body["size"].as_u64() > Some(1));
                let spaces = if is_long { " ".repeat(17 << 20) } else { String::new() };
                (status, answer + &spaces, cut)
            }
            ("POST", Some("_refresh")) => {
                self.refreshes += 1;
                (200, json!({ "_shards": { "failed": 0 } }).to_string(), false)
            }
            ("POST", Some("_bulk")) => self.bulk(body),
            _ => (405, String::new(), false),
        }
    }

    fn create(&mut self, name: &str, body: &str) -> (u16, String, bool) {
        self.indexes.insert(name.to_owned(), serde_json::from_str(body).unwrap());
        (200, json!({ "acknowledged": true }).to_string(), false)
    }

    fn describe(&self, alias: &str) -> (u16, String, bool) {
        let found = self.indexes.iter().find(|(_, definition)| definition["aliases"].get(alias).is_some());
        match found {
            Some((name, definition)) => {
                let settings = json!({ "index": { "translog": { "durability": self.translog } } });
                (200, json!({ name: { "mappings": definition["mappings"], "settings": settings } }).to_string(), false)
            }
            None => (404, json!({ "error": { "type": "index_not_found_exception" } }).to_string(), false),
        }
    }

    /// Refuses to read more than 1,000 documents at once.
    fn look(&self, body: &str) -> (u16, String, bool) {
        let wanted: Value = serde_json::from_str(body).unwrap();
        let wanted = wanted["docs"].as_array().unwrap();
        if wanted.len() > 1_000 {
            return (400, String::new(), false);
        }
        let document = |wanted: &Value| match self.documents.get(wanted["_id"].as_str().unwrap()) {
            None => json!({ "found": false }),
            Some((version, source)) => {
                json!({ "found": true, "_seq_no": version, "_primary_term": 1, "_source": source })
            }
        };
        let documents: Vec<Value> = wanted.iter().map(document).collect();
        (200, json!({ "docs": documents }).to_string(), false)
    }

    /// Searches by meaning find what is stored, and so do those by words behind their first request. All others find nothing but
    /// erasures, as those do that come before a refresh. Those that count something count one item more than they find.
    fn search(&mut self, body: &str) -> (u16, String, bool) {
        let body: Value = serde_json::from_str(body).unwrap();
        let (by_meaning, by_words) = (body.pointer("/knn/filter"), body.pointer("/query/bool/filter/0/bool"));
        if by_meaning.is_none() {
            self.searches.push(body.clone());
        }
        let sources = || self.documents.values().map(|(_, source)| source);
        let (scope, since) = match (by_meaning, by_words) {
            (Some(conditions), _) => {
                (&conditions[0]["term"]["scope"], conditions[1]["range"]["epoch"]["gte"].as_u64().unwrap())
            }
            (None, Some(owner)) => {
                let since = owner["must_not"][0]["range"]["epoch"]["lt"].as_u64();
                (&owner["filter"][0]["term"]["scope"], since.unwrap_or_default())
            }
            (None, None) => {
                let scope = &body["query"]["bool"]["filter"][0]["term"]["scope"];
                let below =
                    sources().filter(|source| source["scope"] == *scope).filter_map(|source| source["below"].as_u64());
                let unit =
                    json!({ "doc_count": 1, "length": { "value": 1 }, "terms": { "buckets": [{ "doc_count": 1 }] } });
                let aggregations = json!({ "below": { "value": below.max() }, "unit": unit });
                let total = usize::from(body["aggs"].is_object() || self.is_hiding);
                let answer = json!({ "hits": { "total": { "value": total } }, "aggregations": aggregations });
                return (200, answer.to_string(), false);
            }
        };
        let is_meant =
            |source: &&Value| source["scope"] == *scope && source["epoch"].as_u64().is_some_and(|epoch| epoch >= since);
        let hit = |source: &Value| {
            let column = |name: &str| json!([source.pointer(&format!("/{}", name.replace('.', "/")))]);
            let names = ["item", "at", "epoch", "parts", "length", "counts.river"];
            let fields = names.map(|name| (name.to_owned(), column(name)));
            json!({ "_score": 1.0, "_source": { "body": source["body"] }, "fields": Map::from_iter(fields) })
        };
        let hits: Vec<Value> = sources().filter(is_meant).map(hit).collect();
        (200, json!({ "hits": { "total": { "value": hits.len() }, "hits": hits } }).to_string(), false)
    }

    fn bulk(&mut self, body: &str) -> (u16, String, bool) {
        if let Some((status, body)) = self.fixed.clone() {
            return (status, body, false);
        }
        let is_lost = self.random.chance(self.fault.request, 100);
        let kind = if is_lost { self.random.below(5) } else { 9 };
        // One entry alone that is too large is refused for good.
        let kind = if kind == 0 && body.lines().count() <= 4 { 1 } else { kind };
        let fixed = [(413, ""), (429, ""), (503, "{\"error\":\"no shard\"}")];
        if let Some((status, body)) = fixed.get(kind) {
            self.note(&format!("request {status}"));
            return (*status, (*body).to_owned(), false);
        }
        let mut lines = body.lines();
        let mut items = Vec::new();
        while let Some(head) = lines.next() {
            let head: Value = serde_json::from_str(head).unwrap();
            let (act, head) = head.as_object().unwrap().iter().next().unwrap();
            let source =
                if act == "delete" { Value::Null } else { serde_json::from_str(lines.next().unwrap()).unwrap() };
            items.push(json!({ act: self.item(act, head, source) }));
        }
        let answer = json!({ "errors": true, "items": items }).to_string();
        match kind {
            // Carried out, but nobody hears of it.
            3 => {
                self.note("request cut");
                (200, answer.chars().take(answer.len() / 2).collect(), true)
            }
            4 => {
                self.note("request garbled");
                (200, answer.chars().take(answer.len() / 2).collect(), false)
            }
            _ => (200, answer, false),
        }
    }

    fn item(&mut self, act: &str, head: &Value, source: Value) -> Value {
        if self.random.chance(self.fault.item, 100) {
            let status = self.random.pick(&[429, 429, 500, 502, 503]);
            self.note(&format!("item {status}"));
            return json!({ "status": status, "error": { "type": "es_rejected_execution_exception" } });
        }
        let id = head["_id"].as_str().unwrap().to_owned();
        if act == "update" {
            return match self.documents.get(&id) {
                None => json!({ "status": 404, "error": { "type": "document_missing_exception" } }),
                Some((_, source)) => json!({ "status": 200, "get": { "_source": source } }),
            };
        }
        if act == "delete" {
            // As it was looked at: a look tells the version in the place of the write's number.
            let is_as_read = self.documents.get(&id).is_some_and(|(stored, _)| head["if_seq_no"] == *stored);
            if !is_as_read {
                return json!({ "status": 409, "error": { "type": "version_conflict_engine_exception" } });
            }
            self.documents.remove(&id);
            return json!({ "status": 200 });
        }
        if let Some(error) = &self.refusal {
            return json!({ "status": 400, "error": error });
        }
        let words = source["values"].as_array().cloned().unwrap_or_default();
        let has = |tag: &str| words.iter().any(|word| word.as_str().is_some_and(|word| word.ends_with(tag)));
        let refusals = [(REFUSED, "document_parsing_exception"), (ODD, "illegal_argument_exception")];
        if let Some((_, kind)) = refusals.into_iter().find(|refusal| has(refusal.0)) {
            self.note("item 400");
            return json!({ "status": 400, "error": { "type": kind, "reason": "canary" } });
        }
        let version = head["version"].as_i64().unwrap();
        if self.documents.get(&id).is_some_and(|(stored, _)| *stored > version) {
            self.note("item 409");
            return json!({ "status": 409, "error": { "type": "version_conflict_engine_exception" } });
        }
        self.writes += 1;
        self.documents.insert(id, (version, source));
        json!({ "status": 200, "_version": version, "_seq_no": self.writes, "_primary_term": 1 })
    }

    fn note(&mut self, fault: &str) {
        *self.faults.entry(fault.to_owned()).or_default() += 1;
    }
}
