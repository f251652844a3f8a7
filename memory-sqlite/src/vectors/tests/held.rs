//! What is held in memory: never of another state than the file, never more than the bound.

use super::*;
use crate::client::connect;
use crate::index::restored;

const DIMENSION: usize = 64;

fn entries(count: u64) -> Vec<VectorEntry> {
    let mut random = Random::new(count);
    (0..count).map(|id| message(id, 0, vec![generate::unit_vector(&mut random, DIMENSION)])).collect()
}

async fn found(vectors: &SqliteVectors, owner: &Scope) -> usize {
    let mut random = Random::new(0);
    let query = query(generate::unit_vector(&mut random, DIMENSION), 10_000);
    vectors.search(owner, &query).await.unwrap().len()
}

async fn put(vectors: &SqliteVectors, owner: &Scope, entries: &[VectorEntry]) {
    assert!(vectors.put(owner, entries, Visibility::OnReturn).await.unwrap().is_empty());
}

fn items(entries: &[VectorEntry]) -> Deletion {
    generate::deletion(entries.iter().map(|entry| entry.item.clone()))
}

#[tokio::test]
async fn what_another_process_writes_deletes_and_erases_is_followed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there, owner) = (open(&folder, DIMENSION).await, open(&folder, DIMENSION).await, scope("a"));
    let entries = entries(600);
    assert_eq!(found(&here, &owner).await, 0);
    put(&there, &owner, &entries[..400]).await;
    assert_eq!(found(&here, &owner).await, 400);
    put(&there, &owner, &entries[400..]).await;
    assert_eq!(found(&here, &owner).await, 600);
    there.delete(&owner, &items(&entries[10..20])).await.unwrap();
    assert_eq!(found(&here, &owner).await, 590);
    // Enough for some blocks to go.
    there.delete(&owner, &items(&entries[..500])).await.unwrap();
    assert_eq!(found(&here, &owner).await, 100);
    there.erase(&owner, Epoch(1)).await.unwrap();
    assert_eq!(found(&here, &owner).await, 0);
}

#[tokio::test]
async fn what_is_deleted_and_erased_leaves_the_memory_before_the_call_returns() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, DIMENSION).await, scope("a"));
    let (entries, cache) = (entries(100), vectors.file.vectors());
    put(&vectors, &owner, &entries).await;
    assert_eq!(found(&vectors, &owner).await, 100);
    let key = (owner.clone(), Arc::clone(&vectors.name));
    let held = cache.get(&key).unwrap();
    vectors.delete(&owner, &items(&entries[..99])).await.unwrap();
    assert_eq!(held.items(), 1, "the deleted are not held");
    vectors.erase(&owner, Epoch(1)).await.unwrap();
    assert!(cache.get(&key).is_none() && cache.bytes() == 0);
}

#[tokio::test]
async fn the_longest_unused_owner_leaves_when_the_bound_is_reached() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (entries, alone) = (entries(200), open(&other, DIMENSION).await);
    put(&alone, &scope("a"), &entries).await;
    assert_eq!(found(&alone, &scope("a")).await, 200);
    // Room for three.
    let bound = alone.file.vectors().bytes() * 7 / 2;
    let vectors = open_holding(&folder, DIMENSION, bound).await;
    let (a, b, c, d) = (scope("a"), scope("b"), scope("c"), scope("d"));
    for owner in [&a, &b, &c, &d] {
        put(&vectors, owner, &entries).await;
        assert_eq!(found(&vectors, owner).await, 200);
        assert_eq!(found(&vectors, &a).await, 200);
        assert!(vectors.file.vectors().bytes() <= bound);
    }
    let is_held = |owner: &Scope| vectors.file.vectors().get(&(owner.clone(), Arc::clone(&vectors.name))).is_some();
    assert!(is_held(&a) && is_held(&d) && !is_held(&b));
}

