//! Questions that name a participant, and all that look like one and change nothing.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memory_core::analysis::{Analysis, Language};
use memory_core::engine::{Hit, Memory, Search};
use memory_core::model::{Embedder, Purpose};
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Message, Result, Role, Scope, Timestamp, Truth};
use memory_testkit::doubles::FakeEmbedder;

use crate::bench::session;

/// Notes the questions that it embeds.
#[derive(Debug)]
struct Listening {
    inner: FakeEmbedder,
    questions: Mutex<Vec<String>>,
}

#[async_trait]
impl Embedder for Listening {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        if purpose == Purpose::Query {
            self.questions.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        }
        self.inner.embed(texts, purpose).await
    }
}

/// What became of a question.
#[derive(Debug, PartialEq)]
struct Answer {
    /// As what it was embedded, in order.
    embedded: Vec<String>,
    /// How many times as much the first speaker's message counts by words as the second's.
    favour: f32,
}

/// Asks about what two speakers said to each other in the same words, names included, in a memory of this analysis.
async fn ask_in(analysis: Analysis, speakers: [Option<&str>; 2], question: &str) -> Answer {
    let embedder = Arc::new(Listening { inner: FakeEmbedder::new(32), questions: Mutex::default() });
    let memory = Memory::builder(Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()))
        .text(Arc::new(MemText::new(analysis.name())))
        .vectors(Arc::new(MemVectors::new(embedder.space().clone())), embedder.clone())
        .analysis(analysis)
        .build()
        .await
        .unwrap();
    let owner = memory.of(&Scope::new("acme", "ada").unwrap());
    let [first, second] = speakers;
    for (number, (speaker, other)) in [(first, second), (second, first)].into_iter().enumerate() {
        // A session each, so that neither is the other's neighbour.
        // Both tell as much that no question here says.
        let text =
            format!("{}, the pottery class was great: glaze, kiln, apron, sponge, wheel.", other.unwrap_or("Friend"));
        let mut message = Message::new(Role::User, text, Timestamp(0));
        message.speaker = speaker.map(str::to_owned);
        owner.session(&session(&number.to_string())).append(vec![message]).await.unwrap();
    }
    assert_eq!(memory.upkeep_once().await.unwrap().failures, [""; 0]);
    let found = owner.search(&Search::new(question)).await.unwrap();
    let score = |number: usize| {
        let of = |hit: &&Hit| hit.content.fields().unwrap().session == Some(session(&number.to_string()));
        found.hits.iter().find(of).and_then(|hit| hit.signals.text).unwrap()
    };
    let embedded = embedder.questions.lock().unwrap().clone();
    Answer { embedded, favour: score(0) / score(1) }
}

async fn ask(question: &str) -> Answer {
    ask_in(Analysis::english(), [Some("Caroline"), Some("Melanie")], question).await
}

fn nothing_done(question: &str) -> Answer {
    Answer { embedded: vec![question.to_owned()], favour: 1.0 }
}

#[tokio::test]
async fn a_named_participant_is_favoured_and_the_question_asked_from_their_view() {
    let answer = ask("What did Caroline say of the pottery class?").await;
    assert_eq!(answer.embedded.last().unwrap(), "What did I say of the pottery class?");
    assert!(answer.favour > 1.1, "{answer:?}");
}

#[tokio::test]
async fn nothing_is_done_where_messages_carry_no_names() {
    let question = "What did Caroline say of the pottery class?";
    let answer = ask_in(Analysis::english(), [None, None], question).await;
    assert_eq!(answer, nothing_done(question));
}

#[tokio::test]
async fn nothing_is_done_where_nobody_is_named() {
    let question = "How was the pottery class?";
    assert_eq!(ask(question).await, nothing_done(question));
}

#[tokio::test]
async fn nothing_is_done_where_two_are_named() {
    let question = "Did Caroline and Melanie like the pottery class?";
    assert_eq!(ask(question).await, nothing_done(question));
}

#[tokio::test]
async fn nothing_is_done_where_the_question_is_in_the_first_person() {
    let question = "Did I tell Caroline of my pottery class?";
    assert_eq!(ask(question).await, nothing_done(question));
}

#[tokio::test]
async fn nothing_is_done_where_the_name_is_a_word_without_a_capital() {
    let question = "what will the pottery class cost?";
    let answer = ask_in(Analysis::english(), [Some("Will"), Some("Mark")], question).await;
    assert_eq!(answer, nothing_done(question));
    let question = "What does Will say of the pottery class?";
    let answer = ask_in(Analysis::english(), [Some("Will"), Some("Mark")], question).await;
    assert_eq!(answer.embedded.last().unwrap(), "What does I say of the pottery class?");
}

#[tokio::test]
async fn nothing_is_done_in_languages_without_tables() {
    let question = "Mitä Caroline sanoi, pottery class?";
    for analysis in [Analysis::plain(), Analysis::of(Language::Finnish)] {
        let answer = ask_in(analysis, [Some("Caroline"), Some("Melanie")], question).await;
        assert_eq!(answer, nothing_done(question));
    }
}

#[tokio::test]
async fn the_speaker_is_favoured_without_rewriting_in_languages_that_know_the_first_person_alone() {
    let question = "Was sagt Caroline: pottery class?";
    let answer = ask_in(Analysis::of(Language::German), [Some("Caroline"), Some("Melanie")], question).await;
    assert!(answer.embedded.iter().all(|embedded| embedded == question));
    assert!(answer.favour > 1.1, "{answer:?}");
}
