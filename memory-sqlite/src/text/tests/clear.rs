//! Clearing: an index whose rows are damaged or missing is emptied, and filled anew.

use memory_core::store::chat::{Append, ChatStore as _, NewMessage};
use memory_core::store::upkeep::{IndexName, Outcome, Upkeep as _};
use memory_core::{Message, Role};

use super::*;
use crate::chat::SqliteChat;

#[tokio::test]
async fn a_damaged_index_is_cleared_and_filled_anew() {
    let owner = scope("a");
    let entries: Vec<_> = (0..60).map(|id| message(id, 0, &[("fox", 1), ("tea", 1)], &[("lamp", 0.5)])).collect();
    for damaged in [
        "DELETE FROM text_posting",
        "DELETE FROM text_segment",
        "DELETE FROM text_tail",
        "DELETE FROM text_statistics",
        "DELETE FROM index_item",
        "UPDATE text_segment SET documents = x'07'",
        "UPDATE text_posting SET lists = x'07'",
        "UPDATE text_tail SET terms = x'07'",
        "UPDATE index_item SET fields = x'07'",
        "UPDATE index_item SET block = 999 WHERE block IS NOT NULL",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = open(&folder, SMALL).await;
        text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        let whole = text.search(&owner, &query(&["fox"], 100)).await.unwrap();
        raw::damage(&text.file, damaged).await;
        text.clear(&owner).await.unwrap();
        for table in ["index_item", "text_tail", "text_segment", "text_posting", "text_statistics", "index_value"] {
            assert_eq!(rows(&text, table).await, 0, "{damaged}: {table}");
        }
        text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        assert_eq!(text.search(&owner, &query(&["fox"], 100)).await.unwrap(), whole, "{damaged}");
    }
}

#[tokio::test]
async fn entries_that_lost_the_row_of_their_owner_are_damage_until_they_are_cleared_or_erased() {
    let (folder, asked) = (tempfile::tempdir().unwrap(), query(&["fox"], 100));
    let (text, ada, bob) = (open(&folder, SMALL).await, scope("a"), scope("b"));
    let entries: Vec<_> = (0..60).map(|id| message(id, 0, &[("fox", 1)], &[])).collect();
    for is_cleared in [true, false] {
        text.put(&ada, &entries, Visibility::OnReturn).await.unwrap();
        let whole = text.search(&ada, &asked).await.unwrap();
        assert_eq!(whole.hits.len(), 60);
        raw::damage(&text.file, "DELETE FROM index_owner").await;
        // The next owner would have the number, and with it what the other said.
        for owner in [&bob, &ada] {
            assert!(matches!(text.search(owner, &asked).await, Err(Error::Corrupt { .. })));
            let put = text.put(owner, &entries, Visibility::OnReturn).await;
            assert!(matches!(put, Err(Error::Corrupt { .. })));
        }
        if is_cleared {
            text.clear(&ada).await.unwrap();
        } else {
            let erased = text.erase(&ada, Epoch(0)).await.unwrap();
            // Whose they were is not known.
            assert_eq!((erased.removed, erased.remaining), (0, 0));
        }
        assert_eq!(rows(&text, "index_item").await, 0);
        assert_eq!(text.search(&bob, &asked).await.unwrap().hits, []);
        text.put(&ada, &entries, Visibility::OnReturn).await.unwrap();
        assert_eq!(text.search(&ada, &asked).await.unwrap(), whole);
    }
}

#[tokio::test]
async fn what_another_owners_erasure_deletes_of_entries_that_lost_their_owner_is_noted_again() {
    let folder = tempfile::tempdir().unwrap();
    let (text, ada, bob) = (open(&folder, SMALL).await, scope("a"), scope("b"));
    let (chat, index) = (SqliteChat::new(&text.file), IndexName::new("text/test-1").unwrap());
    let said = NewMessage::sized(Message::new(Role::User, "fox", Timestamp(0)), 1);
    chat.append(&ada, &SessionId::new("s").unwrap(), &Append::new(vec![said])).await.unwrap();
    let first = text.incarnation().await.unwrap();
    assert!(chat.enlist(&index, Some(first), usize::MAX).await.unwrap());
    let notes = chat.pending(&index, Timestamp(0), 10).await.unwrap();
    let done: Vec<_> = notes.iter().map(|note| (note.clone(), Outcome::Done { through: note.upto })).collect();
    chat.settle(&index, &done).await.unwrap();
    text.put(&ada, &[message(1, 0, &[("fox", 1)], &[])], Visibility::OnReturn).await.unwrap();
    raw::damage(&text.file, "DELETE FROM index_owner").await;

    let erased = text.erase(&bob, Epoch(1)).await.unwrap();
    assert_eq!((erased.removed, erased.remaining), (0, 0));
    assert_eq!(text.search(&ada, &query(&["fox"], 1)).await.unwrap().hits, []);
    let anew = text.incarnation().await.unwrap();
    assert!(chat.enlist(&index, Some(anew), usize::MAX).await.unwrap());
    let noted = chat.pending(&index, Timestamp(0), 10).await.unwrap();
    assert_eq!(noted.into_iter().map(|note| note.scope).collect::<Vec<_>>(), [ada]);
}
