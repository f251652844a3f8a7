//! The in-process stores keep every promise.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::reference::{MemChat, MemRecords};
use memory_core::{Result, Truth};
use memory_testkit::{Setting, Suite};

/// Returns the opener of stores that live in the process: opened twice by one name, it is the same store.
fn shared<S: Clone + Send>(make: impl Fn(Setting) -> S) -> impl Fn(Setting) -> std::future::Ready<Result<S>> {
    let stores = Mutex::new(BTreeMap::new());
    move |setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let store: &mut S = stores.entry(setting.name.clone()).or_insert_with(|| make(setting));
        std::future::ready(Ok(store.clone()))
    }
}

fn main() -> ExitCode {
    Suite::new("reference")
        .chat(shared(|_| Truth::chat(Arc::<MemChat>::default())))
        .records(shared(|_| Truth::records(Arc::<MemRecords>::default())))
        .run()
}
