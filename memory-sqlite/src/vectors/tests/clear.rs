//! Clearing: an index whose rows are damaged or missing is emptied, and filled anew.

use super::*;

#[tokio::test]
async fn a_damaged_index_is_cleared_and_filled_anew() {
    let owner = scope("a");
    let mut random = Random::new(11);
    let entries: Vec<_> = (0..60).map(|id| message(id, 0, vec![generate::unit_vector(&mut random, 8)])).collect();
    let asked = query(generate::unit_vector(&mut random, 8), 100);
    for damaged in [
        "DELETE FROM vector_block",
        "DELETE FROM index_item",
        "UPDATE vector_block SET vectors = x'07'",
        "UPDATE index_item SET block = NULL",
        "UPDATE index_item SET block = 999",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let vectors = open(&folder, 8).await;
        vectors.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        let whole = vectors.search(&owner, &asked).await.unwrap();
        raw::damage(&vectors.file, damaged).await;
        vectors.clear(&owner).await.unwrap();
        for table in ["index_item", "vector_block", "index_value"] {
            assert_eq!(rows(&vectors, table).await, 0, "{damaged}: {table}");
        }
        vectors.put(&owner, &entries, Visibility::OnReturn).await.unwrap();
        assert_eq!(vectors.search(&owner, &asked).await.unwrap(), whole, "{damaged}");
    }
}
