use memory_core::reference::MemText;
use memory_core::store::text::Term;
use memory_core::{Fields, Filter, ItemId, MessageId, Seq, SessionId, Timestamp, Unit, Version};
use memory_testkit::generate::{self, Random};
use tempfile::TempDir;

use super::*;
use crate::config::{SqliteConfig, Synchronous};
use crate::index::raw;

mod clear;
mod erase;
mod held;
mod history;
mod plan;

/// Sizes at which few documents make several segments.
const SMALL: Shape = Shape { tail: 600, kept: 150, documents: 8, postings: 60 };

async fn open(folder: &TempDir, shape: Shape) -> SqliteText {
    open_holding(folder, shape, 1 << 20).await
}

/// Opens the file with room for so many bytes of texts in memory.
async fn open_holding(folder: &TempDir, shape: Shape, bytes: usize) -> SqliteText {
    let config = SqliteConfig::new(folder.path().join("memory.db")).with_synchronous(Synchronous::Normal);
    let file = Sqlite::connect(config.with_texts_held(bytes)).await.unwrap();
    SqliteText { shape, ..SqliteText::new(&file, "test-1") }
}

fn scope(subject: &str) -> Scope {
    Scope::new("tenant", subject).unwrap()
}

fn term(text: &str) -> Term {
    Term::new(text).unwrap()
}

/// Returns a message of session `s` that was said at `at` and holds these words.
fn message(id: u64, at: i64, own: &[(&str, u32)], near: &[(&str, f32)]) -> TextEntry {
    let session = SessionId::new("s").unwrap();
    let mut fields = Fields::of_span(&session, Seq(id), Timestamp(at));
    fields.unit = Unit::Message;
    TextEntry {
        item: ItemId::Message(MessageId::of_content(&id.to_le_bytes())),
        version: Version { epoch: Epoch(0), revision: 0 },
        own: own.iter().map(|(text, count)| (term(text), *count)).collect(),
        near: near.iter().map(|(text, count)| (term(text), *count)).collect(),
        fields,
    }
}

fn query(terms: &[&str], limit: usize) -> TextQuery {
    let terms = terms.iter().map(|text| term(text)).collect();
    TextQuery { terms, unit: Unit::Message, filter: Filter::All, limit }
}

async fn rows(text: &SqliteText, table: &'static str) -> i64 {
    raw::count(&text.file, table).await
}

#[tokio::test]
async fn folded_documents_are_found_like_those_in_the_tail() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (open(&folder, SMALL).await, MemText::new("test-1"));
    let owner = scope("a");
    for id in 0..300 {
        let common = if id % 3 == 0 { "fox" } else { "dog" };
        let entry = message(id, id as i64, &[(common, 1), ("tea", 1 + id as u32 % 4)], &[("lamp", 0.4)]);
        small.put(&owner, std::slice::from_ref(&entry), Visibility::OnReturn).await.unwrap();
        large.put(&owner, &[entry], Visibility::OnReturn).await.unwrap();
    }
    assert!(rows(&small, "text_segment").await > 30, "nothing was folded");
    assert!(rows(&small, "text_tail").await > 0, "nothing was kept");
    for terms in [&["fox"][..], &["tea", "lamp"], &["lamp"], &["dog", "missing", "tea"], &[]] {
        for limit in [1, 7, 1_000] {
            let query = query(terms, limit);
            assert_eq!(small.search(&owner, &query).await.unwrap(), large.search(&owner, &query).await.unwrap());
        }
    }
}

#[tokio::test]
async fn a_document_that_is_put_again_leaves_nothing_of_its_old_terms() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let owner = scope("a");
    let entries: Vec<_> = (0..100).map(|id| message(id, 0, &[("secret", 1), ("tea", 1)], &[("hidden", 0.5)])).collect();
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let lists = "text_posting WHERE instr(lists, CAST('secret' AS BLOB)) OR instr(lists, CAST('hidden' AS BLOB))";
    assert!(rows(&text, lists).await > 0, "terms cannot be seen at all");
    let clean: Vec<_> = (0..100).map(|id| message(id, 0, &[("tea", 1)], &[])).collect();
    text.put(&owner, &clean, Visibility::OnReturn).await.unwrap();
    let found = text.search(&owner, &query(&["secret", "hidden"], 10)).await.unwrap();
    assert_eq!((found.hits.len(), found.containing), (0, vec![0, 0]));
    assert_eq!(text.search(&owner, &query(&["tea"], 1_000)).await.unwrap().hits.len(), 100);
    assert_eq!(rows(&text, lists).await, 0);
    assert_eq!(rows(&text, "index_item").await, 100);
}

