//! What another process erased while it waited here.

use std::path::Path;
use std::sync::Arc;

use memory_core::layer::{WriteBehind, WriteBehindPolicy};
use memory_core::reference::MemChat;
use memory_core::store::chat::{ChatStore, Fence};
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, Truth};
use memory_testkit::doubles::{Counting, Cut, Ending, Tapped};

use super::tests::{place, push, traces};
use super::{JournalConfig, SqliteJournal};

/// Returns a journal in which secrets wait, and one of them was set aside since. Rows that grow are moved between pages, and leave
/// copies of themselves behind.
async fn filled(folder: &Path) -> Arc<SqliteJournal> {
    let journal = SqliteJournal::connect(JournalConfig::new(folder.join("journal.db"))).await.unwrap();
    let mut waiting = Vec::new();
    for number in 1..=100 {
        let is_secret = number % 2 == 0;
        let text = if is_secret { "a secret " } else { "of others " };
        assert_eq!(push(&journal, &text.repeat(10)).await.unwrap(), number);
        waiting.extend(is_secret.then_some((number, Some(Fence::default()))));
    }
    for number in (1..=100).rev() {
        journal.reject(number, &"refused ".repeat(60)).await.unwrap();
    }
    journal.revive(&waiting).await.unwrap();
    journal.reject(150, "refused").await.unwrap();
    Arc::new(journal)
}

/// Returns a primary in which another process has erased the owner.
async fn erased() -> Truth<dyn ChatStore> {
    let (scope, primary) = (place().0, Truth::chat(Arc::new(MemChat::default())));
    let epoch = primary.upkeep().bury(&scope, Epoch(0)).await.unwrap();
    primary.store().erase(&scope, epoch).await.unwrap();
    primary
}

#[tokio::test]
async fn o8_what_waited_when_it_was_erased_elsewhere_leaves_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, (scope, session)) = (filled(folder.path()).await, place());
    let behind = WriteBehind::open(erased().await, journal.clone(), WriteBehindPolicy::default()).await.unwrap();
    assert!(traces(folder.path(), "a secret") > 0);
    behind.flush(&scope, &session).await.unwrap();
    assert!(journal.queued(None, None, usize::MAX).await.unwrap().is_empty());
    let refused = journal.rejected(None, usize::MAX).await.unwrap();
    assert!(refused.len() == 50 && refused.iter().all(|refused| refused.queued.fence.is_none()), "{refused:?}");
    assert_eq!(traces(folder.path(), "a secret"), 0);
}

#[tokio::test]
async fn o8_what_waited_when_it_was_erased_elsewhere_leaves_no_byte_behind_a_call_that_failed() {
    for failed in ["reject", "discard", "acknowledge"] {
        let folder = tempfile::tempdir().unwrap();
        let (journal, (scope, session)) = (filled(folder.path()).await, place());
        let cut = Arc::<Cut>::default();
        let failing = Tapped::new(Arc::clone(&journal), Arc::new(Counting::default())).cut_by(Arc::clone(&cut));
        cut.arm_at(failed, Ending::Fails);
        let behind = WriteBehind::open(erased().await, Arc::new(failing), WriteBehindPolicy::default()).await.unwrap();
        behind.flush(&scope, &session).await.unwrap();
        assert!(journal.queued(None, None, usize::MAX).await.unwrap().is_empty(), "{failed}");
        assert_eq!(journal.rejected(None, usize::MAX).await.unwrap().len(), 50, "{failed}");
        assert_eq!(traces(folder.path(), "a secret"), 0, "{failed}");
    }
}

#[tokio::test]
async fn o8_what_was_erased_elsewhere_is_set_aside_until_it_leaves_where_the_process_ends_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, (scope, session)) = (filled(folder.path()).await, place());
    let cut = Arc::<Cut>::default();
    let dying = Tapped::new(Arc::clone(&journal), Arc::new(Counting::default())).cut_by(Arc::clone(&cut));
    cut.arm_at("discard", Ending::IsDroppedBefore);
    let behind = WriteBehind::open(erased().await, Arc::new(dying), WriteBehindPolicy::default()).await.unwrap();
    assert!(cut.give_up(behind.flush(&scope, &session)).await.is_none());
    assert!(journal.queued(None, None, usize::MAX).await.unwrap().is_empty());
    assert_eq!(journal.rejected(None, usize::MAX).await.unwrap().len(), 100);
    let next = WriteBehind::open(erased().await, journal, WriteBehindPolicy::default()).await.unwrap();
    assert_eq!(next.refused(None, usize::MAX).await.unwrap().len(), 50);
    assert_eq!(traces(folder.path(), "a secret"), 0);
}
