//! The in-process stores keep every promise.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::hashing::HashEmbedder;
use memory_core::reference::{MemBlackboard, MemCache, MemChat, MemJournal, MemRecords, MemText, MemVectors};
use memory_core::window::ExtractiveSummarizer;
use memory_core::{Result, Truth};
use memory_testkit::{Boards, Caches, Embedders, Journals, Setting, Suite, Summarizers, Texts, Vectors};

/// Returns the opener of stores that live in the process: opened twice by one name, it is the same store.
fn shared<S: Clone + Send>(make: impl Fn(Setting) -> S) -> impl Fn(Setting) -> std::future::Ready<Result<S>> {
    tried(move |setting| Ok(make(setting)))
}

/// Returns the same of stores that refuse some settings.
fn tried<S: Clone + Send>(make: impl Fn(Setting) -> Result<S>) -> impl Fn(Setting) -> std::future::Ready<Result<S>> {
    let stores = Mutex::new(BTreeMap::new());
    move |setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let store: &mut Result<S> = stores.entry(setting.name.clone()).or_insert_with(|| make(setting));
        std::future::ready(store.clone())
    }
}

fn main() -> ExitCode {
    Suite::new("reference")
        .chat(shared(|_| Truth::chat(Arc::<MemChat>::default())))
        .records(shared(|_| Truth::records(Arc::<MemRecords>::default())))
        .text(shared(|setting| Arc::new(MemText::new(setting.analysis)) as Texts))
        .vectors(shared(|setting| Arc::new(MemVectors::new(setting.space)) as Vectors))
        .cache(shared(|setting| Arc::new(MemCache::new(setting.clock)) as Caches))
        .blackboard(tried(|setting| {
            let board = MemBlackboard::new(setting.clock, setting.capacity)?.with_keep(setting.keep);
            Ok(Arc::new(board) as Boards)
        }))
        .journal(shared(|setting| Arc::new(MemJournal::new(setting.capacity)) as Journals))
        .embedder(shared(|_| Arc::new(HashEmbedder::new(384)) as Embedders))
        .summarizer(shared(|_| Arc::new(ExtractiveSummarizer::default()) as Summarizers))
        .run()
}
