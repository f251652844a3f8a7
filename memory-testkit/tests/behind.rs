//! A journal before conversations changes few promises: the in-process store keeps the others behind it too.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::reference::{MemChat, MemJournal};
use memory_core::{Result, Truth};
use memory_testkit::{Journals, Setting, Suite};

/// How many messages may wait.
const ROOM: usize = 100_000;

/// Returns the opener of journals. Each passes from one process to the next; two processes at once have one each.
fn journals() -> impl Fn(Setting) -> std::future::Ready<Result<Journals>> {
    let all: Mutex<BTreeMap<String, Vec<Arc<MemJournal>>>> = Mutex::default();
    move |setting| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let here = all.entry(setting.name).or_default();
        let free = here.iter().find(|journal| Arc::strong_count(journal) == 1).cloned();
        let journal = free.unwrap_or_else(|| {
            here.push(Arc::new(MemJournal::new(ROOM)));
            here.last().cloned().unwrap_or_else(|| Arc::new(MemJournal::new(ROOM)))
        });
        std::future::ready(Ok(journal as Journals))
    }
}

fn main() -> ExitCode {
    let stores: Mutex<BTreeMap<String, Arc<MemChat>>> = Mutex::default();
    let chat = move |setting: Setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        std::future::ready(Ok(Truth::chat(stores.entry(setting.name).or_default().clone())))
    };
    Suite::new("behind").behind(chat, journals()).run()
}
