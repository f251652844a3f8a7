//! A conversation store for third parties to read: small, slow, and it keeps every promise.
//!
//! `cargo run --example tiny_store` plays the whole suite on it. A backend does the same in `tests/conformance.rs`.

mod notes;
mod session;
mod store;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::Truth;
use memory_testkit::{Chat, Setting, Suite};

use store::TinyChat;

fn main() -> ExitCode {
    // A store with a file would open `setting.name`; this one has to be found again in the process.
    let opened: Mutex<BTreeMap<String, Chat>> = Mutex::default();
    let open = move |setting: Setting| {
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let store = opened.entry(setting.name).or_insert_with(|| Truth::chat(Arc::<TinyChat>::default())).clone();
        std::future::ready(Ok(store))
    };
    Suite::new("tiny").chat(open).run()
}
