//! Appends with a journal, while the primary store is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory::store::error::{Cause, Transience};
use memory::store::reference::{MemChat, MemJournal, MemRecords};
use memory::store::{Stores, Truth};
use memory::{Error, Memory, MemoryBuilder, Scope};
use memory_server::Config;
use memory_testkit::doubles::{Tap, Tapped};
use serde_json::{Value, json};

use crate::bed::{Bed, Call};

const TALK: &str = "/v1/sessions/talk/messages";
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the primary is away.
#[derive(Debug, Default)]
struct Away(AtomicBool);

impl Away {
    fn set(&self, is_away: bool) {
        self.0.store(is_away, Ordering::SeqCst);
    }
}

impl Tap for Away {
    fn enter(&self, _: &'static str) -> memory::Result<()> {
        if !self.0.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (transience, source) = (Transience::Transient { after: None }, Cause::new("it is away"));
        Err(Error::Backend { backend: "primary", doing: "answer", transience, source })
    }

    fn leave(&self, _: &'static str, _: usize) -> memory::Result<()> {
        Ok(())
    }
}

async fn memory(away: &Arc<Away>) -> Memory {
    let primary = Tapped::new(Arc::new(MemChat::default()), away.clone());
    let stores = Stores {
        chat: Some(Truth::chat(Arc::new(primary))),
        records: Some(Truth::records(Arc::new(MemRecords::default()))),
        ..Stores::default()
    };
    MemoryBuilder::over(stores).journal(Arc::new(MemJournal::new(1_000))).build().await.unwrap()
}

/// Returns a message that has an id and no time.
fn message(number: u64) -> Value {
    let id = format!("0190b0a0-0000-7000-8000-{number:012}");
    json!({ "role": "user", "content": format!("message {number}"), "id": id })
}

/// Appends messages that have ids, and asserts that all wait.
async fn queues(bed: &Bed, numbers: impl IntoIterator<Item = u64>) {
    let messages: Vec<Value> = numbers.into_iter().map(message).collect();
    is_queued(&bed.ok(Call::post(TALK, &json!({ "messages": messages }))).await);
}

fn is_queued(answer: &Value) {
    let stored = answer["stored"].as_array().unwrap();
    assert!(!stored.is_empty() && stored.iter().all(|one| one["outcome"] == "queued"), "{answer}");
}

/// Asserts that, once the primary is there, it has these texts, each once, and refused nothing.
async fn settles(bed: &Bed, away: &Away, texts: &[&str]) {
    away.set(false);
    assert_eq!(bed.memory.flush(PATIENCE).await, 0);
    assert!(bed.memory.of(&Scope::new("acme", "ada").unwrap()).refused(10).await.unwrap().is_empty());
    let read = bed.ok(Call::get(TALK)).await;
    let read: Vec<&str> = read["shown"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(read, texts);
}

#[tokio::test(start_paused = true)]
async fn an_append_with_a_key_is_repeated_while_the_primary_is_away_and_stored_once() {
    let away = Arc::new(Away::default());
    let bed = Bed::over(memory(&away).await, Config::default());
    let append = async |key: &str| {
        let body = json!({ "messages": [{ "role": "user", "content": key }] });
        is_queued(&bed.ok(Call::post(TALK, &body).header("idempotency-key", key)).await);
    };
    append("one").await;
    assert_eq!(bed.memory.flush(PATIENCE).await, 0);
    away.set(true);
    for key in ["two", "two", "one", "one", "three", "two"] {
        append(key).await;
    }
    settles(&bed, &away, &["one", "two", "three"]).await;
    append("one").await;
    settles(&bed, &away, &["one", "two", "three"]).await;
}

#[tokio::test(start_paused = true)]
async fn messages_with_ids_are_repeated_together_whether_they_wait_or_are_stored() {
    let away = Arc::new(Away::default());
    let bed = Bed::over(memory(&away).await, Config::default());
    queues(&bed, [1, 2]).await;
    assert_eq!(bed.memory.flush(PATIENCE).await, 0);
    away.set(true);
    queues(&bed, [3]).await;
    queues(&bed, [1, 3, 2, 4]).await;
    queues(&bed, [1, 3, 2, 4]).await;
    let other = json!({ "messages": [{ "role": "user", "content": "other", "id": message(3)["id"] }] });
    assert_eq!(bed.status(Call::post(TALK, &other)).await, 409);
    settles(&bed, &away, &["message 1", "message 2", "message 3", "message 4"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_status_tells_what_waits_of_the_owner_and_of_nobody_else() {
    let away = Arc::new(Away::default());
    let bed = Bed::over(memory(&away).await, Config::default());
    away.set(true);
    queues(&bed, [1, 2]).await;
    let status = async |token: &String| bed.send(Call::get("/v1/status").by(token)).await.json();
    let (of_ada, of_bob) = (status(&bed.reader).await, status(&bed.bob).await);
    assert_eq!(of_bob["journal"], json!({ "waiting": 0, "bytes": 0, "refused": 0 }));
    assert_eq!((&of_ada["journal"]["waiting"], &of_ada["journal"]["refused"]), (&json!(2), &json!(0)));
    assert!(of_ada["journal"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{of_ada}");
    away.set(false);
    assert_eq!(bed.memory.flush(PATIENCE).await, 0);
    assert_eq!(status(&bed.reader).await["journal"], of_bob["journal"]);
}

#[tokio::test(start_paused = true)]
async fn more_messages_than_are_looked_for_at_once_are_repeated_while_some_of_them_wait() {
    let away = Arc::new(Away::default());
    let bed = Bed::over(memory(&away).await, Config::default());
    queues(&bed, 0..40).await;
    assert_eq!(bed.memory.flush(PATIENCE).await, 0);
    away.set(true);
    queues(&bed, 40..80).await;
    queues(&bed, 0..80).await;
    let texts: Vec<String> = (0..80).map(|number| format!("message {number}")).collect();
    settles(&bed, &away, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
}
