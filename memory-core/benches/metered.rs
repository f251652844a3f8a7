//! What counting costs a call of a store where nobody listens: the same read of a store in this process, bare and through a memory,
//! which counts and times it and does nothing else.
//!
//! `cargo bench -p memory-core --bench metered`

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use memory_core::engine::Memory;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::{ChatStore, Page};
use memory_core::{Result, Scope, SessionId, Truth};

fn cost(criterion: &mut Criterion) -> Result<()> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Ok(()) };
    let (scope, session) = (Scope::new("acme", "ada")?, SessionId::new("talk")?);
    let store = Arc::new(MemChat::default());
    let truth = (Truth::chat(Arc::clone(&store)), Truth::records(Arc::new(MemRecords::default())));
    let memory = runtime.block_on(Memory::builder(truth.0, truth.1).build())?;
    let handle = memory.of(&scope).session(&session);
    let page = Page::newest(0);
    criterion.bench_function("a read of the store", |bench| {
        bench.iter(|| runtime.block_on(store.read(&scope, &session, &page)));
    });
    criterion.bench_function("the same, counted", |bench| bench.iter(|| runtime.block_on(handle.read(&page))));
    Ok(())
}

fn all(criterion: &mut Criterion) {
    if let Err(error) = cost(criterion) {
        criterion.bench_function(&format!("failed: {error}"), |_| {});
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
