use std::collections::HashMap;

use memory_core::reference::MemVectors;
use memory_core::vector::Similarity;
use memory_core::{Fields, Filter, ItemId, MessageId, Seq, SessionId, Timestamp, Unit, Version};
use memory_testkit::generate::{self, Cluster, Random};
use tempfile::TempDir;

use super::*;
use crate::config::{SqliteConfig, Synchronous};
use crate::index::raw;

mod clear;
mod held;
mod history;

fn space(dimension: usize) -> EmbeddingSpace {
    EmbeddingSpace { model: "test".to_owned(), dimension, normalised: false, recipe: "plain-1".to_owned() }
}

async fn open(folder: &TempDir, dimension: usize) -> SqliteVectors {
    let config = SqliteConfig::new(folder.path().join("memory.db")).with_synchronous(Synchronous::Normal);
    SqliteVectors::new(&Sqlite::connect(config).await.unwrap(), space(dimension))
}

/// Opens the file with room for so many bytes of vectors in memory.
async fn open_holding(folder: &TempDir, dimension: usize, bytes: usize) -> SqliteVectors {
    let config = SqliteConfig::new(folder.path().join("memory.db")).with_synchronous(Synchronous::Normal);
    SqliteVectors::new(&Sqlite::connect(config.with_vectors_held(bytes)).await.unwrap(), space(dimension))
}

fn scope(subject: &str) -> Scope {
    Scope::new("tenant", subject).unwrap()
}

/// Returns a message of session `s` that was said at `at`.
fn message(id: u64, at: i64, pieces: Vec<Vec<f32>>) -> VectorEntry {
    let mut fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(id), Timestamp(at));
    fields.unit = Unit::Message;
    let item = ItemId::Message(MessageId::of_content(&id.to_le_bytes()));
    VectorEntry { item, version: Version { epoch: Epoch(0), revision: 0 }, pieces, fields }
}

fn query(vector: Vec<f32>, limit: usize) -> VectorQuery {
    let space = space(vector.len());
    VectorQuery { space, vector, filter: Filter::All, limit, floor: None, with_vectors: false }
}

async fn rows(vectors: &SqliteVectors, table: &'static str) -> i64 {
    raw::count(&vectors.file, table).await
}

#[tokio::test]
async fn many_blocks_are_searched_like_one() {
    let folder = tempfile::tempdir().unwrap();
    let (sqlite, reference) = (open(&folder, 1_024).await, MemVectors::new(space(1_024)));
    let (mut random, owner) = (Random::new(3), scope("a"));
    let cluster = Cluster::new(&mut random, 5, 1_024);
    for batch in 0..16_u64 {
        let entries: Vec<_> =
            (0..150).map(|number| message(batch * 150 + number, 0, vec![cluster.draw(&mut random)])).collect();
        sqlite.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        reference.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    }
    assert!(rows(&sqlite, "vector_block").await > 64, "one look reads them all");
    for limit in [1, 10, 10_000] {
        let query = VectorQuery { with_vectors: true, ..query(cluster.draw(&mut random), limit) };
        let (found, expected) =
            (sqlite.search(&owner, &query).await.unwrap(), reference.search(&owner, &query).await.unwrap());
        assert_eq!(found.len(), expected.len());
        let least = expected.last().unwrap().similarity.value();
        let expected: HashMap<_, _> = reference
            .search(&owner, &VectorQuery { limit: 10_000, ..query })
            .await
            .unwrap()
            .into_iter()
            .map(|hit| (hit.item.clone(), hit))
            .collect();
        for hit in found {
            // In 8 bits a number.
            let exact = &expected[&hit.item];
            assert!((hit.similarity.value() - exact.similarity.value()).abs() < 0.002, "{hit:?}");
            assert!(exact.similarity.value() > least - 0.004);
            let pairs = hit.vector.unwrap().into_iter().zip(exact.vector.clone().unwrap());
            assert!(pairs.map(|(found, exact)| (found - exact).abs()).all(|off| off < 0.002));
        }
    }
}

#[tokio::test]
async fn another_space_in_the_same_file_finds_nothing_and_destroys_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (two, owner) = (open(&folder, 2).await, scope("a"));
    two.put(&owner, &[message(1, 0, vec![vec![1.0, 0.0]])], Visibility::OnReturn).await.unwrap();
    let three = open(&folder, 3).await;
    assert!(three.search(&owner, &query(vec![1.0, 0.0, 0.0], 5)).await.unwrap().is_empty());
    assert!(matches!(three.search(&owner, &query(vec![1.0, 0.0], 5)).await, Err(Error::SpaceMismatch { .. })));
    let rejected = three.put(&owner, &[message(1, 0, vec![vec![1.0, 0.0]])], Visibility::OnReturn).await.unwrap();
    assert!(matches!(rejected.as_slice(), [Rejected { error: Error::Invalid { .. }, .. }]));
    three.erase(&owner, Epoch(1)).await.unwrap();
    assert_eq!(two.search(&owner, &query(vec![1.0, 0.0], 5)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn opposite_and_equal_vectors_stay_within_the_bounds_of_a_cosine() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, 384).await, scope("a"));
    let mut random = Random::new(9);
    let one: Vec<f32> = generate::unit_vector(&mut random, 384).iter().map(|x| x * 1e-30).collect();
    let opposite = one.iter().map(|x| -x * 1e33).collect();
    let entries = [message(1, 0, vec![one.clone()]), message(2, 0, vec![opposite])];
    vectors.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let hits = vectors.search(&owner, &query(one, 5)).await.unwrap();
    let found: Vec<_> = hits.iter().map(|hit| hit.similarity.value()).collect();
    assert!(found[0] > 0.999_999 && found[0] <= 1.0 && found[1] < -0.999_999 && found[1] >= -1.0, "{found:?}");
}

