//! Generated calls against a server that fails in every way at every byte: no call panics, outlasts its deadline, shows the key or takes
//! half an answer for a whole one, and little more is asked than was called.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::hashing::HashEmbedder;
use memory_core::model::{Embedder, Purpose, Reranker};
use memory_core::{Error, Role};
use memory_models::{
    Anthropic, ChatModel, ChatRequest, HttpConfig, HttpEmbedder, HttpReranker, Ollama, OpenAi, RerankServer,
};
use memory_testkit::generate::Random;
use memory_testkit::rounds;
use memory_testkit::wire::{Asked, Reply, Server, cohere, ollama, openai};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{KEY, Wire, said};

/// Calls of a run of the tests; `MEMORY_TEST_ROUNDS` names another number, `scripts/soak.sh models-storm` sets it.
const CALLS: usize = 400;
/// Calls that share a server and its clients.
const WAVE: usize = 100;
/// Calls of one set of clients, of which a hundred are under way at a time. The one of them that is told to wait for years, which holds
/// up the others of its client, is among the last.
const LONG: Range<usize> = 99_706..100_706;
/// Long enough for a hundred calls to be asked at once by a machine that has other things to do.
const DEADLINE: Duration = Duration::from_secs(4);
/// How much longer a call may take.
const SLACK: Duration = Duration::from_secs(1);
const STATUSES: [u16; 14] = [429, 429, 500, 502, 503, 504, 529, 408, 400, 401, 404, 413, 302, 501];

fn pieces(case: usize) -> Vec<String> {
    (0..2 + case % 5).map(|piece| format!("piece {piece} of {case}, ¡sí! 🦙; ")).collect()
}

/// Returns the whole answer that is asked for.
fn good(asked: &Asked, case: usize) -> Reply {
    let body = asked.json();
    let texts: Vec<&str> = ["input", "documents"]
        .iter()
        .filter_map(|member| body[*member].as_array())
        .flatten()
        .filter_map(|text| text.as_str())
        .collect();
    if !texts.is_empty() {
        let vectors: Vec<Vec<f32>> = texts.iter().map(|text| HashEmbedder::new(8).vector(text)).collect();
        let scores: Vec<f32> = texts.iter().map(|text| text.len() as f32).collect();
        return Reply::json(&match asked.path.as_str() {
            "/rerank" => cohere::scores(&scores),
            "/api/embed" => ollama::embeddings(&vectors),
            _ => openai::embeddings(&vectors),
        });
    }
    let wire = match asked.path.as_str() {
        "/messages" => Wire::Anthropic,
        "/api/chat" => Wire::Ollama,
        _ => Wire::OpenAi,
    };
    let pieces = pieces(case);
    match body["stream"] == true {
        true => wire.stream(&pieces.iter().map(String::as_str).collect::<Vec<_>>()),
        false => wire.whole(&pieces.concat()),
    }
}

/// Returns an answer that fails in a way that the case and the attempt decide, and whether its words may be others.
fn bad(reply: Reply, asked: &Asked, case: usize, attempt: usize) -> (Reply, bool) {
    let mut random = Random::new((case * 8 + attempt) as u64);
    let key = asked.header("authorization").or(asked.header("x-api-key")).unwrap_or_default();
    let place = random.below(reply.size() + 1);
    let part = 1 + random.below(40);
    match random.below(16) {
        0 => (reply.in_parts_of(part), false),
        1..=3 => (reply.in_parts_of(part).cut_at(place), false),
        4 => (reply.until_closed().cut_at(place), false),
        5 | 6 => (reply.in_parts_of(part).hang_at(place), false),
        7..=10 => {
            let status = random.pick(&STATUSES);
            let waits = ["", "0", "0", "soon", "-5", "Wed, 25 Nov 2026 18:00:00", key];
            // A long wait holds up all calls of a client, so few waves have one.
            let wait = if case % 997 == 5 { "99999999999" } else { waits[random.below(waits.len())] };
            let body = serde_json::json!({ "error": { "message": key, "code": key, "type": key }, "error_type": key });
            (Reply::status(status, &body).header("retry-after", wait), false)
        }
        11 => (
            reply.broken_by(|body| {
                if let Some(byte) = body.get_mut(place) {
                    *byte ^= 1 << (part % 8);
                }
            }),
            true,
        ),
        12 => (reply.broken_by(|body| body.truncate(place)), false),
        13 => {
            (Reply::new(200, "application/json", (0..place).map(|_| random.number() as u8).collect::<Vec<u8>>()), false)
        }
        14 => (Reply::new(200, "text/html", format!("<html>{key}</html>")), false),
        _ => (reply.broken_by(|body| body.retain(|byte| *byte != b'\n')).endless(), true),
    }
}

/// A server with its clients.
struct Wave {
    server: Server,
    /// The cases whose words may be others than those of a good answer.
    changed: Arc<Mutex<HashMap<usize, usize>>>,
    chats: [Arc<dyn ChatModel>; 3],
    embedders: [HttpEmbedder; 2],
    reranker: HttpReranker,
}