#[tokio::test]
async fn deleting_everything_leaves_no_row_behind() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let owner = scope("a");
    let entries: Vec<_> = (0..100).map(|id| message(id, 0, &[("tea", 1)], &[("lamp", 0.5)])).collect();
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let items = entries.iter().take(50).chain(entries.iter().take(3)).map(|entry| entry.item.clone());
    text.delete(&owner, &generate::deletion(items)).await.unwrap();
    assert_eq!(text.search(&owner, &query(&["tea"], 1_000)).await.unwrap().hits.len(), 50);
    text.delete(&owner, &generate::session_deletion("s").unwrap()).await.unwrap();
    for table in ["index_item", "index_value", "text_tail", "text_segment", "text_posting"] {
        assert_eq!(rows(&text, table).await, 0, "{table}");
    }
    let found = text.search(&owner, &query(&["tea"], 10)).await.unwrap();
    assert_eq!((found.documents, found.mean_length), (0, 0.0));
}

#[tokio::test]
async fn a_put_of_what_is_stored_already_rewrites_no_posting_list() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let owner = scope("a");
    let mut entries: Vec<_> = (0..50).map(|id| message(id, 0, &[("tea", 1)], &[])).collect();
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let (segments, tail) = (rows(&text, "text_segment").await, rows(&text, "text_tail").await);
    for entry in &mut entries {
        entry.version.revision = 1;
        entry.fields.superseded_at = Some(Timestamp(9));
    }
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    assert_eq!((rows(&text, "text_segment").await, rows(&text, "text_tail").await), (segments, tail));
    let mut current = query(&["tea"], 100);
    assert_eq!(text.search(&owner, &current).await.unwrap().hits.len(), 50);
    current.filter = Filter::current(Timestamp(10));
    assert_eq!(text.search(&owner, &current).await.unwrap().hits.len(), 0);
}

#[tokio::test]
async fn a_selective_filter_finds_the_last_of_many_and_never_starves_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SHAPE).await;
    let owner = scope("a");
    let mut entries: Vec<_> = (0..2_000).map(|id| message(id, 0, &[("tea", 9)], &[])).collect();
    for entry in entries.iter_mut().step_by(500) {
        entry.own = vec![(term("tea"), 1), (term("pot"), 50)];
        entry.fields.speaker = Some("ada".to_owned());
    }
    text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let mut query = query(&["tea"], 10);
    query.filter = Filter::eq(memory_core::Field::Speaker, "ada");
    assert_eq!(text.search(&owner, &query).await.unwrap().hits.len(), 4);
    query.filter = query.filter.negate();
    assert_eq!(text.search(&owner, &query).await.unwrap().hits.len(), 10);
}

#[tokio::test]
async fn counts_that_are_none_are_refused_and_the_rest_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    let owner = scope("a");
    let bad = [f32::NAN, f32::INFINITY, -0.5];
    let mut entries: Vec<_> = (0..3).map(|id| message(id, 0, &[("tea", 1)], &[("lamp", bad[id as usize])])).collect();
    entries.push(message(3, 0, &[("tea", 1)], &[("lamp", 0.0)]));
    entries.push(message(4, 0, &[], &[("tea", f32::MAX), ("tea", f32::MAX)]));
    let rejected = text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    assert_eq!(rejected.len(), 4);
    assert!(rejected.iter().all(|rejected| matches!(rejected.error, Error::Invalid { .. })));
    let found = text.search(&owner, &query(&["tea", "lamp"], 10)).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| &hit.item).collect::<Vec<_>>(), [&entries[3].item]);
}

/// Each script damages a table; none of them may make a search or a put panic or answer as if nothing were.
#[tokio::test]
async fn damaged_rows_are_corrupt() {
    for script in [
        "UPDATE text_posting SET lists = x'80'",
        "UPDATE text_posting SET part = part + 1",
        "UPDATE text_segment SET documents = x'ff'",
        "UPDATE text_segment SET documents = x''",
        "UPDATE text_segment SET shares = x'ff'",
        "UPDATE text_segment SET shares = x''",
        "UPDATE text_tail SET terms = x'04'",
        "UPDATE text_statistics SET unit = 'x' WHERE unit = 'message'",
        "UPDATE index_item SET fields = x'7b7d'",
        "UPDATE index_item SET item = CAST('x-' || id AS BLOB)",
        "DELETE FROM index_item",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = open(&folder, SMALL).await;
        let owner = scope("a");
        let entries: Vec<_> = (0..100).map(|id| message(id, 0, &[("tea", 1)], &[("lamp", 0.5)])).collect();
        text.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        let damage = text.file.write("damage", move |connection| {
            Box::pin(async move {
                assert!(sqlx::query(script).execute(connection).await.unwrap().rows_affected() > 0);
                Ok(())
            })
        });
        damage.await.unwrap();
        let answer = text.search(&owner, &query(&["tea", "lamp"], 100)).await;
        assert!(matches!(answer, Err(Error::Corrupt { .. })), "{script}: {answer:?}");
    }
}
