//! What the model knows, and how the embedder behaves around it.

use memory_core::model::{Embedder, Purpose};

use super::*;
use crate::text::TEXT_BYTES;
use memory_core::Error;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

async fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    LocalEmbedder::new().embed(texts, Purpose::Document).await.unwrap()
}

#[tokio::test]
async fn texts_of_one_meaning_are_near_without_a_word_in_common() {
    let texts = ["I can't eat cheese or drink milk", "an intolerance to lactose", "the train to Berlin was late"];
    let found = vectors(&texts).await;
    let [near, far] = [&found[1], &found[2]].map(|other| cosine(&found[0], other));
    assert!(near > far + 0.2, "{near} {far}");
}

#[tokio::test]
async fn the_end_of_a_long_text_counts() {
    let long = "She talked about the garden for a long while. ".repeat(20);
    let ends = [format!("{long} Then the dog bit the postman."), format!("{long} Then they went to the opera.")];
    let found = vectors(&[&long, &ends[0], &ends[1], "a dog bites"]).await;
    assert_ne!(found[1], found[2]);
    let [plain, dog, opera] = [&found[0], &found[1], &found[2]].map(|text| cosine(text, &found[3]));
    assert!(dog > plain && dog > opera, "{dog} {plain} {opera}");
}

#[tokio::test]
async fn blank_and_huge_texts_are_refused_by_name() {
    let embedder = LocalEmbedder::new();
    for bad in ["", " \n\u{a0}", &"x".repeat(TEXT_BYTES + 1)] {
        let answer = embedder.embed(&["good", bad], Purpose::Query).await;
        assert!(matches!(answer, Err(Error::Invalid { .. })));
    }
    assert_eq!(embedder.embed(&["good"], Purpose::Query).await.unwrap().len(), 1);
}

#[test]
fn the_space_names_the_weights() {
    let space = LocalEmbedder::new().space().clone();
    assert_eq!(space.model, "pocket-encoder/minilm-l3-q4-g32-v1");
    assert_eq!(space.recipe, "weights-dabb40d5d98a-tokenizer-a9576e4dadfe-windows-1");
    // Tables and collections are called by it: another fingerprint is another index.
    assert_eq!(space.fingerprint(), "8ad1fbd9a11e7387");
}

#[tokio::test]
async fn queries_do_not_wait_behind_documents() {
    let embedder = LocalEmbedder::with_lanes(Lane::new(1, 1), Lane::new(1, 0));
    assert!(matches!(embedder.embed(&["text"], Purpose::Document).await, Err(Error::Overloaded)));
    assert!(embedder.embed(&["text"], Purpose::Query).await.is_ok());
}
