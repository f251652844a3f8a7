//! What is held in memory: never of another state than the file, never more than the bound.

use super::*;
use crate::client::connect;
use crate::index::cache::Held as _;
use crate::index::restored;

fn entries(ids: std::ops::Range<u64>) -> Vec<TextEntry> {
    let words = ["fox", "dog", "owl"];
    let entry = |id: u64| {
        let own = [(words[id as usize % 3], 1 + id as u32 % 4), ("tea", 1)];
        message(id, id as i64 / 3, &own, &[("lamp", 0.5)])
    };
    ids.map(entry).collect()
}

async fn put(text: &SqliteText, owner: &Scope, entries: &[TextEntry]) {
    assert!(text.put(owner, entries, Visibility::OnReturn).await.unwrap().is_empty());
}

fn items(entries: &[TextEntry]) -> Deletion {
    generate::deletion(entries.iter().map(|entry| entry.item.clone()))
}

async fn found(text: &SqliteText, owner: &Scope, word: &str) -> usize {
    text.search(owner, &query(&[word], 10_000)).await.unwrap().hits.len()
}

#[tokio::test]
async fn what_another_process_puts_deletes_and_erases_is_followed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there, owner) = (open(&folder, SMALL).await, open(&folder, SMALL).await, scope("a"));
    assert_eq!(found(&here, &owner, "tea").await, 0);
    put(&there, &owner, &entries(0..60)).await;
    assert_eq!(found(&here, &owner, "tea").await, 60);
    for id in 60..90 {
        put(&there, &owner, &entries(id..id + 1)).await;
        assert_eq!(found(&here, &owner, "tea").await, id as usize + 1);
    }
    assert_eq!(found(&here, &owner, "fox").await, 30);
    there.delete(&owner, &items(&entries(10..13))).await.unwrap();
    assert_eq!((found(&here, &owner, "tea").await, found(&here, &owner, "fox").await), (87, 29));
    // Enough for whole segments to go, and for others to take their numbers' places.
    there.delete(&owner, &items(&entries(0..50))).await.unwrap();
    put(&there, &owner, &entries(200..260)).await;
    assert_eq!((found(&here, &owner, "tea").await, found(&here, &owner, "lamp").await), (100, 100));
    there.erase(&owner, Epoch(1)).await.unwrap();
    assert_eq!(found(&here, &owner, "tea").await, 0);
}

#[tokio::test]
async fn fields_that_another_process_changes_are_those_that_filters_see() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there, owner) = (open(&folder, SMALL).await, open(&folder, SMALL).await, scope("a"));
    let mut entries = entries(0..40);
    put(&here, &owner, &entries).await;
    let current = TextQuery { filter: Filter::current(Timestamp(10)), ..query(&["tea"], 100) };
    assert_eq!(here.search(&owner, &current).await.unwrap().hits.len(), 40);
    for entry in entries.iter_mut().take(5) {
        entry.version.revision = 1;
        entry.fields.superseded_at = Some(Timestamp(9));
    }
    put(&there, &owner, &entries).await;
    assert_eq!(here.search(&owner, &current).await.unwrap().hits.len(), 35);
}

#[tokio::test]
async fn what_is_deleted_and_erased_leaves_the_memory_before_the_call_returns() {
    let folder = tempfile::tempdir().unwrap();
    let (text, owner) = (open(&folder, SMALL).await, scope("a"));
    put(&text, &owner, &entries(0..60)).await;
    let key = text.key(&owner, Unit::Message);
    let holds = |word: &str| text.file.texts().get(&key).is_some_and(|held| held.holds(word));
    assert_eq!(found(&text, &owner, "fox").await, 20);
    assert!(holds("fox"));
    text.delete(&owner, &items(&entries(0..1))).await.unwrap();
    assert!(!holds("fox"));
    assert_eq!(found(&text, &owner, "fox").await, 19);
    assert!(holds("fox"));
    text.erase(&owner, Epoch(1)).await.unwrap();
    assert!(!holds("fox") && text.file.texts().bytes() == 0);
}

#[tokio::test]
async fn what_a_search_reads_while_an_index_waits_to_be_cleared_does_not_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (text, owner) = (open(&folder, SMALL).await, scope("a"));
    put(&text, &owner, &entries(0..60)).await;
    let mut other = connect::locking(&SqliteConfig::new(folder.path().join("memory.db"))).await;
    let meanwhile = async {
        assert_eq!(found(&text, &owner, "fox").await, 20);
        assert!(text.file.texts().bytes() > 0);
        sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    };
    let (cleared, ()) = tokio::join!(text.clear(&owner), meanwhile);
    cleared.unwrap();
    assert_eq!((text.file.texts().bytes(), found(&text, &owner, "fox").await), (0, 0));
}

