//! Summaries whose model answers after what it read was forgotten, and came back under the same ids with other words.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use memory_core::engine::{Forget, Session};
use memory_core::model::{Summarizer, Summary, SummaryRequest};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Message, Seq};
use tokio::sync::Notify;

use crate::bench::{Bench, Taps, session};

/// What was said before it was forgotten. The chatter of the bench names it in every turn.
const OLD: &str = "plant";

/// Answers when it is told to, and of what comes after that at once.
#[derive(Debug, Default)]
struct Late {
    asked: Notify,
    go: Notify,
    has_answered: AtomicBool,
}

#[async_trait]
impl Summarizer for Late {
    async fn summarize(&self, _: &SummaryRequest) -> memory_core::Result<Summary> {
        let mut text = "Other things were said.".to_owned();
        if !self.has_answered.swap(true, Ordering::SeqCst) {
            self.asked.notify_one();
            self.go.notified().await;
            text = format!("Each {OLD} was watered.");
        }
        Ok(Summary { text, by: "late".to_owned() })
    }
}

/// Passes if nobody reads the old words.
async fn holds_nothing_old(talk: &Session, count: usize) {
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::All)).await.unwrap().messages;
    let texts: Vec<String> = rows.iter().filter_map(|row| Some(row.message.as_ref()?.text())).collect();
    assert!(texts.iter().all(|text| !text.to_lowercase().contains(OLD)), "{texts:?}");
    assert!(texts.len() >= count, "{} of {count}", texts.len());
    let context = talk.context("What was watered?", 4_000).await.unwrap();
    let shown = format!("{:?}", context.parts).to_lowercase();
    assert!(!shown.contains(OLD), "{shown}");
}

async fn forgotten_while_it_is_summarised(what: Forget) {
    let late = Arc::new(Late::default());
    let bench = Bench::with(Taps::default(), |builder| {
        builder.buffer(BufferConfig::default().with_limit(1_500)).summarizer(late.clone())
    })
    .await;
    let said = bench.chatter(50);
    bench.session("ada").append(said.clone()).await.unwrap();
    let memory = bench.memory.clone();
    let upkeep = tokio::spawn(async move { memory.upkeep_once().await.unwrap() });
    late.asked.notified().await;

    bench.owner("ada").forget(&what).await.unwrap();
    let talk = bench.session("ada");
    let other = |old: &Message| Message::new(old.role, "Something else.", old.at).with_id(old.id);
    talk.append(said.iter().map(other).collect()).await.unwrap();
    late.go.notify_one();

    assert_eq!(upkeep.await.unwrap().failures, [""; 0]);
    holds_nothing_old(&talk, said.len()).await;
}

#[tokio::test]
async fn s1_14_the_summary_of_a_forgotten_conversation_is_not_stored_in_the_next_of_its_name() {
    forgotten_while_it_is_summarised(Forget::Session(session("talk"))).await;
}

#[tokio::test]
async fn s1_14_the_summary_of_an_erased_owner_is_not_stored_in_what_comes_after() {
    forgotten_while_it_is_summarised(Forget::Everything).await;
}
