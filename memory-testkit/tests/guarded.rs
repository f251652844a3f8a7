//! A guard changes no promise: the in-process stores keep every one behind it too.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::layer::{Guard, GuardPolicy, Guarded};
use memory_core::reference::{MemBlackboard, MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::{Result, Truth};
use memory_testkit::{Boards, Caches, Setting, Suite, Texts, Vectors};

/// Returns the opener of stores that live in the process: opened twice by one name, it is the same store.
fn shared<S: Clone + Send>(
    make: impl Fn(Setting, Arc<Guard>) -> S,
) -> impl Fn(Setting) -> std::future::Ready<Result<S>> {
    tried(move |setting, guard| Ok(make(setting, guard)))
}

/// Returns the same of stores that refuse some settings.
fn tried<S: Clone + Send>(
    make: impl Fn(Setting, Arc<Guard>) -> Result<S>,
) -> impl Fn(Setting) -> std::future::Ready<Result<S>> {
    let stores = Mutex::new(BTreeMap::new());
    move |setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let name = setting.name.clone();
        // Scenarios let hundreds of tasks call at once.
        let policy = GuardPolicy::default().with_concurrency(32, 10_000);
        let guard = Guard::new("reference", policy, setting.clock.clone());
        let store: &mut Result<S> = stores.entry(name).or_insert_with(|| make(setting, guard));
        std::future::ready(store.clone())
    }
}

fn main() -> ExitCode {
    Suite::new("guarded")
        .chat(shared(|_, guard| guard.chat(Truth::chat(Arc::<MemChat>::default()))))
        .records(shared(|_, guard| guard.records(Truth::records(Arc::<MemRecords>::default()))))
        .text(shared(|setting, guard| Arc::new(Guarded::new(Arc::new(MemText::new(setting.analysis)), guard)) as Texts))
        .vectors(shared(|setting, guard| {
            Arc::new(Guarded::new(Arc::new(MemVectors::new(setting.space)), guard)) as Vectors
        }))
        .cache(shared(|setting, guard| Arc::new(Guarded::new(Arc::new(MemCache::new(setting.clock)), guard)) as Caches))
        .blackboard(tried(|setting, guard| {
            let board = MemBlackboard::new(setting.clock, setting.capacity)?.with_keep(setting.keep);
            Ok(Arc::new(Guarded::new(Arc::new(board), guard)) as Boards)
        }))
        .run()
}
