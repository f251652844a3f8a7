//! Erasure: out of reach at once, deleted in steps, gone from the files.

use super::*;
use crate::index::erase;

fn marked(count: u64) -> Vec<TextEntry> {
    let entry = |id| {
        let mut entry = message(id, 0, &[("zzmarkerzz", 1), ("tea", 1)], &[("zznearzz", 0.5)]);
        entry.fields.tags = vec!["zztagzz".to_owned()];
        entry
    };
    (0..count).map(entry).collect()
}

/// Returns how often a marker stands in the files of the database.
fn seen(folder: &TempDir) -> usize {
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    let count = |bytes: Vec<u8>| {
        let markers = [&b"zzmarkerzz"[..], b"zznearzz", b"zztagzz"];
        markers
            .map(|marker| bytes.windows(marker.len()).filter(|window| *window == marker).count())
            .iter()
            .sum::<usize>()
    };
    files.map(count).sum()
}

#[tokio::test]
async fn an_erased_owner_is_in_no_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    text.put(&scope("a"), &marked(100), Visibility::OnReturn).await.unwrap();
    text.put(&scope("b"), &[message(1, 0, &[("tea", 1)], &[])], Visibility::OnReturn).await.unwrap();
    assert!(seen(&folder) > 10, "the marker cannot be seen at all");
    let erased = text.erase(&scope("a"), Epoch(1)).await.unwrap();
    assert_eq!((erased.removed, erased.remaining, erased.level), (100, 0, memory_core::store::ErasureLevel::Purged));
    assert_eq!(seen(&folder), 0);
    assert_eq!(text.search(&scope("b"), &query(&["tea"], 5)).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn deleted_items_are_in_no_file_once_the_log_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let (owner, entries) = (scope("a"), marked(100));
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let clean: Vec<_> = (100..150).map(|id| message(id, 0, &[("tea", 1)], &[])).collect();
    text.put(&owner, &clean, Visibility::OnReturn).await.unwrap();
    let items = entries.into_iter().map(|entry| entry.item);
    text.delete(&owner, &generate::deletion(items)).await.unwrap();
    text.file.purge().await.unwrap();
    assert_eq!(seen(&folder), 0);
    assert_eq!(text.search(&owner, &query(&["tea"], 100)).await.unwrap().hits.len(), 50);
}

#[tokio::test]
async fn an_erasure_cut_short_is_out_of_reach_and_finished_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let owner = scope("a");
    text.put(&owner, &marked(100), Visibility::OnReturn).await.unwrap();
    let begin = text.file.write("begin", |connection| {
        Box::pin(async move { erase::begin(connection, &scope("a"), "text/test-1", Epoch(1)).await.map(|_| ()) })
    });
    begin.await.unwrap();
    let found = text.search(&owner, &query(&["tea"], 5)).await.unwrap();
    assert_eq!((found.documents, found.hits.len()), (0, 0));
    let mut new = message(1, 0, &[("tea", 1)], &[]);
    text.put(&owner, std::slice::from_ref(&new), Visibility::OnReturn).await.unwrap();
    new.version.epoch = Epoch(1);
    text.put(&owner, &[new], Visibility::OnReturn).await.unwrap();
    let erased = text.erase(&owner, Epoch(1)).await.unwrap();
    assert_eq!((erased.removed, erased.remaining), (100, 0));
    assert_eq!(rows(&text, "index_item").await, 1);
    assert_eq!(text.search(&owner, &query(&["tea"], 5)).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn an_erasure_takes_more_steps_than_one_and_leaves_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SHAPE).await;
    let many = |id: u64| {
        let own: Vec<_> = (0..30).map(|word| (format!("w{}", (id * 37 + word * 1_311) % 40_000), 1)).collect();
        message(id, 0, &own.iter().map(|(word, count)| (word.as_str(), *count)).collect::<Vec<_>>(), &[])
    };
    let entries: Vec<_> = (0..12_000).map(many).collect();
    text.put(&scope("a"), &entries, Visibility::OnReturn).await.unwrap();
    assert!(rows(&text, "index_item").await > 10_000, "one step would do");
    let erased = text.erase(&scope("a"), Epoch(1)).await.unwrap();
    assert_eq!((erased.removed, erased.remaining), (12_000, 0));
    for table in ["index_item", "index_value", "text_statistics", "text_tail", "text_segment", "text_posting"] {
        assert_eq!(rows(&text, table).await, 0, "{table}");
    }
    assert_eq!(rows(&text, "index_owner").await, 1);
}

#[tokio::test]
async fn a_damaged_index_is_erased_whole() {
    for (damaged, removed) in [
        ("UPDATE index_item SET item = CAST('x-' || id AS BLOB)", 100),
        ("UPDATE index_item SET fields = x'07'", 100),
        ("UPDATE text_segment SET documents = x'07'", 100),
        ("DELETE FROM text_segment", 100),
        ("DELETE FROM text_tail", 100),
        ("DELETE FROM index_item", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = open(&folder, SMALL).await;
        text.put(&scope("a"), &marked(100), Visibility::OnReturn).await.unwrap();
        raw::damage(&text.file, damaged).await;
        let erased = text.erase(&scope("a"), Epoch(1)).await.unwrap();
        assert_eq!((erased.removed, erased.remaining), (removed, 0), "{damaged}");
        for table in ["index_item", "index_value", "text_statistics", "text_tail", "text_segment", "text_posting"] {
            assert_eq!(rows(&text, table).await, 0, "{damaged}: {table}");
        }
        assert_eq!(seen(&folder), 0, "{damaged}");
    }
}

#[tokio::test]
async fn items_with_damaged_names_are_erased_beside_newer_ones() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    text.put(&scope("a"), &marked(100), Visibility::OnReturn).await.unwrap();
    let mut newer = message(200, 0, &[("tea", 1)], &[]);
    newer.version.epoch = Epoch(1);
    text.put(&scope("a"), &[newer], Visibility::OnReturn).await.unwrap();
    raw::damage(&text.file, "UPDATE index_item SET item = CAST('x-' || id AS BLOB) WHERE epoch = 0").await;
    let erased = text.erase(&scope("a"), Epoch(1)).await.unwrap();
    assert_eq!((erased.removed, erased.remaining), (100, 0));
    assert_eq!(rows(&text, "index_item").await, 1);
    assert_eq!(seen(&folder), 0);
    assert_eq!(text.search(&scope("a"), &query(&["tea"], 5)).await.unwrap().hits.len(), 1);
}
