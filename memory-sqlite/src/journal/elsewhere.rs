//! What another process erased while it waited here.

use std::sync::Arc;

use memory_core::layer::{WriteBehind, WriteBehindPolicy};
use memory_core::reference::MemChat;
use memory_core::store::chat::Fence;
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, Truth};

use super::tests::{place, push, traces};
use super::{JournalConfig, SqliteJournal};

/// Rows that grow are moved between pages, and leave copies of themselves behind.
#[tokio::test]
async fn o8_what_waited_when_it_was_erased_elsewhere_leaves_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let ((scope, session), mut waiting) = (place(), Vec::new());
    for number in 1..=100 {
        let is_secret = number % 2 == 0;
        let text = if is_secret { "a secret " } else { "of others " };
        assert_eq!(push(&journal, &text.repeat(10)).await.unwrap(), number);
        waiting.extend(is_secret.then_some((number, Some(Fence::default()))));
    }
    for number in (1..=100).rev() {
        journal.reject(number, &"refused ".repeat(60)).await.unwrap();
    }
    // These wait, and one of them was set aside since.
    journal.revive(&waiting).await.unwrap();
    journal.reject(150, "refused").await.unwrap();

    let primary = Truth::chat(Arc::new(MemChat::default()));
    let epoch = primary.upkeep().bury(&scope, Epoch(0)).await.unwrap();
    primary.store().erase(&scope, epoch).await.unwrap();
    let journal = Arc::new(journal);
    let behind = WriteBehind::open(primary, journal.clone(), WriteBehindPolicy::default()).await.unwrap();
    assert!(traces(folder.path(), "a secret") > 0);
    behind.flush(&scope, &session).await.unwrap();
    assert!(journal.queued(None, None, usize::MAX).await.unwrap().is_empty());
    let refused = journal.rejected(None, usize::MAX).await.unwrap();
    assert!(refused.len() == 50 && refused.iter().all(|refused| refused.queued.fence.is_none()), "{refused:?}");
    assert_eq!(traces(folder.path(), "a secret"), 0);
}