#[tokio::test]
async fn as_many_vectors_are_held_of_several_owners_as_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let (one, several) = (open(&folder, DIMENSION).await, open(&folder, DIMENSION).await);
    put(&one, &scope("all"), &entries(1_400)).await;
    assert_eq!(found(&one, &scope("all")).await, 1_400);
    for subject in ["a", "b", "c", "d", "e"] {
        put(&several, &scope(subject), &entries(280)).await;
        assert_eq!(found(&several, &scope(subject)).await, 280);
    }
    let (whole, divided) = (one.file.vectors().bytes(), several.file.vectors().bytes());
    assert!(divided * 6 < whole * 7, "{divided} bytes of five owners, {whole} bytes of one");
}

#[tokio::test]
async fn an_owner_beyond_the_bound_is_searched_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, reference) = (open_holding(&folder, DIMENSION, 50_000).await, MemVectors::new(space(DIMENSION)));
    let (owner, entries) = (scope("a"), entries(700));
    put(&vectors, &owner, &entries).await;
    reference.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
    for limit in [1, 10, 1_000] {
        let query = query(entries[5].pieces[0].clone(), limit);
        assert_eq!(vectors.search(&owner, &query).await.unwrap(), reference.search(&owner, &query).await.unwrap());
    }
    assert_eq!(vectors.file.vectors().bytes(), 0);
}

#[tokio::test]
async fn an_older_copy_of_the_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner, entries) = (open(&folder, DIMENSION).await, scope("a"), entries(50));
    for entry in &entries {
        put(&vectors, &owner, std::slice::from_ref(entry)).await;
    }
    assert_eq!(found(&vectors, &owner).await, 50);
    let work = vectors.file.write("take back", |connection| {
        Box::pin(async move {
            sqlx::query("DELETE FROM vector_block").execute(&mut *connection).await.unwrap();
            sqlx::query("UPDATE index_owner SET changed = 3").execute(connection).await.unwrap();
            Ok(())
        })
    });
    work.await.unwrap();
    assert_eq!(found(&vectors, &owner).await, 0);
}

#[tokio::test]
async fn a_restored_copy_that_was_changed_as_often_since_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, DIMENSION).await, scope("a"));
    let (path, copy) = (folder.path().join("memory.db"), folder.path().join("copy.db"));
    let entries = entries(900);
    put(&vectors, &owner, &entries[..300]).await;
    restored::copy(&path, &copy).await;
    for end in [400, 500, 600] {
        put(&vectors, &owner, &entries[end - 100..end]).await;
        assert_eq!(found(&vectors, &owner).await, end);
    }
    for changes in 0..4 {
        restored::put_back(&path, &copy).await;
        for change in 0..changes {
            put(&vectors, &owner, &entries[600 + 100 * change..650 + 100 * change]).await;
        }
        // Whoever opens the file now holds nothing of before.
        let fresh = open(&folder, DIMENSION).await;
        let query = query(entries[650].pieces[0].clone(), 1_000);
        let (here, there) =
            (vectors.search(&owner, &query).await.unwrap(), fresh.search(&owner, &query).await.unwrap());
        assert_eq!(here.len(), 300 + 50 * changes);
        assert_eq!(here, there, "after {changes} changes");
    }
}

#[tokio::test]
async fn what_a_search_reads_while_an_index_waits_to_be_cleared_does_not_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (vectors, owner) = (open(&folder, DIMENSION).await, scope("a"));
    put(&vectors, &owner, &entries(60)).await;
    let mut other = connect::locking(&SqliteConfig::new(folder.path().join("memory.db"))).await;
    let meanwhile = async {
        assert_eq!(found(&vectors, &owner).await, 60);
        assert!(vectors.file.vectors().bytes() > 0);
        sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    };
    let (cleared, ()) = tokio::join!(vectors.clear(&owner), meanwhile);
    cleared.unwrap();
    assert_eq!((vectors.file.vectors().bytes(), found(&vectors, &owner).await), (0, 0));
}