impl Wave {
    async fn start() -> Self {
        let changed: Arc<Mutex<HashMap<usize, usize>>> = Arc::default();
        let (attempts, noted) = (Mutex::new(HashMap::<usize, usize>::new()), Arc::clone(&changed));
        let server = Server::start(move |asked| {
            let body = String::from_utf8_lossy(&asked.body);
            let case = body.split("case-").nth(1).and_then(|rest| rest.split('-').next()?.parse().ok()).unwrap();
            let attempt = { *attempts.lock().unwrap().entry(case).and_modify(|attempt| *attempt += 1).or_insert(0) };
            let (reply, is_changed) = bad(good(asked, case), asked, case, attempt);
            if is_changed {
                noted.lock().unwrap().insert(case, attempt);
            }
            reply
        })
        .await;
        let config = || {
            let config = HttpConfig::new(&server.url("")).unwrap().with_key(KEY).with_concurrency(WAVE);
            let config = config.with_silence(DEADLINE / 2).with_deadline(DEADLINE).with_stream_deadline(DEADLINE);
            config.with_answer_bytes(1 << 20)
        };
        let (openai, ollama) = (OpenAi::compatible(config()).unwrap(), Ollama::with_config(config()).unwrap());
        let anthropic = Anthropic::with_config(config()).unwrap();
        Self {
            chats: [Arc::new(openai.chat("m")), Arc::new(anthropic.chat("m")), Arc::new(ollama.chat("m"))],
            embedders: [
                openai.embedder("e").with_dimension(8).open().await.unwrap(),
                ollama.embedder("e").with_dimension(8).open().await.unwrap(),
            ],
            reranker: RerankServer::with_config(config()).unwrap().reranker("r"),
            server,
            changed,
        }
    }

    /// Makes a call, which ends in time, and returns whether it was answered.
    async fn call_in_time(self: Arc<Self>, case: usize) -> bool {
        let call = timeout(DEADLINE + SLACK, self.call(case)).await;
        call.unwrap_or_else(|_| panic!("case {case} outlasts its deadline"))
    }

    /// Makes a call, checks all that must hold whatever the server did, and returns whether it was answered.
    async fn call(&self, case: usize) -> bool {
        let text = format!("case-{case}- what is it?");
        let is_changed = || self.changed.lock().unwrap().contains_key(&case);
        let answered = match case % 9 {
            kind @ 0..6 => {
                let request = ChatRequest::new(vec![said(Role::User, &text)]);
                let (model, mut given) = (&self.chats[kind % 3], String::new());
                let answer = match kind < 3 {
                    true => model.answer(&request).await,
                    false => model.stream(&request, &mut |piece| given.push_str(piece)).await,
                };
                let whole = pieces(case).concat();
                assert!(is_changed() || whole.starts_with(&given), "case {case}: {given:?}");
                answer.map(|answer| {
                    assert!(is_changed() || answer.text == whole, "case {case}: half an answer is told as a whole one");
                    assert!(kind < 3 || answer.text == given, "case {case}");
                })
            }
            kind @ 6..8 => {
                let embedder = &self.embedders[kind - 6];
                embedder.embed(&[&text, "another"], Purpose::Document).await.map(|vectors| {
                    let good = [HashEmbedder::new(8).vector(&text), HashEmbedder::new(8).vector("another")];
                    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
                    for (vector, good) in vectors.iter().zip(&good) {
                        embedder.space().check_vector(vector).unwrap();
                        assert!(is_changed() || vector.iter().zip(good).all(is_near), "case {case}");
                    }
                    assert_eq!(vectors.len(), 2);
                })
            }
            _ => self.reranker.rerank("how long?", &[&text, "a"]).await.map(|scores| {
                assert!(scores.len() == 2 && scores.iter().all(|score| score.is_finite()), "case {case}");
                assert!(is_changed() || scores == [text.len() as f32, 1.0], "case {case}: {scores:?}");
            }),
        };
        answered.map_err(|error| check(case, &error)).is_ok()
    }
}

fn check(case: usize, error: &Error) {
    let shown = format!("{error} {error:?} {error:#?} {}", error.with_causes());
    assert!(!shown.contains(KEY) && !shown.contains("canary"), "case {case}: {shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_to_a_server_that_fails_in_every_way_end_in_time_and_cost_little_more() {
    let calls = rounds(CALLS);
    let (mut answered, mut asked) = (0, 0);
    for wave in 0..calls.div_ceil(WAVE) {
        let cases = wave * WAVE..calls.min((wave + 1) * WAVE);
        let (shared, mut tasks) = (Arc::new(Wave::start().await), JoinSet::new());
        for case in cases.clone() {
            tasks.spawn(Arc::clone(&shared).call_in_time(case));
        }
        answered += tasks.join_all().await.into_iter().filter(|is_answered| *is_answered).count();
        let requests = shared.server.requests();
        // Four clients, each of which may ask once again however few its calls are.
        assert!(requests <= cases.len() + cases.len() / 10 + 4, "{requests} requests for {} calls", cases.len());
        asked += requests;
    }
    println!("{calls} calls, {asked} requests, {answered} answered");
    assert!(answered * 20 > calls && answered * 2 < calls, "{answered} of {calls} calls were answered");
    assert!(asked > calls, "nothing was asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_of_the_same_clients_cost_at_most_a_tenth_more() {
    let (shared, mut tasks) = (Arc::new(Wave::start().await), JoinSet::new());
    for case in LONG {
        if tasks.len() == WAVE {
            tasks.join_next().await.unwrap().unwrap();
        }
        tasks.spawn(Arc::clone(&shared).call_in_time(case));
    }
    tasks.join_all().await;
    let (calls, asked) = (LONG.len(), shared.server.requests());
    println!("{calls} calls of the same clients, {asked} requests");
    assert!(asked * 10 <= calls * 11, "{asked} requests for {calls} calls");
    assert!(asked > calls, "nothing was asked again");
}
