//! Clearing: an index whose rows are damaged or missing is emptied, and filled anew.

use super::*;

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
