//! Embedders that are whole but for one thing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use memory_core::hashing::HashEmbedder;
use memory_core::model::{Embedder, Purpose};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Error, Result};
use memory_testkit::{Embedders, embedder};

use crate::frame;

/// Answers in its own way: given the whole embedder, the texts, and how many calls came before.
type Broken = fn(&HashEmbedder, &[&str], usize) -> Result<Vec<Vec<f32>>>;

#[derive(Debug)]
struct Mutant {
    inner: HashEmbedder,
    broken: Broken,
    calls: AtomicUsize,
}

#[async_trait]
impl Embedder for Mutant {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        (self.broken)(&self.inner, texts, self.calls.fetch_add(1, Ordering::SeqCst))
    }
}

fn all(inner: &HashEmbedder, texts: &[&str]) -> Vec<Vec<f32>> {
    texts.iter().map(|text| inner.vector(text)).collect()
}

async fn caught(broken: Broken, by: &[&str]) {
    let make = move |_| {
        let mutant = Mutant { inner: HashEmbedder::new(384), broken, calls: AtomicUsize::new(0) };
        Arc::new(mutant) as Embedders
    };
    frame::caught(&embedder::table(), by, make).await;
}

#[tokio::test]
async fn answers_in_another_order_are_caught() {
    caught(
        |inner, texts, _| Ok(all(inner, texts).into_iter().rev().collect()),
        &["tasks_at_once_get_their_own_vectors"],
    )
    .await;
    let sorted: Broken = |inner, texts, _| {
        let mut texts = texts.to_vec();
        texts.sort_unstable();
        Ok(all(inner, &texts))
    };
    caught(sorted, &["gives_a_vector_per_text_in_order"]).await;
}

#[tokio::test]
async fn missing_vectors_are_caught() {
    let distinct: Broken = |inner, texts, _| {
        let mut texts = texts.to_vec();
        texts.dedup();
        texts.truncate(32);
        Ok(all(inner, &texts))
    };
    caught(distinct, &["a_text_has_the_same_vector_alone_and_in_a_batch"]).await;
    let first: Broken = |inner, texts, _| Ok(all(inner, texts.get(..1).unwrap_or_default()));
    caught(first, &["gives_a_vector_per_text_in_order", "equal_texts_of_one_batch_have_equal_vectors"]).await;
    let something: Broken = |inner, texts, _| Ok(if texts.is_empty() { all(inner, &["x"]) } else { all(inner, texts) });
    caught(something, &["a_batch_of_nothing_gives_nothing"]).await;
}

#[tokio::test]
async fn vectors_that_depend_on_the_call_are_caught() {
    let drifting: Broken = |inner, texts, calls| {
        let mut vectors = all(inner, texts);
        vectors.iter_mut().flatten().for_each(|number| *number += calls as f32 * 1e-4);
        Ok(vectors)
    };
    caught(drifting, &["dropped_calls_disturb_no_other", "another_instance_has_the_same_space_and_vectors"]).await;
    let by_batch: Broken = |inner, texts, _| {
        let mut vectors = all(inner, texts);
        vectors.iter_mut().flatten().for_each(|number| *number += texts.len() as f32 * 1e-4);
        Ok(vectors)
    };
    caught(by_batch, &["a_text_has_the_same_vector_alone_and_in_a_batch"]).await;
}

#[tokio::test]
async fn vectors_that_no_store_takes_are_caught() {
    let long: Broken = |inner, texts, _| {
        let vectors = all(inner, texts).into_iter();
        Ok(vectors.map(|vector| vector.into_iter().map(|number| number * 2.0).collect()).collect())
    };
    caught(long, &["vectors_fit_the_space"]).await;
    let empty: Broken = |inner, texts, _| {
        let vector = |text: &&str| if text.trim().is_empty() { vec![0.0; 384] } else { inner.vector(text) };
        Ok(texts.iter().map(vector).collect())
    };
    caught(empty, &["odd_texts_are_refused_or_have_vectors_that_fit"]).await;
}

#[tokio::test]
async fn errors_that_repeat_a_text_or_spoil_later_calls_are_caught() {
    let telling: Broken = |inner, texts, _| match texts.iter().find(|text| text.contains("DROP TABLE")) {
        Some(text) => Err(Error::invalid(format!("cannot embed {text}"))),
        None => Ok(all(inner, texts)),
    };
    caught(telling, &["odd_texts_are_refused_or_have_vectors_that_fit"]).await;
    let short: Broken = |inner, texts, _| {
        if texts.iter().any(|text| text.len() > 1_000) {
            Err(Error::invalid("too long"))
        } else {
            Ok(all(inner, texts))
        }
    };
    caught(short, &["a_query_of_64_kib_has_a_vector"]).await;
}

#[tokio::test]
async fn knowing_nothing_of_what_others_know_is_caught() {
    let of_long_texts: Broken = |inner, texts, _| {
        let vector = |text: &&str| if text.len() > 1_000 { Vec::new() } else { inner.vector(text) };
        Ok(texts.iter().map(vector).collect())
    };
    caught(of_long_texts, &["a_query_of_64_kib_has_a_vector"]).await;
    let of_short_texts: Broken = |inner, texts, _| {
        let vector = |text: &&str| if text.len() < 5 { Vec::new() } else { inner.vector(text) };
        Ok(texts.iter().map(vector).collect())
    };
    caught(of_short_texts, &["vectors_fit_the_space"]).await;
}

#[tokio::test]
async fn vectors_without_meaning_are_caught() {
    let same: Broken = |inner, texts, _| Ok(texts.iter().map(|_| inner.vector("x")).collect());
    caught(same, &["other_texts_have_other_vectors", "a_question_is_nearest_to_the_text_that_answers_it"]).await;
}
