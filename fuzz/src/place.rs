//! A memory in this process for each input, and the one thread that its work is done on.

use std::cell::OnceCell;
use std::io::Cursor;

use memory::import::{Import, Source, Tally};
use memory::{Memory, Scope, Scoped, Settings, Timestamp};
use tokio::runtime::{Builder, Runtime};

/// When everything is read: 2026-11-22.
pub const NOW: Timestamp = Timestamp(1_795_305_600_000_000);

/// Does the work of one input.
pub fn run<F: Future>(work: F) -> F::Output {
    thread_local! {
        static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    }
    RUNTIME.with(|runtime| {
        runtime.get_or_init(|| Builder::new_current_thread().enable_all().build().expect("a runtime")).block_on(work)
    })
}

/// Returns a memory with nothing in it.
pub async fn memory() -> Memory {
    let builder = Settings::new("memory:").without_embedder().open().await.expect("a memory in this process");
    builder.build().await.expect("a memory in this process")
}

/// Returns the owner of everything.
pub fn ada(memory: &Memory) -> Scoped {
    memory.of(&Scope::new("acme", "ada").expect("an owner"))
}

/// Imports a file as the program does.
pub async fn import(ada: &Scoped, file: &[u8], trusts_roles: bool) -> Tally {
    let source = Source::new(ada.scope(), "chat", NOW);
    let source = if trusts_roles { source.trusting_roles() } else { source };
    let mut import = Import::begin(ada.clone(), Cursor::new(file.to_vec()), source).expect("a thread that reads");
    while import.step().await.expect("a memory in this process fails at nothing").is_some() {}
    import.finish()
}
