//! Files that mean harm: each is rejected in a clause that quotes nothing of it, or what is taken of it comes back
//! exactly; none breaks the program or keeps it busy.

mod corpus;

use std::io::Cursor;
use std::time::Duration;

use memory_core::engine::{Memory, Scoped};
use memory_core::{Error, Scope};
use tempfile::tempdir;
use tokio::time::timeout;

use super::whole_source;
use crate::import::{Import, Tally};
use crate::transfer;

use corpus::{File, PAYLOAD};

/// How long one file may take, its exports and second import included.
const PATIENCE: Duration = Duration::from_secs(10);
/// Files that are tried, unless `MEMORY_HOSTILE` says how many.
const FILES: usize = 640;
const TENANT: &str = "hostile";

#[expect(clippy::disallowed_methods, reason = "a knob of this test: how many files it tries")]
fn count() -> usize {
    std::env::var("MEMORY_HOSTILE").ok().and_then(|files| files.parse().ok()).unwrap_or(FILES)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hostile_file_is_rejected_in_a_clause_or_comes_back_exactly() {
    let folder = tempdir().unwrap();
    let memory = crate::open(folder.path().join("m.sqlite").to_str().unwrap()).await.unwrap().build().await.unwrap();
    let files = corpus::files(count());
    assert!(files.len() >= 500, "{} files", files.len());
    let (mut whole, mut in_part, mut refused) = (0, 0, 0);
    for (number, file) in files.iter().enumerate() {
        let tried = timeout(PATIENCE, attempt(&memory, number, file)).await;
        let tally = tried.unwrap_or_else(|_| panic!("{} takes too long", file.what));
        match (tally.committed(), tally.rejected) {
            (0, _) => refused += 1,
            (_, 0) => whole += 1,
            _ => in_part += 1,
        }
    }
    println!("{} files: {whole} taken whole, {in_part} in part, {refused} refused", files.len());
    assert!(whole > 50 && in_part > 50 && refused > 50);
    timeout(PATIENCE * 6, memory.upkeep_once()).await.expect("upkeep ends").unwrap();
    memory.close().await.unwrap();
}

/// Imports a file, and what was taken of it once more for another owner.
async fn attempt(memory: &Memory, number: usize, File { what, text }: &File) -> Tally {
    let owner = |name: &str| memory.of(&Scope::new(TENANT, &format!("{name}{number}")).unwrap());
    let (first, second) = (owner("first"), owner("second"));
    let tally = import(&first, text.clone()).await;
    let tally = tally.unwrap_or_else(|error| panic!("{what}: {}", error.with_causes()));
    let rejections = tally.rejections.iter().map(|rejection| rejection.why.to_string());
    for why in rejections.chain(tally.notes.iter().cloned()) {
        assert!(why.len() < 400 && !why.contains('\n') && !why.contains(PAYLOAD), "{what}: {why}");
    }
    for state in first.sessions(None, 4).await.unwrap() {
        let context = first.session(&state.session).context("one apple", 400).await;
        assert!(matches!(context, Ok(_) | Err(Error::OverBudget { .. })), "{what}: {context:?}");
    }
    let exported = export(&first).await;
    let again = import(&second, exported.clone().into_bytes()).await;
    let again = again.unwrap_or_else(|error| panic!("{what}, again: {}", error.with_causes()));
    assert!(again.rejections.is_empty(), "{what}, again: {:?}", again.rejections);
    let body = |export: &str| export.split_once('\n').map(|(_, body)| body.to_owned());
    assert_eq!(body(&export(&second).await), body(&exported), "{what}");
    tally
}

async fn import(scoped: &Scoped, text: Vec<u8>) -> memory_core::Result<Tally> {
    let source = whole_source().trusting_roles();
    let mut import = Import::begin(scoped.clone(), Cursor::new(text), source).unwrap();
    while import.step().await?.is_some() {}
    Ok(import.finish())
}

async fn export(scoped: &Scoped) -> String {
    let mut written = Vec::new();
    transfer::export(scoped, None, &mut written).await.unwrap();
    String::from_utf8(written).unwrap()
}
