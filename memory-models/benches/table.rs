//! The rate of the static table: messages of 470 bytes, the mean of real chat, embedded one after the other on one core.
//!
//! Goal: at least 20,000 messages a second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memory_core::model::{Embedder, Purpose};
use memory_models::StaticEmbedder;
use tokio::runtime::Builder;

/// English with names of things, which have more word pieces than talk has.
const TEXT: &str = include_str!("../../ARCHITECTURE.md");
const BYTES: usize = 470;

/// Returns the text in messages.
fn messages() -> Vec<String> {
    let mut messages = vec![String::new()];
    for word in TEXT.split_inclusive(char::is_whitespace) {
        match messages.last_mut().filter(|message| message.len() < BYTES) {
            Some(message) => message.push_str(word),
            None => messages.push(word.to_owned()),
        }
    }
    messages
}

fn rate(criterion: &mut Criterion) {
    let Ok(runtime) = Builder::new_current_thread().build() else { return };
    let (embedder, messages) = (StaticEmbedder::new(), messages());
    let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
    let mut group = criterion.benchmark_group("static table");
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function("messages", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(embedder.embed(&texts, Purpose::Document))).is_ok());
    });
    group.finish();
}

criterion_group!(benches, rate);
criterion_main!(benches);
