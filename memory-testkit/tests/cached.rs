//! A cache before truth changes no promise: the in-process stores keep every one behind it too.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::layer::{CacheLayer, CachePolicy};
use memory_core::reference::{MemCache, MemChat, MemRecords};
use memory_core::{Result, Truth};
use memory_testkit::{Setting, Suite};

/// Returns the opener of stores that live in the process; each opening is another process with the same cache.
fn shared<S, T>(
    make: impl Fn() -> S,
    layered: impl Fn(&S, Arc<CacheLayer>) -> T,
) -> impl Fn(Setting) -> std::future::Ready<Result<T>> {
    let stores = Mutex::new(BTreeMap::new());
    move |setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = setting.clock;
        let (store, cache) = stores.entry(setting.name).or_insert_with(|| (make(), Arc::new(MemCache::new(clock))));
        std::future::ready(Ok(layered(store, CacheLayer::new(cache.clone(), CachePolicy::default()))))
    }
}

fn main() -> ExitCode {
    Suite::new("cached")
        .chat(shared(Arc::<MemChat>::default, |store, layer| layer.chat(Truth::chat(store.clone()))))
        .records(shared(Arc::<MemRecords>::default, |store, layer| layer.records(Truth::records(store.clone()))))
        .run()
}