#[tokio::test]
async fn what_another_process_deletes_leaves_the_memory_with_the_next_search() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there, owner) = (open(&folder, SMALL).await, open(&folder, SMALL).await, scope("a"));
    let secret: Vec<_> = (0..20).map(|id| message(id, 0, &[("secret", 1)], &[])).collect();
    put(&there, &owner, &secret).await;
    assert_eq!(found(&here, &owner, "secret").await, 20);
    there.delete(&owner, &items(&secret)).await.unwrap();
    assert_eq!(found(&here, &owner, "tea").await, 0);
    let held = here.file.texts().get(&here.key(&owner, Unit::Message)).unwrap();
    assert!(!held.holds("secret"));
}

#[tokio::test]
async fn the_longest_unused_owner_leaves_when_the_bound_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let bound = 215_000;
    let text = open_holding(&folder, SMALL, bound).await;
    for subject in ["a", "b", "c", "d"] {
        put(&text, &scope(subject), &entries(0..100)).await;
        assert_eq!(found(&text, &scope(subject), "tea").await, 100);
        assert_eq!(found(&text, &scope("a"), "tea").await, 100);
        assert!(text.file.texts().bytes() <= bound);
    }
    let is_held = |subject: &str| text.file.texts().get(&text.key(&scope(subject), Unit::Message)).is_some();
    assert!(is_held("a") && is_held("d") && !is_held("b"));
}

#[tokio::test]
async fn an_owner_beyond_the_bound_is_found_whole_and_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let (text, reference) = (open_holding(&folder, SMALL, 5_000).await, MemText::new("test-1"));
    let owner = scope("a");
    put(&text, &owner, &entries(0..300)).await;
    reference.put(&owner, &entries(0..300), Visibility::OnReturn).await.unwrap();
    for terms in [&["fox"][..], &["tea", "lamp"], &["missing"]] {
        let query = query(terms, 50);
        assert_eq!(text.search(&owner, &query).await.unwrap(), reference.search(&owner, &query).await.unwrap());
    }
    assert_eq!(text.file.texts().bytes(), 0);
}

#[tokio::test]
async fn lists_leave_before_the_documents_that_every_search_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (text, owner) = (open_holding(&folder, SMALL, 30_000).await, scope("a"));
    let many = |id: u64| {
        let own: Vec<_> = (0..40).map(|word| (format!("w{}", (id * 7 + word) % 400), 1)).collect();
        message(id, 0, &own.iter().map(|(word, count)| (word.as_str(), *count)).collect::<Vec<_>>(), &[])
    };
    put(&text, &owner, &(0..150).map(many).collect::<Vec<_>>()).await;
    let key = text.key(&owner, Unit::Message);
    let mut was_shed = false;
    for word in 0..400 {
        let word = format!("w{word}");
        assert!(!text.search(&owner, &query(&[&word], 1)).await.unwrap().hits.is_empty());
        let held = text.file.texts().get(&key).expect("the documents are held");
        assert!(held.bytes() <= 30_000);
        was_shed |= !held.holds(&word);
    }
    assert!(was_shed, "the bound was never reached");
}

#[tokio::test]
async fn an_older_copy_of_the_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (text, owner) = (open(&folder, SMALL).await, scope("a"));
    for id in 0..50 {
        put(&text, &owner, &entries(id..id + 1)).await;
    }
    assert_eq!(found(&text, &owner, "tea").await, 50);
    let work = text.file.write("take back", |connection| {
        Box::pin(async move {
            for script in [
                "DELETE FROM text_segment",
                "DELETE FROM text_posting",
                "DELETE FROM text_tail",
                "DELETE FROM text_statistics",
                "UPDATE index_owner SET changed = 3",
            ] {
                sqlx::query(script).execute(&mut *connection).await.unwrap();
            }
            Ok(())
        })
    });
    work.await.unwrap();
    assert_eq!(found(&text, &owner, "tea").await, 0);
}

#[tokio::test]
async fn a_restored_copy_that_was_changed_as_often_since_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (text, owner) = (open(&folder, SMALL).await, scope("a"));
    let (path, copy) = (folder.path().join("memory.db"), folder.path().join("copy.db"));
    put(&text, &owner, &entries(0..60)).await;
    restored::copy(&path, &copy).await;
    for (begin, word) in [(60, "fox"), (90, "dog"), (120, "owl")] {
        put(&text, &owner, &entries(begin..begin + 30)).await;
        assert_eq!(found(&text, &owner, "tea").await, begin as usize + 30);
        assert_eq!(found(&text, &owner, word).await, (begin as usize + 30) / 3);
    }
    for round in 0..3 {
        restored::put_back(&path, &copy).await;
        for change in 0..round {
            let begin = 200 + 100 * round + 20 * change;
            put(&text, &owner, &entries(begin..begin + 20)).await;
        }
        // Whoever opens the file now holds nothing of before.
        let fresh = open(&folder, SMALL).await;
        for word in ["fox", "tea", "owl", "lamp", "dog"] {
            let query = query(&[word, "dog"], 10_000);
            let (here, there) =
                (text.search(&owner, &query).await.unwrap(), fresh.search(&owner, &query).await.unwrap());
            assert_eq!(here, there, "{word} in round {round}");
        }
    }
}