#[tokio::test]
async fn deleting_everything_leaves_no_row_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, 512).await, scope("a"));
    let mut random = Random::new(4);
    let entries: Vec<_> =
        (0..60).map(|id| message(id, 0, vec![generate::unit_vector(&mut random, 512); 1 + id as usize % 3])).collect();
    vectors.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let items = entries.iter().step_by(2).map(|entry| entry.item.clone());
    vectors.delete(&owner, &generate::deletion(items)).await.unwrap();
    assert_eq!(rows(&vectors, "index_item").await, 30);
    vectors.delete(&owner, &generate::session_deletion("s").unwrap()).await.unwrap();
    for table in ["index_item", "index_value", "vector_block"] {
        assert_eq!(rows(&vectors, table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn damaged_rows_are_corrupt() {
    for script in [
        "UPDATE vector_block SET vectors = x'00'",
        "UPDATE vector_block SET vectors = substr(vectors, 1, length(vectors) - 1)",
        "UPDATE vector_block SET vectors = CAST(vectors || x'0000000000000000' AS BLOB)",
        // How many bytes the heads take, and how many vectors an item has.
        "UPDATE vector_block SET vectors = CAST(x'02' || substr(vectors, 2) AS BLOB)",
        "UPDATE vector_block SET vectors = CAST(substr(vectors, 1, 6) || x'00' || substr(vectors, 8) AS BLOB)",
        "UPDATE index_item SET item = x'6d'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (vectors, owner) = (open(&folder, 2).await, scope("a"));
        vectors.put(&owner, &[message(1, 0, vec![vec![1.0, 0.0]])], Visibility::OnReturn).await.unwrap();
        let damage = vectors.file.write("damage", move |connection| {
            Box::pin(async move {
                assert!(sqlx::query(script).execute(connection).await.unwrap().rows_affected() > 0);
                Ok(())
            })
        });
        damage.await.unwrap();
        let answer = vectors.search(&owner, &query(vec![1.0, 0.0], 100)).await;
        assert!(matches!(answer, Err(Error::Corrupt { .. })), "{script}: {answer:?}");
    }
}

#[tokio::test]
async fn s1_9_a_search_looks_up_the_owners_blocks_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = open(&folder, 2).await;
    for (sql, plan) in [
        (follow::BYTES, "SEARCH vector_block USING COVERING INDEX vector_block_by_room (owner=?)"),
        (follow::BLOCKS, "SEARCH vector_block USING COVERING INDEX vector_block_by_change (owner=?)"),
        (follow::READ, "SEARCH vector_block USING PRIMARY KEY (owner=? AND block=?)"),
    ] {
        let explained = vectors.file.snapshot("explain", move |connection| {
            Box::pin(async move {
                let mut explain = sqlx::QueryBuilder::<sqlx::Sqlite>::new("EXPLAIN QUERY PLAN ");
                let rows: Vec<(i64, i64, i64, String)> =
                    explain.push(sql).build_query_as().fetch_all(connection).await.unwrap();
                Ok(rows.into_iter().map(|row| row.3).collect::<Vec<_>>())
            })
        });
        let found = explained.await.unwrap();
        let of_table = found.iter().filter(|step| !step.starts_with("SCAN wanted VIRTUAL TABLE"));
        assert_eq!(of_table.collect::<Vec<_>>(), [plan], "{sql}");
    }
}

#[tokio::test]
async fn the_floor_and_the_filter_count_before_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, 2).await, scope("a"));
    let mut entries: Vec<_> = (0..1_000).map(|id| message(id, id as i64, vec![vec![1.0, 0.0]])).collect();
    entries.extend((1_000..1_004).map(|id| message(id, 0, vec![vec![1.0, 1.0], vec![0.0, 1.0]])));
    entries[1_003].fields.speaker = Some("ada".to_owned());
    vectors.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    let ada = Filter::eq(memory_core::Field::Speaker, "ada");
    let all = VectorQuery { filter: ada.clone(), ..query(vec![1.0, 0.0], 10) };
    assert_eq!(vectors.search(&owner, &all).await.unwrap().len(), 1);
    let near = VectorQuery { floor: Some(Similarity::new(0.9)), ..all };
    assert!(vectors.search(&owner, &near).await.unwrap().is_empty());
    let others = VectorQuery { filter: ada.negate(), ..near };
    assert_eq!(vectors.search(&owner, &others).await.unwrap().len(), 10);
}
